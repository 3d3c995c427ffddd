package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
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
	return a.makesChat(&cobra.Command{
		Use: "import FILE|-", Short: "Make a new chat of exported messages", Args: cobra.ExactArgs(1),
		Long: "Reads UI messages as the AI SDK and `sma chats export` write them: a JSON array, an object with messages, or one\n" +
			"message a line. They become a new chat; one that exists is never changed. No host may run meanwhile.",
		Example: "  sma chats import chat.json\n  sma chats export web-chat-x | sma chats import - --chat cli-chat-copy",
	}, func(args []string, key messages.ChatKey) (makeChat, error) {
		b, err := a.input(args[0])
		if err != nil {
			return nil, &Failure{Code: CodeFailed, What: args[0] + " cannot be read", Why: err}
		}
		list, err := query.ReadMessages(bytes.NewReader(b))
		if err != nil {
			return nil, &Failure{Code: CodeFailed, What: args[0] + " holds no UI messages", Why: err}
		}
		return func(ctx context.Context, store *filestore.Store) (int, error) {
			return len(list), adoptFailure(key, query.Adopt(ctx, store, key, list, time.Now()))
		}, nil
	})
}

// makeChat makes a chat in a store and returns its number of turns.
type makeChat func(ctx context.Context, store *filestore.Store) (turns int, err error)

// makesChat makes cmd prepare a new chat and then create it.
func (a *app) makesChat(cmd *cobra.Command, prepare func(args []string, key messages.ChatKey) (makeChat, error)) *cobra.Command {
	chat := cmd.Flags().String("chat", "", "the `key` of the new chat, of web, cli or api (default: one of the web)")
	return command[newChat]{
		run: func(ctx context.Context, args []string) (newChat, error) {
			key, err := newChatKey(*chat)
			if err != nil {
				return newChat{}, err
			}
			work, err := prepare(args, key)
			if err != nil {
				return newChat{}, err
			}
			turns, err := a.withStore(ctx, work)
			return newChat{key, turns}, err
		},
		text: func(made newChat) string {
			a.say("%s made", plural(made.Turns, "turn"))
			return string(made.ChatKey) + "\n"
		},
	}.on(a, cmd)
}

// newChatKey is the key that the user chose, or a new key for the web.
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

// withStore opens the store for the work, unless a host uses it.
func (a *app) withStore(ctx context.Context, work makeChat) (int, error) {
	_, state, err := a.folders(nil)
	if err != nil {
		return 0, err
	}
	inUse := &Failure{Code: CodeRunning, What: "a host works on these chats; a chat can be made while it is stopped", Help: "stop it, then the same again"}
	if _, err := newControl(state).status(ctx); !errors.Is(err, errNotRunning) {
		return 0, inUse
	}
	store, err := filestore.Open(filestore.Options{Dir: state, Logger: a.logger(slog.LevelError)})
	switch {
	case errors.Is(err, persistence.ErrLocked):
		return 0, inUse
	case err != nil:
		return 0, &Failure{Code: CodeFailed, What: "the chats cannot be opened", Why: err, Help: "sma doctor"}
	}
	turns, err := work(ctx, store)
	return turns, errors.Join(err, store.Close())
}

// adoptFailure says why the chat was not made.
func adoptFailure(key messages.ChatKey, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, query.ErrChatExists):
		return &Failure{Code: CodeFailed, What: "there is a chat " + string(key) + " already; it was not changed", Help: "the same with another --chat"}
	case errors.Is(err, query.ErrNotAdopted):
		return &Failure{Code: CodeUsage, What: string(key) + " cannot be the key of a new chat", Why: err, Help: "the same with --chat web-chat-NAME"}
	default:
		return &Failure{Code: CodeFailed, What: "no chat can be made of these messages", Why: err}
	}
}

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
