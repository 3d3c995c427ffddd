package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
)

func (a *app) chatsForkCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "fork CHAT --before MESSAGE-ID", Short: "Make a new chat of the beginning of another", Args: cobra.ExactArgs(1),
		Long: "Copies what the history of a chat holds before a message, best one of a user, into a new chat. The chat and\n" +
			"its archive stay as they are. No host may run meanwhile.",
		Example: "  sma chats fork telegram-chat-42 --before u:telegram-chat-42:17",
	}
	before := cmd.Flags().String("before", "", "the `id` of the first message that is left out")
	return a.makesChat(cmd, func(args []string, key messages.ChatKey) (makeChat, error) {
		from, err := chatArg(args)
		if err != nil {
			return nil, err
		}
		if *before == "" {
			return nil, &Failure{Code: CodeUsage, What: "say before which message, with --before", Help: "sma chats export " + string(from)}
		}
		return func(ctx context.Context, store *filestore.Store) (int, error) {
			n, err := query.Fork(ctx, store, from, key, *before, time.Now())
			switch {
			case errors.Is(err, platform.ErrNotFound):
				err = chatFailure(from, "", "", err)
			case errors.Is(err, query.ErrNoSuchTurn):
				err = &Failure{Code: CodeFailed, What: "the history of " + string(from) + " has no message " + *before, Help: "sma chats export " + string(from)}
			default:
				err = adoptFailure(key, err)
			}
			return n, err
		}, nil
	})
}
