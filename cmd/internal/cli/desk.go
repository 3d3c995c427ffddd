package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	terminal "github.com/shipmyagent/shipmyagent/adapters/platform/cli"
	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
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

// errNotRunning says that no host uses the state folder.
var errNotRunning = errors.New("no host is running here")

// errNoChat says that the host has no such chat.
var errNoChat = errors.New("there is no such chat")

// control asks the host that runs on a state folder.
type control struct {
	http   *http.Client
	socket string // where it listens
}

func newControl(state string) control {
	socket := host.SocketPath(state)
	return control{socket: socket, http: &http.Client{
		Timeout: 30 * time.Second,
		Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return terminal.Dial(ctx, socket)
			},
		},
	}}
}

// noAnswer says that a host may be running but does not answer.
func noAnswer(err error) error {
	f := &Failure{Code: CodeUnreachable, What: "the host does not answer", Why: err, Help: "sma doctor"}
	if errors.Is(err, fs.ErrPermission) {
		f.Help = "the same as the user whom the host runs as"
	}
	return f
}

func (c control) status(ctx context.Context) (host.Status, error) {
	var out host.Status
	return out, c.get(ctx, "/control/status", &out)
}

func (c control) login(ctx context.Context) (host.LoginDocument, error) {
	var out host.LoginDocument
	return out, c.get(ctx, "/control/login", &out)
}

// get asks for one document. It fails with errNotRunning if no host listens.
func (c control) get(ctx context.Context, path string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://host"+path, nil)
	if err != nil {
		return err
	}
	return c.do(req, into)
}

// post sends one document and reads the one that answers it.
func (c control) post(ctx context.Context, path string, doc, into any) error {
	body, err := json.Marshal(doc)
	if err != nil {
		return fmt.Errorf("encode the order: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://host"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	return c.do(req, into)
}

// do sends a request and reads its answer.
func (c control) do(req *http.Request, into any) error {
	resp, err := c.http.Do(req)
	if errors.Is(err, terminal.ErrNotRunning) {
		return errNotRunning
	}
	if op, ok := errors.AsType[*net.OpError](err); ok { // the rest says the same again
		return fmt.Errorf("%s: %w", c.socket, op.Err)
	}
	if err != nil {
		return fmt.Errorf("ask the host: %w", err)
	}
	defer func() { _ = resp.Body.Close() }() // read to its end or given up
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return errNoChat
	default:
		var said struct{ Error string }
		_ = json.NewDecoder(resp.Body).Decode(&said) // the status says enough
		return fmt.Errorf("the host answers %s: %s", resp.Status, said.Error)
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		return fmt.Errorf("read the host's answer: %w", err)
	}
	return nil
}
