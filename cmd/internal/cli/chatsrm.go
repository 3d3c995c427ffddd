package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
)

func (a *app) chatsRemoveCmd() *cobra.Command {
	var asJSON, yes bool
	cmd := &cobra.Command{
		Use: "rm CHAT --yes", Short: "Delete all that is kept of a chat", Args: cobra.ExactArgs(1),
		Long: "Deletes, for good: the history, archives and archived conversations, the chat's memory and, where one person writes\n" +
			"there alone, the memory of that person, files and recordings, tasks, grants, the log of runs and the search index,\n" +
			"which is made anew. Only the ids of the messages that were handled stay, so that a message which the platform\n" +
			"brings again does not bring the chat back. A host may run meanwhile. What people see on the platform stays there.\n" +
			"A deletion that is interrupted is finished by the next start of the host.",
		Example: "  sma chats rm telegram-chat-42 --yes",
		RunE: func(c *cobra.Command, args []string) error {
			key, err := chatArg(args)
			if err != nil {
				return err
			}
			if !yes {
				return &Failure{Code: CodeUsage, What: "nothing was deleted: this deletes " + string(key) + " for good", Help: "sma chats rm " + string(key) + " --yes"}
			}
			return a.withChats(c.Context(), func(s source, state string) error {
				out, err := a.forget(c.Context(), s, state, key)
				switch {
				case errors.Is(err, platform.ErrNotFound), errors.Is(err, errNoChat), errors.Is(err, errNotRunning):
					return chatFailure(key, persistence.ErrNotFound)
				case err != nil:
					return &Failure{Code: CodeFailed, What: "not everything of " + string(key) + " could be deleted", Why: err, Help: "sma chats rm " + string(key) + " --yes"}
				case asJSON:
					return a.printJSON(out)
				}
				return a.print(fmt.Sprintf("%s: deleted\n", key))
			})
		},
	}
	addJSON(cmd, &asJSON)
	cmd.Flags().BoolVar(&yes, "yes", false, "delete it")
	return cmd
}

// forget has the host that runs delete a chat, or deletes it in the store.
func (a *app) forget(ctx context.Context, s source, state string, key messages.ChatKey) (out host.ForgetResult, err error) {
	if s.store != nil {
		opened, err := a.openTasks()
		if err != nil {
			return out, err
		}
		return host.Forget(ctx, state, s.store, opened.zone, key)
	}
	err = s.control.post(ctx, "/control/forget", host.ForgetOrder{ChatKey: key}, &out)
	return out, err
}
