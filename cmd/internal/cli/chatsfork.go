package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
)

func (a *app) chatsForkCmd() *cobra.Command {
	var asJSON bool
	var chat, before string
	cmd := &cobra.Command{
		Use: "fork CHAT --before MESSAGE-ID", Short: "Make a new chat of the beginning of another", Args: cobra.ExactArgs(1),
		Long: "Copies what the history of a chat holds before a message, best one of a user, into a new chat. The chat and\n" +
			"its archive stay as they are. No host may run meanwhile.",
		Example: "  sma chats fork telegram-chat-42 --before u:telegram-chat-42:17",
		RunE: func(c *cobra.Command, args []string) error {
			from, err := chatArg(args)
			if err != nil {
				return err
			}
			key, err := newChatKey(chat)
			if err != nil {
				return err
			}
			if before == "" {
				return &Failure{Code: CodeUsage, What: "say before which message, with --before", Help: "sma chats export " + string(from)}
			}
			return a.makeChat(c.Context(), asJSON, func(ctx context.Context, store *filestore.Store) (newChat, error) {
				n, err := host.Fork(ctx, store, from, key, before, time.Now())
				switch {
				case errors.Is(err, platform.ErrNotFound):
					return newChat{}, chatFailure(from, persistence.ErrNotFound)
				case errors.Is(err, host.ErrNoSuchTurn):
					return newChat{}, &Failure{Code: CodeFailed, What: "the history of " + string(from) + " has no message " + before, Help: "sma chats export " + string(from)}
				}
				return newChat{key, n}, adoptFailure(key, err)
			})
		},
	}
	addJSON(cmd, &asJSON)
	addNewChat(cmd, &chat)
	cmd.Flags().StringVar(&before, "before", "", "the `id` of the first message that is left out")
	return cmd
}
