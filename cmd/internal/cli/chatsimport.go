package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
)

// newChat is the JSON of chats import and chats fork.
type newChat struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	Turns   int              `json:"turns"`
}

func (a *app) chatsImportCmd() *cobra.Command {
	var asJSON bool
	var chat string
	cmd := &cobra.Command{
		Use: "import FILE|-", Short: "Make a new chat of exported messages", Args: cobra.ExactArgs(1),
		Long: "Reads UI messages as the AI SDK and `sma chats export` write them: a JSON array, an object with messages, or one\n" +
			"message a line. They become a new chat; one that exists is never changed. No host may run meanwhile.",
		Example: "  sma chats import chat.json\n  sma chats export web-chat-x | sma chats import - --chat cli-chat-copy",
		RunE: func(c *cobra.Command, args []string) error {
			key, err := newChatKey(chat)
			if err != nil {
				return err
			}
			b, err := a.input(args[0])
			if err != nil {
				return &Failure{Code: CodeFailed, What: args[0] + " cannot be read", Why: err}
			}
			list, err := host.ReadMessages(strings.NewReader(string(b)))
			if err != nil {
				return &Failure{Code: CodeFailed, What: args[0] + " holds no UI messages", Why: err}
			}
			return a.makeChat(c.Context(), asJSON, func(ctx context.Context, store *filestore.Store) (newChat, error) {
				err := host.Adopt(ctx, store, key, list, time.Now())
				return newChat{key, len(list)}, adoptFailure(key, err)
			})
		},
	}
	addJSON(cmd, &asJSON)
	addNewChat(cmd, &chat)
	return cmd
}

func addNewChat(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "chat", "", "the `key` of the new chat, of web, cli or api (default: one of the web)")
}

// newChatKey is the key that somebody chose, or one of the web that nobody has.
func newChatKey(name string) (messages.ChatKey, error) {
	if name == "" {
		return messages.NewChatKey("web", "", strings.ToLower(rand.Text()), 0), nil
	}
	return chatArg([]string{name})
}

// input reads a file, or stdin for a dash.
func (a *app) input(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(a.Stdin)
	}
	return os.ReadFile(name)
}

// makeChat opens the store, which no host may use, and tells what was made.
func (a *app) makeChat(ctx context.Context, asJSON bool, work func(ctx context.Context, store *filestore.Store) (newChat, error)) error {
	_, state, err := a.folders(nil)
	if err != nil {
		return err
	}
	inUse := &Failure{Code: CodeRunning, What: "a host works on these chats; a chat can be made while it is stopped", Help: "stop it, then the same again"}
	if _, err := newControl(state).status(ctx); !errors.Is(err, errNotRunning) {
		return inUse
	}
	store, err := filestore.Open(filestore.Options{Dir: state, Logger: a.quietLog()})
	switch {
	case errors.Is(err, persistence.ErrLocked):
		return inUse
	case err != nil:
		return &Failure{Code: CodeFailed, What: "the chats cannot be opened", Why: err, Help: "sma doctor"}
	}
	out, err := work(ctx, store)
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(out)
	}
	a.say("%s made", plural(out.Turns, "turn"))
	return a.print(string(out.ChatKey) + "\n")
}

// adoptFailure says why no chat was made.
func adoptFailure(key messages.ChatKey, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, host.ErrChatExists):
		return &Failure{Code: CodeFailed, What: "there is a chat " + string(key) + " already; it was not changed", Help: "the same with another --chat"}
	case errors.Is(err, host.ErrNotAdopted):
		return &Failure{Code: CodeUsage, What: string(key) + " cannot be the key of a new chat", Why: err, Help: "the same with --chat web-chat-NAME"}
	default:
		return &Failure{Code: CodeFailed, What: "no chat can be made of these messages", Why: err}
	}
}
