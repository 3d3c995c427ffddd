package chats

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
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
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

// importHelp is what helps if a file cannot be imported.
const importHelp = "sma chats import FILE, with what sma chats export wrote"

func importCmd(a *console.Console) *cobra.Command {
	return makesChat(a, &cobra.Command{
		Use: "import FILE|-", Short: "Make a new chat from exported messages", Args: cobra.ExactArgs(1),
		Long: "Reads UI messages in the format of the AI SDK and of sma chats export: a JSON array, an object with messages, or one\n" +
			"message per line. Makes a new chat; an existing chat is never changed. Stop the host first.",
		Example: "  sma chats import chat.json\n  sma chats export web-chat-x | sma chats import - --chat cli-chat-copy",
	}, func(args []string, key messages.ChatKey) (makeChat, error) {
		b, err := input(a, args[0])
		if err != nil {
			return nil, &console.Failure{Code: console.CodeFailed, What: "the messages cannot be read", Why: err, Help: importHelp}
		}
		list, err := query.ReadMessages(bytes.NewReader(b))
		if err != nil {
			return nil, &console.Failure{Code: console.CodeFailed, What: "the file contains no UI messages", Why: err, Help: importHelp}
		}
		return func(ctx context.Context, store *filestore.Store) (int, error) {
			return len(list), adoptFailure(key, query.Adopt(ctx, store, key, list, time.Now()))
		}, nil
	})
}

type makeChat func(ctx context.Context, store *filestore.Store) (turns int, err error)

func makesChat(a *console.Console, cmd *cobra.Command, prepare func(args []string, key messages.ChatKey) (makeChat, error)) *cobra.Command {
	chat := cmd.Flags().String("chat", "", "the `key` of the new chat, on web, cli or api (default: a new one on web)")
	return console.Command[newChat]{
		Run: func(ctx context.Context, args []string) (newChat, error) {
			key, err := newChatKey(*chat)
			if err != nil {
				return newChat{}, err
			}
			work, err := prepare(args, key)
			if err != nil {
				return newChat{}, err
			}
			defer a.Patience("writing the chat", "正在写入聊天")()
			turns, err := withStore(ctx, a, work)
			return newChat{key, turns}, err
		},
		Text: func(made newChat) string {
			a.Say("%s", a.Words(plural(made.Turns, "turn")+" made"))
			return string(made.ChatKey) + "\n"
		},
	}.On(a, cmd)
}

// newChatKey is the key that the user chose, or a new key for the web.
func newChatKey(name string) (messages.ChatKey, error) {
	if name == "" {
		return messages.NewChatKey("web", "", strings.ToLower(rand.Text()), 0), nil
	}
	return console.ChatArg([]string{name})
}

// input reads a file, or stdin for a dash.
func input(a *console.Console, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(a.Stdin)
	}
	return os.ReadFile(name)
}

// withStore opens the store for the work, unless a host uses it.
func withStore(ctx context.Context, a *console.Console, work makeChat) (int, error) {
	_, state, err := a.Folders(nil)
	if err != nil {
		return 0, err
	}
	inUse := &console.Failure{Code: console.CodeRunning, What: "a host works on these chats; a chat can be made while it is stopped", Help: "stop it, then the same again"}
	if _, err := console.NewControl(state).Status(ctx); !errors.Is(err, console.ErrNotRunning) {
		return 0, inUse
	}
	store, err := filestore.Open(filestore.Options{Dir: state, Logger: a.Logger(slog.LevelError)})
	switch {
	case errors.Is(err, persistence.ErrLocked):
		return 0, inUse
	case err != nil:
		return 0, &console.Failure{Code: console.CodeFailed, What: "the chats cannot be opened", Why: err, Help: "sma doctor"}
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
		return &console.Failure{Code: console.CodeFailed, What: "there is a chat " + string(key) + " already; it was not changed", Help: "the same with another --chat"}
	case errors.Is(err, query.ErrNotAdopted):
		return &console.Failure{Code: console.CodeUsage, What: string(key) + " cannot be the key of a new chat", Why: err, Help: "the same with --chat web-chat-NAME"}
	default:
		return &console.Failure{Code: console.CodeFailed, What: "no chat can be made of these messages", Why: err}
	}
}

func forkCmd(a *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use: "fork CHAT --before MESSAGE-ID", Short: "Make a new chat from the beginning of another", Args: cobra.ExactArgs(1),
		Long: "Copies the history of a chat up to a message, preferably one of a user, into a new chat. The original chat and its\n" +
			"archive are not changed. Stop the host first.",
		Example: "  sma chats fork telegram-chat-42 --before u:telegram-chat-42:17",
	}
	before := cmd.Flags().String("before", "", "the `id` of the first message that is left out")
	return makesChat(a, cmd, func(args []string, key messages.ChatKey) (makeChat, error) {
		from, err := console.ChatArg(args)
		if err != nil {
			return nil, err
		}
		if *before == "" {
			return nil, &console.Failure{Code: console.CodeUsage, What: "say before which message, with --before", Help: "sma chats export " + string(from)}
		}
		return func(ctx context.Context, store *filestore.Store) (int, error) {
			n, err := query.Fork(ctx, store, from, key, *before, time.Now())
			switch {
			case errors.Is(err, platform.ErrNotFound):
				err = console.ChatFailure(from, "", "", err)
			case errors.Is(err, query.ErrNoSuchTurn):
				err = &console.Failure{Code: console.CodeFailed, What: "the history of " + string(from) + " has no message " + *before, Help: "sma chats export " + string(from)}
			default:
				err = adoptFailure(key, err)
			}
			return n, err
		}, nil
	})
}
