// Package pending holds the commands about what is still to happen: requests that wait for a decision, messages that
// are still to be sent or were parked, and tasks.
package pending

import (
	"cmp"
	"context"
	"fmt"
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

func Approvals(a *console.Console) *cobra.Command {
	return console.Group(&cobra.Command{
		Use: "approvals", Short: "List what waits for a decision, and decide it",
		Long: "What changes anything runs only after somebody agreed to exactly that, within 30 minutes. Who may is\n" +
			"permissions.exec.approvers; whoever runs these commands on this machine may as well.",
		Example: "  sma approvals list\n  sma approvals approve telegram-chat-42 1\n  sma approvals deny telegram-chat-42 --all --reason \"not today\"",
	}, approvalsListCmd(a), approvalsDecideCmd(a, true), approvalsDecideCmd(a, false), approvalsGrantsCmd(a), approvalsRevokeCmd(a))
}

func approvalsListCmd(a *console.Console) *cobra.Command {
	return console.Command[[]query.ApprovalLine]{
		Run: func(ctx context.Context, args []string) ([]query.ApprovalLine, error) {
			key, err := console.ChatArg(args)
			if err != nil {
				return nil, err
			}
			lines, err := console.Ask(ctx, a, "approvals", query.Asked{ChatKey: key}, (*query.Desk).Approvals)
			return lines, requestsFailure(key, err)
		},
		List: "approvals",
		Text: func(lines []query.ApprovalLine) string { return approvalWordsIn(a).table(lines, time.Now()) },
	}.On(a, &cobra.Command{
		Use: "list [CHAT]", Short: "List what waits for a decision, the oldest of a chat first", Args: cobra.MaximumNArgs(1),
		Example: "  sma approvals list\n  sma approvals list telegram-chat-42 --json",
	})
}

func requestsFailure(key messages.ChatKey, err error) error {
	return console.ChatFailure(key, "the requests cannot be read", "sma doctor", err)
}

// approvalsDecideCmd is the command approve or deny.
func approvalsDecideCmd(a *console.Console, approve bool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "deny CHAT N…|--all", Short: "Deny what waits: it does not run", Args: cobra.MinimumNArgs(1),
		Long:    "Denies requests, by their numbers. The host has to run.",
		Example: "  sma approvals deny telegram-chat-42 2 --reason \"use the archive\"\n  sma approvals deny telegram-chat-42 --all",
	}
	if approve {
		cmd.Use, cmd.Short = "approve CHAT N…|--all", "Approve what waits: exactly what is listed runs, once"
		cmd.Long = "Approves requests, by their numbers. Exactly what sma approvals list shows runs, once. The host has to run."
		cmd.Example = "  sma approvals approve telegram-chat-42 1\n  sma approvals approve telegram-chat-42 1 3"
	}
	order := query.ApprovalOrder{Approve: approve}
	all := cmd.Flags().Bool("all", false, "everything that waits in the chat")
	if !approve {
		cmd.Flags().StringVar(&order.Reason, "reason", "", "what the model is told")
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
		Text: func(r query.ApprovalResult) string { return approvalWordsIn(a).decided(approve, r) },
	}.On(a, cmd)
}

// decideApprovals sends the order to the host. Only the chat's actor may decide.
func decideApprovals(ctx context.Context, a *console.Console, order query.ApprovalOrder) (query.ApprovalResult, error) {
	result, err := console.OrderRunning[query.ApprovalResult](ctx, a, "approvals",
		"no host is running here, and only a running one can go on with what was decided", order)
	if err == nil && result.Reason != "" {
		err = &console.Failure{Code: console.CodeFailed, What: "no such request waits in " + string(order.ChatKey), Help: "sma approvals list " + string(order.ChatKey)}
	}
	return result, requestsFailure(order.ChatKey, err)
}

// approvalWords are the texts of these commands in one language.
type approvalWords struct {
	empty, left, by, help, approved, denied string
	unsent, parked                          string // for requests that have not been shown yet
	zh                                      bool
	is                                      map[messages.DecisionIs]string
}

// approvalWordsIn returns the texts in the terminal's language.
func approvalWordsIn(a *console.Console) approvalWords {
	if a.ReadsChinese() {
		return approvalWords{
			empty: "没有等待审批的请求\n", left: "%s后失效", by: "发起人 %s", help: "审批：sma approvals approve|deny 聊天 编号\n",
			approved: "已批准", denied: "已拒绝", zh: true,
			unsent: "还没能在聊天中显示：%s", parked: "还没能在聊天中显示：%s。可用 sma outbox retry 重新发送",
			is: map[messages.DecisionIs]string{
				messages.DecisionAlready: "此前已有结果", messages.DecisionExpired: "已失效", messages.DecisionUnknown: "已不存在", messages.DecisionForbidden: "无权审批",
				messages.DecisionUnseen: "还没有完整显示",
			},
		}
	}
	return approvalWords{
		empty: "nothing waits for a decision\n", left: "expires in %s", by: "asked by %s", help: "decide: sma approvals approve|deny CHAT N\n",
		approved: "approved", denied: "denied",
		unsent: "could not be shown in the chat yet: %s", parked: "could not be shown in the chat yet: %s. sma outbox retry sends it again",
		is: map[messages.DecisionIs]string{
			messages.DecisionAlready: "was decided before", messages.DecisionExpired: "has expired",
			messages.DecisionUnknown: "is not there any more", messages.DecisionForbidden: "may not be decided from here",
			messages.DecisionUnseen: "could not be shown completely yet",
		},
	}
}

// RequestsText lists requests in full, without the command that decides them.
func RequestsText(a *console.Console, lines []query.ApprovalLine) string {
	words := approvalWordsIn(a)
	words.help = ""
	return words.table(lines, time.Now())
}

// table writes each request as a line, followed by everything that it would do. All of it is indented and visible, so
// that no line of a request can imitate one of these lines.
func (w approvalWords) table(lines []query.ApprovalLine, now time.Time) string {
	if len(lines) == 0 {
		return w.empty
	}
	var out strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&out, "%s  #%d  %s  %s", l.ChatKey, l.N, checkup.OneLine(l.Tool, 64), fmt.Sprintf(w.left, tool.Duration(untilThen(l.Expires, now), w.zh)))
		if l.Asker != "" {
			fmt.Fprintf(&out, "  "+w.by, checkup.OneLine(l.Asker, 64))
		}
		out.WriteString("\n")
		if l.Unseen != nil {
			out.WriteString("    " + w.unseen(*l.Unseen) + "\n")
		}
		said := l.Words
		if w.zh && l.Chinese.What != "" {
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
	return out.String() + w.help
}

// unseen says why a request has not been shown yet.
func (w approvalWords) unseen(u query.ApprovalUnseen) string {
	why := [2]string{"it is still being sent", "还在发送中"}
	if u.Reason != "" {
		why = notices.UnsentReason(u.Reason)
	}
	form, words := w.unsent, why[0]
	if w.zh {
		words = why[1]
	}
	if u.Parked {
		form = w.parked
	}
	return fmt.Sprintf(form, words)
}

func (w approvalWords) decided(approve bool, r query.ApprovalResult) string {
	var out strings.Builder
	for _, d := range r.Decided {
		word := w.is[d.Is]
		switch {
		case d.Is == messages.DecisionDone && approve:
			word = w.approved
		case d.Is == messages.DecisionDone:
			word = w.denied
		}
		fmt.Fprintf(&out, "#%d %s\n", d.N, word)
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
	return console.Command[[]query.GrantLine]{
		Run: func(ctx context.Context, args []string) ([]query.GrantLine, error) {
			key, err := console.ChatArg(args)
			if err != nil {
				return nil, err
			}
			lines, err := console.Ask(ctx, a, "grants", query.Asked{ChatKey: key}, (*query.Desk).Grants)
			return lines, grantsFailure(key, err)
		},
		List: "grants",
		Text: func(lines []query.GrantLine) string { return grantWordsIn(a).table(lines, time.Now()) },
	}.On(a, &cobra.Command{
		Use: "grants [CHAT]", Short: "List what people let run without asking, and until when", Args: cobra.MaximumNArgs(1),
		Long: "Lists the grants that count: what people allowed in a chat for a time, commands and folders whose files are sent, and\n" +
			"what they agreed to once under a rule of permissions.exec.allow for a program that runs files.",
		Example: "  sma approvals grants\n  sma approvals grants telegram-chat-42 --json",
	})
}

func approvalsRevokeCmd(a *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use: "revoke CHAT N…|--all", Short: "Take grants back: such commands ask again", Args: cobra.MinimumNArgs(1),
		Long:    "Takes grants back, by their numbers. No command begins under them any more, also in a run that is under way.",
		Example: "  sma approvals revoke telegram-chat-42 g1\n  sma approvals revoke telegram-chat-42 --all",
	}
	all := cmd.Flags().Bool("all", false, "everything that counts in the chat")
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
			return out, grantsFailure(o.ChatKey, err)
		},
		Text: func(r query.GrantResult) string { return grantWordsIn(a).revoked(r) },
	}.On(a, cmd)
}

func grantsFailure(key messages.ChatKey, err error) error {
	return console.ChatFailure(key, "the grants cannot be read or changed", "sma doctor", err)
}

// grantWords are the texts of these commands in one language.
type grantWords struct {
	empty, left, endless, by, in, files, help, done string
	zh                                              bool
}

func grantWordsIn(a *console.Console) grantWords {
	if a.ReadsChinese() {
		return grantWords{
			empty: "没有生效的授权\n", left: "还有 %s", endless: "没有期限", by: "限 %s", in: "文件夹 %s", files: "发送直接位于文件夹 %s 中的文件", help: "撤销：sma approvals revoke 聊天 编号\n", done: "已撤销", zh: true,
		}
	}
	return grantWords{
		empty: "nothing runs without asking because somebody granted it\n", left: "ends in %s", endless: "has no end", by: "for %s", in: "in folder %s", files: "sends files that are directly in the folder %s",
		help: "take back: sma approvals revoke CHAT N\n", done: "taken back",
	}
}

// table writes each grant as a line, followed by its rule.
func (w grantWords) table(lines []query.GrantLine, now time.Time) string {
	if len(lines) == 0 {
		return w.empty
	}
	var out strings.Builder
	for _, l := range lines {
		ends := w.endless
		if !l.Until.IsZero() {
			ends = fmt.Sprintf(w.left, tool.Duration(untilThen(l.Until, now), w.zh))
		}
		fmt.Fprintf(&out, "%s  g%d  %s", l.ChatKey, l.N, ends)
		if l.Person != "" {
			fmt.Fprintf(&out, "  "+w.by, checkup.OneLine(cmp.Or(l.For, l.Person), 64))
		}
		switch {
		case l.FilesIn != "":
			out.WriteString("\n    | " + fmt.Sprintf(w.files, checkup.OneLine(l.FilesIn, 200)) + "\n")
			continue
		case l.Person != "":
			fmt.Fprintf(&out, "  "+w.in, checkup.OneLine(l.Folder, 200))
		}
		out.WriteString("\n    | " + checkup.OneLine(l.Rule, 8192) + "\n")
	}
	return out.String() + w.help
}

func (w grantWords) revoked(r query.GrantResult) string {
	var out strings.Builder
	for _, n := range r.Revoked {
		fmt.Fprintf(&out, "g%d %s\n", n, w.done)
	}
	return out.String()
}
