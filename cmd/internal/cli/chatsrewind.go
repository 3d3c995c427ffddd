package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
	"github.com/shipmyagent/shipmyagent/persistence"
)

func (a *app) chatsRewindCmd() *cobra.Command {
	var asJSON bool
	var before string
	cmd := &cobra.Command{
		Use: "rewind CHAT --before MESSAGE-ID", Short: "Take a chat back to where it was before a message", Args: cobra.ExactArgs(1),
		Long: "Moves a message and everything behind it from the history into the chat's archive. The chat goes on from there\n" +
			"with its next message; nothing is answered again. A host may run meanwhile. What was sent to people stays sent,\n" +
			"and what tools did stays done. A damaged history is not touched.",
		Example: "  sma chats rewind telegram-chat-42 --before u:telegram-chat-42:17",
		RunE: func(c *cobra.Command, args []string) error {
			key, err := chatArg(args)
			if err != nil {
				return err
			}
			if before == "" {
				return &Failure{Code: CodeUsage, What: "say before which message, with --before", Help: "sma chats export " + string(key)}
			}
			order := host.RewindOrder{ChatKey: key, Before: before}
			return a.withChats(c.Context(), func(s source, _ string) error {
				out, err := s.rewind(c.Context(), order)
				if err != nil {
					return rewindFailure(order, err)
				}
				if asJSON {
					return a.printJSON(out)
				}
				return a.print(fmt.Sprintf("%s: %s archived, %d stay\n", key, plural(out.Archived, "turn"), out.Kept))
			})
		},
	}
	addJSON(cmd, &asJSON)
	cmd.Flags().StringVar(&before, "before", "", "the `id` of the first message that goes")
	return cmd
}

// rewind has the host that runs do it, or does it in the store.
func (s source) rewind(ctx context.Context, order host.RewindOrder) (host.RewindResult, error) {
	if s.store != nil {
		return host.Rewind(ctx, s.store, order, time.Now())
	}
	out, err := s.control.rewind(ctx, order)
	switch {
	case err != nil:
		return host.RewindResult{}, err
	case out.Refused == "busy":
		return host.RewindResult{}, platform.ErrBusy
	case out.Refused != "":
		return host.RewindResult{}, host.ErrNoSuchTurn
	}
	return out, nil
}

func (c control) rewind(ctx context.Context, order host.RewindOrder) (out host.RewindResult, err error) {
	err = c.post(ctx, "/control/rewind", order, &out)
	return out, err
}

// rewindFailure says why the chat is as it was.
func rewindFailure(order host.RewindOrder, err error) error {
	key := string(order.ChatKey)
	switch {
	case errors.Is(err, platform.ErrNotFound), errors.Is(err, errNoChat), errors.Is(err, errNotRunning):
		return chatFailure(order.ChatKey, persistence.ErrNotFound)
	case errors.Is(err, host.ErrNoSuchTurn):
		return &Failure{Code: CodeFailed, What: "the history of " + key + " has no message " + order.Before, Help: "sma chats export " + key}
	case errors.Is(err, platform.ErrBusy):
		return &Failure{Code: CodeFailed, What: "a run is under way in " + key, Help: "the same once it has ended, or send /stop there"}
	case errors.Is(err, host.ErrNotAtRest):
		return &Failure{Code: CodeFailed, What: key + " was stopped in the middle of something", Help: "start the host, then the same again while it runs"}
	case errors.Is(err, persistence.ErrDamaged):
		return &Failure{Code: CodeFailed, What: "the history of " + key + " is damaged; it was not changed", Help: "sma chats repair " + key}
	default:
		return &Failure{Code: CodeFailed, What: key + " was not rewound", Why: err, Help: "sma chats verify " + key}
	}
}
