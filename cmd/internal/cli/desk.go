package cli

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strconv"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
)

// ask asks a question about chats: the host that runs, or the chats' files if none does.
// Both are asked for the same answer, which the host serves under name.
func ask[T any](ctx context.Context, a *app, name string, q query.Asked, answer func(*query.Desk, context.Context, query.Asked) (T, error)) (out T, err error) {
	params := url.Values{"key": {string(q.ChatKey)}}
	if q.Words != "" {
		params.Set("q", q.Words)
		params.Set("limit", strconv.Itoa(q.Limit))
	}
	err = a.atDesk(ctx,
		func(c control) error { return c.get(ctx, "/control/"+name+"?"+params.Encode(), &out) },
		func(d *query.Desk) error { out, err = answer(d, ctx, q); return err })
	return out, err
}

// order has a chat carry out an order: through the host that runs, or in the chat's files
// if none does.
func order[O, R any](ctx context.Context, a *app, name string, o O, carryOut func(*query.Desk, context.Context, O) (R, error)) (out R, err error) {
	err = a.atDesk(ctx,
		func(c control) error { return c.post(ctx, "/control/"+name, o, &out) },
		func(d *query.Desk) error { out, err = carryOut(d, ctx, o); return err })
	return out, err
}

// atDesk works with the host that runs, or with a desk on the files if none does.
func (a *app) atDesk(ctx context.Context, running func(control) error, stopped func(*query.Desk) error) error {
	_, state, err := a.folders(nil)
	if err != nil {
		return err
	}
	c := newControl(state)
	switch _, err := c.status(ctx); {
	case err == nil:
		if err := running(c); !errors.Is(err, errNotRunning) { // else it has just ended
			return err
		}
	case !errors.Is(err, errNotRunning):
		return noAnswer(err)
	}
	desk, err := query.OpenStopped(query.StoppedOptions{
		State: state, StoreLogger: a.logger(slog.LevelWarn), IndexLogger: a.logger(slog.LevelError), Zone: a.zone,
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

// logger writes to stderr what is at least as serious as a level.
func (a *app) logger(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(a.Stderr, &slog.HandlerOptions{Level: level}))
}

// zone is the time zone of the project's tasks.
func (a *app) zone() (*time.Location, error) {
	opened, err := a.openTasks()
	return opened.zone, err
}

// orderRunning gives an order to the host that runs. Without one it fails with idle.
func orderRunning[R any](ctx context.Context, a *app, name, idle string, order any) (out R, err error) {
	_, state, err := a.folders(nil)
	if err != nil {
		return out, err
	}
	if err = newControl(state).post(ctx, "/control/"+name, order, &out); errors.Is(err, errNotRunning) {
		err = &Failure{Code: CodeFailed, What: idle, Help: "sma run"}
	}
	return out, err
}

// chatArg is the chat that is named, if any.
func chatArg(args []string) (messages.ChatKey, error) {
	if len(args) == 0 {
		return "", nil
	}
	key, err := messages.ParseChatKey(args[0])
	if err != nil {
		return "", &Failure{Code: CodeUsage, What: "that is no chat key", Why: err, Help: "sma chats list"}
	}
	return key, nil
}

// chatFailure says that there is no such chat, or else what cannot be done and why. A
// [Failure] stays as it is.
func chatFailure(key messages.ChatKey, what, help string, err error) error {
	if _, ok := errors.AsType[*Failure](err); ok || err == nil {
		return err
	}
	for _, missing := range []error{platform.ErrNotFound, persistence.ErrNotFound, errNoChat, errNotRunning} {
		if errors.Is(err, missing) {
			return &Failure{Code: CodeFailed, What: "there is no chat " + string(key), Help: "sma chats list"}
		}
	}
	return &Failure{Code: CodeFailed, What: what, Why: err, Help: help}
}
