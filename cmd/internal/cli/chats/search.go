package chats

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// Search is the command search, which finds turns in the history of all chats or of one, including what was archived.
func Search(a *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use: "search WORDS...", Short: "Search chats", Args: cobra.MinimumNArgs(1),
		Long: "Finds messages that contain all the words or, if there are none, any of them, in the history and its archives. The\n" +
			"first search of a chat reads all of it. Works while the host is running.",
		Example: "  sma search invoice 2024-001\n  sma search --chat telegram-chat-42 天气",
	}
	chat := cmd.Flags().String("chat", "", "search this `chat` only")
	limit := cmd.Flags().Int("limit", 10, "how many results, at most")
	return console.Command[[]query.SearchLine]{
		Run: func(ctx context.Context, args []string) (lines []query.SearchLine, err error) {
			q := query.Asked{Words: strings.Join(args, " "), Limit: *limit}
			if cmd.Flag("chat").Changed {
				if q.ChatKey, err = console.ChatArg([]string{*chat}); err != nil {
					return nil, err
				}
			}
			if q.Limit < 1 || q.Limit > 100 {
				return nil, &console.Failure{Code: console.CodeUsage, What: "--limit goes from 1 to 100"}
			}
			defer a.Patience("searching; the first search of a chat reads all of it", "正在搜索；第一次搜索要读取全部聊天")()
			lines, err = console.Ask(ctx, a, "search", q, (*query.Desk).Search)
			return lines, console.ChatFailure(q.ChatKey, "the chats cannot be searched", "sma doctor", err)
		},
		List: "results",
		Text: func(lines []query.SearchLine) string { return searchText(a, lines) },
	}.On(a, cmd)
}

// searchText writes two lines for each turn: its place and its text.
func searchText(a *console.Console, lines []query.SearchLine) string {
	if len(lines) == 0 {
		return a.Text("nothing found\n", "没有找到\n")
	}
	roles := map[uimessage.Role]string{uimessage.RoleUser: a.Text("user", "用户"), uimessage.RoleAssistant: a.Text("assistant", "助手")}
	var out strings.Builder
	for _, l := range lines {
		if !l.At.IsZero() {
			out.WriteString(l.At.Local().Format("2006-01-02 15:04  "))
		}
		fmt.Fprintf(&out, "%s  %s  %s\n    %s\n", l.ChatKey, l.Place, roles[l.Message.Role], checkup.OneLine(l.Excerpt, 200))
	}
	return out.String()
}
