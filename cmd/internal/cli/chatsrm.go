package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
)

func (a *app) chatsRemoveCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "rm CHAT --yes", Short: "Delete all that is kept of a chat", Args: cobra.ExactArgs(1),
		Long: "Deletes, for good: the history, archives and archived conversations, the chat's memory and, where one person writes\n" +
			"there alone, the memory of that person, files and recordings, tasks, grants, the log of runs and the search index,\n" +
			"which is made anew. Only the ids of the messages that were handled stay, so that a message which the platform\n" +
			"brings again does not bring the chat back. A host may run meanwhile. What people see on the platform stays there.\n" +
			"A deletion that is interrupted is finished by the next start of the host.",
		Example: "  sma chats rm telegram-chat-42 --yes",
	}
	yes := cmd.Flags().Bool("yes", false, "delete it")
	return command[query.ForgetResult]{
		run: func(ctx context.Context, args []string) (query.ForgetResult, error) {
			key, err := chatArg(args)
			if err != nil {
				return query.ForgetResult{}, err
			}
			again := "sma chats rm " + string(key) + " --yes"
			if !*yes {
				return query.ForgetResult{}, &Failure{Code: CodeUsage, What: "nothing was deleted: this deletes " + string(key) + " for good", Help: again}
			}
			out, err := order(ctx, a, "forget", query.ForgetOrder{ChatKey: key}, (*query.Desk).Forget)
			return out, chatFailure(key, "not everything of "+string(key)+" could be deleted", again, err)
		},
		text: func(out query.ForgetResult) string { return string(out.ChatKey) + ": deleted\n" },
	}.on(a, cmd)
}
