package chats

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
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

// said is what a command says when it is done, behind the chat, in English and Chinese.
type said [2]string

func unloadCmd(a *console.Console) *cobra.Command {
	return unloading(a, false, said{": unloaded\n", "：已卸载\n"}, &cobra.Command{
		Use: "unload CHAT", Short: "Unload a chat from the memory of the host", Args: cobra.ExactArgs(1), Example: "  sma chats unload telegram-chat-42",
		Long: "Has the running host unload a chat, which happens by itself after a minute without messages. It is loaded again with its\n" +
			"next message. A chat that has work, waits for a person or is watched is not unloaded.",
	})
}

func restartCmd(a *console.Console) *cobra.Command {
	return unloading(a, true, said{": restarted\n", "：已重新加载\n"}, &cobra.Command{
		Use: "restart CHAT", Short: "Load a chat again from its journal", Args: cobra.ExactArgs(1), Example: "  sma chats restart telegram-chat-42",
		Long: "Has the running host stop the actor of a chat and load it again from the journal. No message is lost: a run in progress\n" +
			"resumes as after a crash of the host. A chat that rests because it failed again and again is tried at once.",
	})
}

// unloading makes a command that unloads or restarts a chat.
func unloading(a *console.Console, restart bool, done said, cmd *cobra.Command) *cobra.Command {
	return console.Command[query.UnloadResult]{
		Run: func(ctx context.Context, args []string) (out query.UnloadResult, err error) {
			key, err := console.ChatArg(args)
			if err != nil {
				return out, err
			}
			out, err = console.OrderRunning[query.UnloadResult](ctx, a, "unload", "no host is running here, so no chat is loaded", query.UnloadOrder{ChatKey: key, Restart: restart})
			switch {
			case err != nil:
			case out.Refused == messages.UnloadNotLoaded:
				err = &console.Failure{Code: console.CodeFailed, What: string(key) + " is not loaded", Help: "sma chats list"}
			case out.Refused != "":
				err = &console.Failure{Code: console.CodeFailed, What: string(key) + " has work, waits for a person, is watched or is being unloaded", Help: "sma chats show " + string(key)}
			}
			return out, console.ChatFailure(key, "the order was not carried out", "sma status", err)
		},
		Text: func(out query.UnloadResult) string { return string(out.ChatKey) + a.Text(done[0], done[1]) },
	}.On(a, cmd)
}

// pauseCmd is the command that pauses a chat, or resumes it.
func pauseCmd(a *console.Console, pause bool) *cobra.Command {
	cmd, done := &cobra.Command{
		Use: "pause CHAT", Short: "Let no run start in a chat", Args: cobra.ExactArgs(1), Example: "  sma chats pause telegram-chat-42",
		Long: "Pauses a chat until sma chats resume, also over restarts of the host. A run in progress is finished. What arrives is stored and\n" +
			"waits, also the chat's tasks, and the people in the chat are not told. Commands such as /stop work. Works while the\n" +
			"host is running.",
	}, said{": paused\n", "：已暂停\n"}
	if !pause {
		cmd, done = &cobra.Command{
			Use: "resume CHAT", Short: "Let runs start again in a chat that is paused", Args: cobra.ExactArgs(1), Example: "  sma chats resume telegram-chat-42",
			Long: "Ends a pause: what waits is answered at once, or when the host starts.",
		}, said{": resumed\n", "：已恢复\n"}
	}
	return console.Command[query.PauseResult]{
		Run: func(ctx context.Context, args []string) (out query.PauseResult, err error) {
			key, err := console.ChatArg(args)
			if err != nil {
				return out, err
			}
			out, err = console.Order(ctx, a, "pause", query.PauseOrder{ChatKey: key, Paused: pause}, (*query.Desk).Pause)
			return out, console.ChatFailure(key, "the order was not carried out", "sma status", err)
		},
		Text: func(out query.PauseResult) string { return string(out.ChatKey) + a.Text(done[0], done[1]) },
	}.On(a, cmd)
}
