package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
	"github.com/shipmyagent/shipmyagent/messages"
)

func (a *app) approvalsGrantsCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "grants [CHAT]", Short: "List what people let run without asking, and until when", Args: cobra.MaximumNArgs(1),
		Long: "Lists the grants that count: what people allowed in a chat for a time, commands and folders whose files are sent, and\n" +
			"what they agreed to once under a rule of permissions.exec.allow for a program that runs files.",
		Example: "  sma approvals grants\n  sma approvals grants telegram-chat-42 --json",
		RunE: func(c *cobra.Command, args []string) error {
			key, err := chatArg(args)
			if err != nil {
				return err
			}
			return a.withChats(c.Context(), func(s source, state string) error {
				lines, err := s.grants(c.Context(), state, key)
				if err != nil {
					return grantsFailure(err)
				}
				if asJSON {
					return a.printJSON(struct {
						Grants []host.GrantLine `json:"grants"`
					}{lines})
				}
				return a.print(a.grantWords().table(lines, time.Now()))
			})
		},
	}
	addJSON(cmd, &asJSON)
	return cmd
}

func (a *app) approvalsRevokeCmd() *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use: "revoke CHAT N…|--all", Short: "Take grants back: such commands ask again", Args: cobra.MinimumNArgs(1),
		Long:    "Takes grants back, by their numbers. No command begins under them any more, also in a run that is under way.",
		Example: "  sma approvals revoke telegram-chat-42 g1\n  sma approvals revoke telegram-chat-42 --all",
		RunE: func(c *cobra.Command, args []string) error {
			key, err := chatArg(args)
			if err != nil {
				return err
			}
			help := "sma approvals grants " + string(key)
			if all == (len(args) > 1) {
				return &Failure{Code: CodeUsage, What: "say which ones, or --all", Help: help}
			}
			order := host.GrantOrder{ChatKey: key}
			for _, arg := range args[1:] {
				n, err := strconv.Atoi(strings.TrimPrefix(arg, "g"))
				if err != nil || n < 1 {
					return &Failure{Code: CodeUsage, What: arg + " is no number of a grant", Help: help}
				}
				order.Numbers = append(order.Numbers, n)
			}
			return a.withChats(c.Context(), func(s source, state string) error {
				result, err := s.revoke(c.Context(), state, order)
				switch {
				case err != nil:
					return grantsFailure(err)
				case result.Reason != "":
					return &Failure{Code: CodeFailed, What: "no such grant counts in " + string(key), Help: help}
				case asJSON:
					return a.printJSON(result)
				default:
					return a.print(a.grantWords().revoked(result))
				}
			})
		},
	}
	addJSON(cmd, &asJSON)
	cmd.Flags().BoolVar(&all, "all", false, "everything that counts in the chat")
	return cmd
}

// grants lists what counts in a chat, or in all with an empty key.
func (s source) grants(ctx context.Context, state string, key messages.ChatKey) ([]host.GrantLine, error) {
	if s.store != nil {
		return host.ReadGrants(ctx, state, key)
	}
	out := []host.GrantLine{}
	err := s.control.get(ctx, "/control/grants?key="+url.QueryEscape(string(key)), &out)
	if errors.Is(err, errNotRunning) {
		return []host.GrantLine{}, nil // nothing was ever kept here
	}
	return out, err
}

// revoke takes grants back: through the host, or in their files while none runs.
func (s source) revoke(ctx context.Context, state string, o host.GrantOrder) (host.GrantResult, error) {
	if s.store != nil {
		return host.RevokeGrants(ctx, state, o)
	}
	var out host.GrantResult
	err := s.control.post(ctx, "/control/grants", o, &out)
	if errors.Is(err, errNotRunning) {
		return host.GrantResult{ChatKey: o.ChatKey, Reason: "not_found"}, nil // nothing was ever kept here
	}
	return out, err
}

func grantsFailure(err error) error {
	return &Failure{Code: CodeFailed, What: "the grants cannot be read or changed", Why: err, Help: "sma doctor"}
}

// grantWords are what the commands say to people, in one language.
type grantWords struct {
	empty, left, endless, by, in, files, help, done string
	zh                                              bool
}

func (a *app) grantWords() grantWords {
	if strings.HasPrefix(a.env("LC_ALL", "LC_MESSAGES", "LANG"), "zh") {
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
func (w grantWords) table(lines []host.GrantLine, now time.Time) string {
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

func (w grantWords) revoked(r host.GrantResult) string {
	var out strings.Builder
	for _, n := range r.Revoked {
		fmt.Fprintf(&out, "g%d %s\n", n, w.done)
	}
	return out.String()
}
