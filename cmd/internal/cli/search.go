package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/searchindex"
)

func (a *app) searchCmd() *cobra.Command {
	var asJSON bool
	var chat string
	var limit int
	cmd := &cobra.Command{
		Use: "search WORDS...", Short: "Find what was said in chats", Args: cobra.MinimumNArgs(1),
		Long: "Finds the turns of chats that hold all the words, or if there is none, any of them: in the history and in\n" +
			"what was archived of it. The first search of a chat reads all of it. A host may run meanwhile.",
		Example: "  sma search invoice 2024-001\n  sma search --chat telegram-chat-42 天气",
		RunE: func(c *cobra.Command, args []string) error {
			var key messages.ChatKey
			if c.Flags().Changed("chat") {
				var err error
				if key, err = chatArg([]string{chat}); err != nil {
					return err
				}
			}
			if limit < 1 || limit > 100 {
				return &Failure{Code: CodeUsage, What: "--limit goes from 1 to 100"}
			}
			return a.withChats(c.Context(), func(s source, state string) error {
				lines, err := s.search(c.Context(), state, a.quietLog(), key, searchindex.Query{Text: strings.Join(args, " "), Limit: limit})
				if err != nil {
					return searchFailure(key, err)
				}
				if asJSON {
					return a.printJSON(struct {
						Results []host.SearchLine `json:"results"`
					}{lines})
				}
				return a.print(a.searchWords().table(lines))
			})
		},
	}
	addJSON(cmd, &asJSON)
	cmd.Flags().StringVar(&chat, "chat", "", "search this `chat` only")
	cmd.Flags().IntVar(&limit, "limit", 10, "how many results, at most")
	return cmd
}

// quietLog tells of what goes wrong, and of nothing else.
func (a *app) quietLog() *slog.Logger {
	return slog.New(slog.NewTextHandler(a.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
}

// search asks the host that runs, or the store if none does.
func (s source) search(ctx context.Context, state string, log *slog.Logger, key messages.ChatKey, q searchindex.Query) ([]host.SearchLine, error) {
	if s.store != nil {
		return host.Search(ctx, state, s.store, log, key, q)
	}
	lines := []host.SearchLine{}
	query := url.Values{"key": {string(key)}, "q": {q.Text}, "limit": {strconv.Itoa(q.Limit)}}
	err := s.control.get(ctx, "/control/search?"+query.Encode(), &lines)
	if errors.Is(err, errNotRunning) && key == "" {
		return lines, nil // nothing was ever kept
	}
	return lines, err
}

func searchFailure(key messages.ChatKey, err error) error {
	if errors.Is(err, platform.ErrNotFound) || errors.Is(err, errNoChat) || errors.Is(err, errNotRunning) {
		return &Failure{Code: CodeFailed, What: "there is no chat " + string(key), Help: "sma chats list"}
	}
	return &Failure{Code: CodeFailed, What: "the chats cannot be searched", Why: err, Help: "sma doctor"}
}

// searchWords are what the command says to people, in one language.
type searchWords struct {
	none  string
	roles map[uimessage.Role]string
}

func (a *app) searchWords() searchWords {
	if strings.HasPrefix(a.env("LC_ALL", "LC_MESSAGES", "LANG"), "zh") {
		return searchWords{"没有找到\n", map[uimessage.Role]string{uimessage.RoleUser: "用户", uimessage.RoleAssistant: "助手"}}
	}
	return searchWords{"nothing found\n", map[uimessage.Role]string{uimessage.RoleUser: "user", uimessage.RoleAssistant: "assistant"}}
}

// table writes two lines for each turn: where it is and what it says.
func (w searchWords) table(lines []host.SearchLine) string {
	if len(lines) == 0 {
		return w.none
	}
	var out strings.Builder
	for _, l := range lines {
		if !l.At.IsZero() {
			out.WriteString(l.At.Local().Format("2006-01-02 15:04  "))
		}
		fmt.Fprintf(&out, "%s  %s  %s\n    %s\n", l.ChatKey, l.Place, w.roles[l.Message.Role], oneLine(l.Excerpt, 200))
	}
	return out.String()
}
