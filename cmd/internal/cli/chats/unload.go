package chats

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
)

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
