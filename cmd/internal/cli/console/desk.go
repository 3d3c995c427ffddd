package console

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/cmd/internal/agentdir"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
)

// Ask answers a question about chats: through the running host, which serves the answer under name, or from the
// chats' files.
func Ask[T any](ctx context.Context, a *Console, name string, q query.Asked, answer func(*query.Desk, context.Context, query.Asked) (T, error)) (out T, err error) {
	params := url.Values{"key": {string(q.ChatKey)}}
	if q.Words != "" {
		params.Set("q", q.Words)
		params.Set("limit", strconv.Itoa(q.Limit))
	}
	err = a.atDesk(ctx,
		func(c Control) error { return c.Get(ctx, "/control/"+name+"?"+params.Encode(), &out) },
		func(d *query.Desk) error { out, err = answer(d, ctx, q); return err })
	return out, err
}

// Listing describes a command that lists what all chats have, or only the chat that an argument names.
type Listing[L any] struct {
	Name   string // of the question to the running host, and of the JSON document's member
	Failed string // what failed, as a full clause
	Answer func(*query.Desk, context.Context, query.Asked) ([]L, error)
	Keep   func(L) bool // selects the lines to show; nil shows all
	// Chat returns the chat of a line, and where the chat's name goes. It is nil for lines without names.
	Chat func(*L) (key messages.ChatKey, name *string)
	Text func([]L) string
}

// On makes cmd run the command.
func (l Listing[L]) On(a *Console, cmd *cobra.Command) *cobra.Command {
	return Command[[]L]{
		Run: func(ctx context.Context, args []string) ([]L, error) {
			key, err := ChatArg(args)
			if err != nil {
				return nil, err
			}
			lines, err := Ask(ctx, a, l.Name, query.Asked{ChatKey: key}, l.Answer)
			if l.Keep != nil {
				lines = slices.DeleteFunc(lines, func(line L) bool { return !l.Keep(line) })
			}
			if l.Chat != nil && len(lines) > 0 {
				names := a.Names()
				for i := range lines {
					chat, name := l.Chat(&lines[i])
					*name = names.Of(chat)
				}
			}
			return lines, ChatFailure(key, l.Failed, "sma doctor", err)
		},
		List: l.Name, Text: l.Text,
	}.On(a, cmd)
}

// Order has a chat carry out an order: through the running host, or in the chat's files.
func Order[O, R any](ctx context.Context, a *Console, name string, o O, carryOut func(*query.Desk, context.Context, O) (R, error)) (out R, err error) {
	err = a.atDesk(ctx,
		func(c Control) error { return c.Post(ctx, "/control/"+name, o, &out) },
		func(d *query.Desk) error { out, err = carryOut(d, ctx, o); return err })
	return out, err
}

// OrderRunning sends an order to the running host. Without a host it fails with the text idle.
func OrderRunning[R any](ctx context.Context, a *Console, name, idle string, order any) (out R, err error) {
	_, state, err := a.Folders(nil)
	if err != nil {
		return out, err
	}
	if err = NewControl(state).Post(ctx, "/control/"+name, order, &out); errors.Is(err, ErrNotRunning) {
		err = &Failure{Code: CodeFailed, What: idle, Help: "sma run"}
	}
	return out, err
}

// ChatArg is the chat that the arguments name, if any.
func ChatArg(args []string) (messages.ChatKey, error) {
	if len(args) == 0 {
		return "", nil
	}
	key, err := messages.ParseChatKey(args[0])
	return key, Failure{Code: CodeUsage, What: "that is not a chat key", Help: "sma chats list"}.Because(err)
}

// ChatFailure converts an error about a chat: that the chat does not exist, or else what failed and why. A [Failure]
// is returned unchanged.
func ChatFailure(key messages.ChatKey, what, help string, err error) error {
	if _, ok := errors.AsType[*Failure](err); ok || err == nil {
		return err
	}
	for _, missing := range []error{platform.ErrNotFound, persistence.ErrNotFound, ErrNoChat, ErrNotRunning} {
		if errors.Is(err, missing) {
			return &Failure{Code: CodeFailed, What: "there is no chat " + string(key), Help: "sma chats list"}
		}
	}
	return &Failure{Code: CodeFailed, What: what, Why: err, Help: help}
}

// atDesk works with the running host, or with a desk on the files if no host is running.
func (a *Console) atDesk(ctx context.Context, running func(Control) error, stopped func(*query.Desk) error) error {
	_, state, err := a.Folders(nil)
	if err != nil {
		return err
	}
	c := NewControl(state)
	switch _, err := c.Status(ctx); {
	case err == nil:
		if err := running(c); !errors.Is(err, ErrNotRunning) { // otherwise it has just ended
			return err
		}
	case !errors.Is(err, ErrNotRunning):
		return NoAnswer(err)
	}
	if err := Own(state); err != nil {
		return err
	}
	desk, err := query.OpenStopped(query.StoppedOptions{
		State: state, StoreLogger: a.Logger(slog.LevelWarn), IndexLogger: a.Logger(slog.LevelError), Zone: a.zone,
	})
	if err != nil {
		code := CodeFailed
		if errors.Is(err, persistence.ErrLocked) {
			code = CodeRunning
		}
		return &Failure{Code: code, What: "the chats cannot be read", Why: err, Help: "sma status"}
	}
	return errors.Join(stopped(desk), desk.Close())
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// zone is the time zone of the project's tasks.
func (a *Console) zone() (*time.Location, error) {
	dir, err := a.Project(nil)
	if err != nil {
		return nil, err
	}
	loaded, err := a.Load(dir, false)
	if err != nil {
		return nil, err
	}
	return agentdir.Zone(loaded.Settings.Timezone), nil
}

// Names reads the names of the project's chats.
func (a *Console) Names() query.Names {
	_, state, err := a.Folders(nil)
	if err != nil {
		return query.Names{}
	}
	return query.NewNames(state)
}

// Named is the key of a chat and its name, if it has one.
func Named(key messages.ChatKey, name string) string {
	if name == "" {
		return string(key)
	}
	return string(key) + " (" + name + ")"
}
