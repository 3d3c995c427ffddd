// Package pending holds the commands about what is still to happen: requests that wait for a decision, messages that
// are still to be sent or were parked, and tasks.
package pending

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Approvals is the command approvals with its subcommands. What waits can be listed at any time, but only a running
// host can decide, because the chat has to continue.
func Approvals(a *console.Console) *cobra.Command {
	return console.Group(&cobra.Command{
		Use: "approvals", Short: "List requests for approval and decide them",
		Long: "Calls that change something run only after somebody has approved exactly that call, within 30 minutes. Who may do so\n" +
			"is set in permissions.exec.approvers; these commands may do so as well.",
		Example: "  sma approvals list\n  sma approvals approve telegram-chat-42 1\n  sma approvals deny telegram-chat-42 --all --reason \"not today\"",
	}, approvalsListCmd(a), approvalsDecideCmd(a, true), approvalsDecideCmd(a, false), approvalsGrantsCmd(a), approvalsRevokeCmd(a))
}

func approvalsListCmd(a *console.Console) *cobra.Command {
	return console.Listing[query.ApprovalLine]{
		Name: "approvals", Failed: noRequests, Answer: (*query.Desk).Approvals,
		Chat: func(l *query.ApprovalLine) (messages.ChatKey, *string) { return l.ChatKey, &l.Name },
		Text: func(lines []query.ApprovalLine) string {
			if len(lines) == 0 {
				return a.Text("nothing waits for a decision\n", "没有等待审批的请求\n")
			}
			text, now := RequestsText(a, lines), time.Now()
			if slices.ContainsFunc(lines, func(l query.ApprovalLine) bool { return l.Expires.After(now) }) {
				text += a.Text("decide: sma approvals approve|deny CHAT N\n", "审批：sma approvals approve|deny 聊天 编号\n")
			}
			return text
		},
	}.On(a, &cobra.Command{
		Use: "list [CHAT]", Short: "List open requests, oldest first", Args: cobra.MaximumNArgs(1),
		Example: "  sma approvals list\n  sma approvals list telegram-chat-42 --json",
	})
}

const (
	noRequests = "the requests cannot be read"
	noGrants   = "the grants cannot be read or changed"
)

// approvalsDecideCmd is the command approve or deny.
func approvalsDecideCmd(a *console.Console, approve bool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "deny CHAT N…|--all", Short: "Deny a request; it does not run", Args: cobra.MinimumNArgs(1),
		Long:    "Denies requests by their numbers. The host must be running.",
		Example: "  sma approvals deny telegram-chat-42 2 --reason \"use the archive\"\n  sma approvals deny telegram-chat-42 --all",
	}
	if approve {
		cmd.Use, cmd.Short = "approve CHAT N…|--all", "Approve a request: exactly what is listed runs, once"
		cmd.Long = "Approves requests by their numbers. Exactly what sma approvals list shows runs, once. The host must be running."
		cmd.Example = "  sma approvals approve telegram-chat-42 1\n  sma approvals approve telegram-chat-42 1 3"
	}
	order := query.ApprovalOrder{Approve: approve}
	all := cmd.Flags().Bool("all", false, "all open requests of the chat")
	if !approve {
		cmd.Flags().StringVar(&order.Reason, "reason", "", "the reason, which the model reads")
	}
	return console.Command[query.ApprovalResult]{
		Run: func(ctx context.Context, args []string) (query.ApprovalResult, error) {
			var err error
			if order.ChatKey, err = console.ChatArg(args); err != nil {
				return query.ApprovalResult{}, err
			}
			if order.Numbers, err = console.ChosenNumbers(args, *all, "#", "request", "sma approvals list"); err != nil {
				return query.ApprovalResult{}, err
			}
			return decideApprovals(ctx, a, order)
		},
		Text: func(r query.ApprovalResult) string { return decidedText(a, approve, r) },
	}.On(a, cmd)
}

// decideApprovals sends the order to the host. Only the chat's actor may decide.
func decideApprovals(ctx context.Context, a *console.Console, order query.ApprovalOrder) (query.ApprovalResult, error) {
	result, err := console.OrderRunning[query.ApprovalResult](ctx, a, "approvals",
		"no host is running here, and only a running host can continue with what was decided", order)
	if err == nil && result.Reason != "" {
		err = &console.Failure{Code: console.CodeFailed, What: "no such request waits in " + string(order.ChatKey), Help: "sma approvals list " + string(order.ChatKey)}
	}
	return result, console.ChatFailure(order.ChatKey, noRequests, "sma doctor", err)
}

// RequestsText lists requests: each as a line, followed by everything that it would do. All of it is indented and
// visible, so that no line of a request can imitate one of these lines.
func RequestsText(a *console.Console, lines []query.ApprovalLine) string {
	zh, now := a.ReadsChinese(), time.Now()
	var out strings.Builder
	for _, l := range lines {
		left := fmt.Sprintf(a.Text("expires in %s", "%s后失效"), tool.Duration(untilThen(l.Expires, now), zh))
		if !l.Expires.After(now) { // while no host was running; the next one ends it
			left = a.Text("has expired", "已失效")
		}
		fmt.Fprintf(&out, "%s  #%d  %s  %s", l.ChatKey, l.N, checkup.OneLine(l.Tool, 64), left)
		if l.Asker != "" {
			fmt.Fprintf(&out, a.Text("  asked by %s", "  发起人 %s"), checkup.OneLine(l.Asker, 64))
		}
		if l.Name != "" { // last, because people choose it: it cannot imitate what is before it
			fmt.Fprintf(&out, a.Text("  in the chat %s", "  聊天 %s"), l.Name)
		}
		out.WriteString("\n")
		if l.Unseen != nil {
			out.WriteString("    " + unseenText(a, *l.Unseen) + "\n")
		}
		said := l.Words
		if zh && l.Chinese.What != "" {
			said = l.Chinese
		}
		for _, sentence := range []string{said.What, said.Risk} {
			if sentence != "" {
				out.WriteString("    " + checkup.OneLine(sentence, 500) + "\n")
			}
		}
		if l.Exact != "" {
			out.WriteString("    | " + strings.ReplaceAll(l.Exact, "\n", "\n    | ") + "\n")
		}
	}
	return out.String()
}

// unseenText says why a request has not been shown in its chat yet.
func unseenText(a *console.Console, u query.ApprovalUnseen) string {
	why := [2]string{"it is still being sent", "还在发送中"}
	if u.Reason != "" {
		why = notices.UnsentReason(u.Reason)
	}
	text := a.Text("could not be shown in the chat yet: ", "还没能在聊天中显示：") + a.Text(why[0], why[1])
	if u.Parked {
		text += a.Text(". sma outbox retry sends it again", "。可用 sma outbox retry 重新发送")
	}
	return text
}

func decidedText(a *console.Console, approve bool, r query.ApprovalResult) string {
	done := a.Text("denied", "已拒绝")
	if approve {
		done = a.Text("approved", "已批准")
	}
	words := map[messages.DecisionState]string{
		messages.DecisionDone:      done,
		messages.DecisionAlready:   a.Text("was decided before", "此前已有结果"),
		messages.DecisionExpired:   a.Text("has expired", "已失效"),
		messages.DecisionUnknown:   a.Text("is not there any more", "已不存在"),
		messages.DecisionForbidden: a.Text("may not be decided from here", "无权审批"),
		messages.DecisionUnseen:    a.Text("could not be shown completely yet", "还没有完整显示"),
	}
	var out strings.Builder
	for _, d := range r.Decided {
		fmt.Fprintf(&out, "#%d %s\n", d.N, words[d.Is])
	}
	return out.String()
}

// untilThen is the time left until then, rounded to minutes if it is more than one.
func untilThen(then, now time.Time) time.Duration {
	left := max(0, then.Sub(now))
	if left > time.Minute {
		return left.Round(time.Minute)
	}
	return left
}

func approvalsGrantsCmd(a *console.Console) *cobra.Command {
	return console.Listing[query.GrantLine]{
		Name: "grants", Failed: noGrants, Answer: (*query.Desk).Grants,
		Text: func(lines []query.GrantLine) string { return grantsText(a, lines, time.Now()) },
	}.On(a, &cobra.Command{
		Use: "grants [CHAT]", Short: "List what may run without asking, and until when", Args: cobra.MaximumNArgs(1),
		Long: "Lists the grants in effect: commands that people allowed in a chat for a time, folders whose files may be sent, and\n" +
			"approvals that permissions.exec.allow requires once for a program that runs files.",
		Example: "  sma approvals grants\n  sma approvals grants telegram-chat-42 --json",
	})
}

func approvalsRevokeCmd(a *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use: "revoke CHAT N…|--all", Short: "Revoke grants: such commands ask again", Args: cobra.MinimumNArgs(1),
		Long:    "Revokes grants by their numbers. No further command starts under them, not even in a run in progress.",
		Example: "  sma approvals revoke telegram-chat-42 g1\n  sma approvals revoke telegram-chat-42 --all",
	}
	all := cmd.Flags().Bool("all", false, "all grants of the chat")
	return console.Command[query.GrantResult]{
		Run: func(ctx context.Context, args []string) (out query.GrantResult, err error) {
			var o query.GrantOrder
			if o.ChatKey, err = console.ChatArg(args); err != nil {
				return out, err
			}
			if o.Numbers, err = console.ChosenNumbers(args, *all, "g", "grant", "sma approvals grants"); err != nil {
				return out, err
			}
			out, err = console.Order(ctx, a, "grants", o, (*query.Desk).Revoke)
			if err == nil && out.Reason != "" {
				err = &console.Failure{Code: console.CodeFailed, What: "no such grant counts in " + string(o.ChatKey), Help: "sma approvals grants " + string(o.ChatKey)}
			}
			return out, console.ChatFailure(o.ChatKey, noGrants, "sma doctor", err)
		},
		Text: func(r query.GrantResult) string { return revokedText(a, r) },
	}.On(a, cmd)
}

// grantsText writes each grant as a line, followed by its rule.
func grantsText(a *console.Console, lines []query.GrantLine, now time.Time) string {
	if len(lines) == 0 {
		return a.Text("there are no grants: everything that needs an approval asks\n", "没有生效的授权\n")
	}
	var out strings.Builder
	for _, l := range lines {
		ends := a.Text("has no end", "没有期限")
		if !l.Until.IsZero() {
			ends = fmt.Sprintf(a.Text("ends in %s", "还有 %s"), tool.Duration(untilThen(l.Until, now), a.ReadsChinese()))
		}
		fmt.Fprintf(&out, "%s  g%d  %s", l.ChatKey, l.N, ends)
		if l.Person != "" {
			fmt.Fprintf(&out, a.Text("  for %s", "  限 %s"), checkup.OneLine(cmp.Or(l.For, l.Person), 64))
		}
		rule := checkup.OneLine(l.Rule, 8192)
		switch {
		case l.FilesIn != "":
			rule = fmt.Sprintf(a.Text("sends files that are directly in the folder %s", "发送直接位于文件夹 %s 中的文件"), checkup.OneLine(l.FilesIn, 200))
		case l.Person != "":
			fmt.Fprintf(&out, a.Text("  in folder %s", "  文件夹 %s"), checkup.OneLine(l.Folder, 200))
		}
		out.WriteString("\n    | " + rule + "\n")
	}
	return out.String() + a.Text("take back: sma approvals revoke CHAT N\n", "撤销：sma approvals revoke 聊天 编号\n")
}

func revokedText(a *console.Console, r query.GrantResult) string {
	var out strings.Builder
	for _, n := range r.Revoked {
		fmt.Fprintf(&out, "g%d %s\n", n, a.Text("taken back", "已撤销"))
	}
	return out.String()
}
