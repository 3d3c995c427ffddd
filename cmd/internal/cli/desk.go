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

// ask answers a question about chats: through the running host, which serves the answer under name, or from the
// chats' files.
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

// order has a chat carry out an order: through the running host, or in the chat's files.
func order[O, R any](ctx context.Context, a *app, name string, o O, carryOut func(*query.Desk, context.Context, O) (R, error)) (out R, err error) {
	err = a.atDesk(ctx,
		func(c control) error { return c.post(ctx, "/control/"+name, o, &out) },
		func(d *query.Desk) error { out, err = carryOut(d, ctx, o); return err })
	return out, err
}

// atDesk works with the running host, or with a desk on the files if no host is running.
func (a *app) atDesk(ctx context.Context, running func(control) error, stopped func(*query.Desk) error) error {
	_, state, err := a.folders(nil)
	if err != nil {
		return err
	}
	c := newControl(state)
	switch _, err := c.status(ctx); {
	case err == nil:
		if err := running(c); !errors.Is(err, errNotRunning) { // otherwise it has just ended
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

// logger logs to stderr from a level on.
func (a *app) logger(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(a.Stderr, &slog.HandlerOptions{Level: level}))
}

// zone is the time zone of the project's tasks.
func (a *app) zone() (*time.Location, error) {
	opened, err := a.openTasks()
	return opened.zone, err
}

// orderRunning sends an order to the running host. Without a host it fails with the text idle.
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

// chatArg is the chat that the arguments name, if any.
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

// chatFailure converts an error about a chat: that the chat does not exist, or else what failed and why. A [Failure]
// is returned unchanged.
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

// errNoChat says that the host does not have the chat.
var errNoChat = errors.New("there is no such chat")

// control talks to the host that runs on a state folder.
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

// noAnswer says that a host may be running, but does not answer.
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

// get fetches one document. It fails with errNotRunning if no host listens.
func (c control) get(ctx context.Context, path string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://host"+path, nil)
	if err != nil {
		return err
	}
	return c.do(req, into)
}

// post sends one document and reads the reply.
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
	if op, ok := errors.AsType[*net.OpError](err); ok { // the outer error repeats the same text
		return fmt.Errorf("%s: %w", c.socket, op.Err)
	}
	if err != nil {
		return fmt.Errorf("ask the host: %w", err)
	}
	defer func() { _ = resp.Body.Close() }() // read completely or abandoned
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return errNoChat
	default:
		var said struct{ Error string }
		_ = json.NewDecoder(resp.Body).Decode(&said) // the status is sufficient
		return fmt.Errorf("the host answers %s: %s", resp.Status, said.Error)
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		return fmt.Errorf("read the host's answer: %w", err)
	}
	return nil
}
