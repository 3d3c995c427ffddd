package chats

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

func rewindCmd(a *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use: "rewind CHAT --before MESSAGE-ID", Short: "Rewind a chat to before a message", Args: cobra.ExactArgs(1),
		Long: "Moves a message and everything after it from the history into the chat's archive. The chat continues from there with\n" +
			"its next message; nothing is answered again. Sent messages and the effects of tools remain. A damaged history is not\n" +
			"changed. Works while the host is running.",
		Example: "  sma chats rewind telegram-chat-42 --before u:telegram-chat-42:17",
	}
	before := cmd.Flags().String("before", "", "the `id` of the first message to move")
	return console.Command[query.RewindResult]{
		Run: func(ctx context.Context, args []string) (out query.RewindResult, err error) {
			o := query.RewindOrder{Before: *before}
			if o.ChatKey, err = console.ChatArg(args); err != nil {
				return out, err
			}
			if o.Before == "" {
				return out, &console.Failure{Code: console.CodeUsage, What: "say before which message, with --before", Help: "sma chats export " + args[0]}
			}
			if out, err = console.Order(ctx, a, "rewind", o, (*query.Desk).Rewind); err == nil {
				err = out.Refusal()
			}
			return out, rewindFailure(o, err)
		},
		Text: func(out query.RewindResult) string {
			return a.Words(fmt.Sprintf("%s: %s archived, %d stay\n", out.ChatKey, plural(out.Archived, "turn"), out.Kept))
		},
	}.On(a, cmd)
}

// rewindFailure says why the chat was not rewound.
func rewindFailure(order query.RewindOrder, err error) error {
	key := string(order.ChatKey)
	switch {
	case errors.Is(err, query.ErrNoSuchTurn):
		return &console.Failure{Code: console.CodeFailed, What: "the history of " + key + " has no message " + order.Before, Help: "sma chats export " + key}
	case errors.Is(err, platform.ErrBusy):
		return &console.Failure{Code: console.CodeFailed, What: "a run is in progress in " + key, Help: "the same once it has ended, or send /stop there"}
	case errors.Is(err, query.ErrNotAtRest):
		return &console.Failure{Code: console.CodeFailed, What: key + " was stopped in the middle of something", Help: "start the host, then the same again while it runs"}
	case errors.Is(err, journal.ErrDamaged):
		return &console.Failure{Code: console.CodeFailed, What: "the history of " + key + " is damaged; it was not changed", Help: "sma chats repair " + key}
	default:
		return console.ChatFailure(order.ChatKey, key+" was not rewound", "sma chats verify "+key, err)
	}
}

func removeCmd(a *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use: "rm CHAT --yes", Short: "Delete everything stored for a chat", Args: cobra.ExactArgs(1),
		Long: "Permanently deletes the history, archives and archived conversations, the chat's memory, files and recordings, tasks,\n" +
			"grants, the run log and the search index, which is rebuilt. In a chat with one person, that person's memory is deleted\n" +
			"too. Only the ids of handled messages remain, so that a message that the platform delivers again does not bring the\n" +
			"chat back. Messages on the platform itself are not deleted. If it is interrupted, the next start of the host\n" +
			"finishes it. Works while the host is running.",
		Example: "  sma chats rm telegram-chat-42 --yes",
	}
	yes := cmd.Flags().Bool("yes", false, "delete it")
	return console.Command[query.ForgetResult]{
		Run: func(ctx context.Context, args []string) (query.ForgetResult, error) {
			key, err := console.ChatArg(args)
			if err != nil {
				return query.ForgetResult{}, err
			}
			again := "sma chats rm " + string(key) + " --yes"
			if !*yes {
				return query.ForgetResult{}, &console.Failure{Code: console.CodeUsage, What: "nothing was deleted: this deletes " + string(key) + " for good", Help: again}
			}
			out, err := console.Order(ctx, a, "forget", query.ForgetOrder{ChatKey: key}, (*query.Desk).Forget)
			return out, console.ChatFailure(key, "not everything of "+string(key)+" could be deleted", again, err)
		},
		Text: func(out query.ForgetResult) string {
			return string(out.ChatKey) + a.Text(": deleted\n", "：已删除\n")
		},
	}.On(a, cmd)
}
