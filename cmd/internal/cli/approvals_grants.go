package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
)

func (a *app) approvalsGrantsCmd() *cobra.Command {
	return command[[]query.GrantLine]{
		run: func(ctx context.Context, args []string) ([]query.GrantLine, error) {
			key, err := chatArg(args)
			if err != nil {
				return nil, err
			}
			lines, err := ask(ctx, a, "grants", query.Asked{ChatKey: key}, (*query.Desk).Grants)
			return lines, grantsFailure(key, err)
		},
		list: "grants",
		text: func(lines []query.GrantLine) string { return a.grantWords().table(lines, time.Now()) },
	}.on(a, &cobra.Command{
		Use: "grants [CHAT]", Short: "List what people let run without asking, and until when", Args: cobra.MaximumNArgs(1),
		Long: "Lists the grants that count: what people allowed in a chat for a time, commands and folders whose files are sent, and\n" +
			"what they agreed to once under a rule of permissions.exec.allow for a program that runs files.",
		Example: "  sma approvals grants\n  sma approvals grants telegram-chat-42 --json",
	})
}

func (a *app) approvalsRevokeCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "revoke CHAT N…|--all", Short: "Take grants back: such commands ask again", Args: cobra.MinimumNArgs(1),
		Long:    "Takes grants back, by their numbers. No command begins under them any more, also in a run that is under way.",
		Example: "  sma approvals revoke telegram-chat-42 g1\n  sma approvals revoke telegram-chat-42 --all",
	}
	all := cmd.Flags().Bool("all", false, "everything that counts in the chat")
	return command[query.GrantResult]{
		run: func(ctx context.Context, args []string) (out query.GrantResult, err error) {
			var o query.GrantOrder
			if o.ChatKey, err = chatArg(args); err != nil {
				return out, err
			}
			if o.Numbers, err = chosenNumbers(args, *all, "g", "grant", "sma approvals grants"); err != nil {
				return out, err
			}
			out, err = order(ctx, a, "grants", o, (*query.Desk).Revoke)
			if err == nil && out.Reason != "" {
				err = &Failure{Code: CodeFailed, What: "no such grant counts in " + string(o.ChatKey), Help: "sma approvals grants " + string(o.ChatKey)}
			}
			return out, grantsFailure(o.ChatKey, err)
		},
		text: func(r query.GrantResult) string { return a.grantWords().revoked(r) },
	}.on(a, cmd)
}

func grantsFailure(key messages.ChatKey, err error) error {
	return chatFailure(key, "the grants cannot be read or changed", "sma doctor", err)
}

// grantWords are what the commands say to people, in one language.
type grantWords struct {
	empty, left, endless, by, in, files, help, done string
	zh                                              bool
}

func (a *app) grantWords() grantWords {
	if a.readsChinese() {
		return grantWords{
			empty: "没有生效的授权\n", left: "还有 %s", endless: "没有期限", by: "限 %s", in: "文件夹 %s", files: "发送直接位于文件夹 %s 中的文件", help: "撤销：sma approvals revoke 聊天 编号\n", done: "已撤销", zh: true,
		}
	}
	return grantWords{
		empty: "nothing runs without asking because somebody granted it\n", left: "ends in %s", endless: "has no end", by: "for %s", in: "in folder %s", files: "sends files that are directly in the folder %s",
		help: "take back: sma approvals revoke CHAT N\n", done: "taken back",
	}
}

// table writes a grant in a line, and its rule below.
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
			fmt.Fprintf(&out, "  "+w.by, oneLine(l.Person, 64))
		}
		switch {
		case l.FilesIn != "":
			out.WriteString("\n    | " + fmt.Sprintf(w.files, oneLine(l.FilesIn, 200)) + "\n")
			continue
		case l.Person != "":
			fmt.Fprintf(&out, "  "+w.in, oneLine(l.Folder, 200))
		}
		out.WriteString("\n    | " + oneLine(l.Rule, 8192) + "\n")
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
