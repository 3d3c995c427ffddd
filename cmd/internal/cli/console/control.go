package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"strings"

	terminal "github.com/shipmyagent/shipmyagent/adapters/platform/cli"
	"github.com/shipmyagent/shipmyagent/cmd/internal/control"
	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
)

// ErrNotRunning says that no host uses the state folder.
var ErrNotRunning = errors.New("no host is running here")

// ErrNoChat says that the host does not have the chat.
var ErrNoChat = errors.New("there is no such chat")

// Control talks to the host that runs on a state folder.
type Control struct {
	http   *http.Client
	socket string // where it listens
}

// NewControl returns a client of the host that uses a state folder. It connects with the first request, so it does
// not fail if no host is running.
func NewControl(state string) Control {
	socket := host.SocketPath(state)
	return Control{socket: socket, http: &http.Client{
		Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return terminal.Dial(ctx, socket)
			},
		},
	}}
}

// NoAnswer is the failure of a question that only a running host answers: none is running, or it may be but does not
// answer. It is nil without an error.
func NoAnswer(err error) error {
	f := Failure{Code: CodeUnreachable, What: "the host does not answer", Help: "sma doctor"}
	switch {
	case errors.Is(err, ErrNotRunning):
		return &Failure{Code: CodeUnreachable, What: "no host is running here", Help: "sma run"}
	case errors.Is(err, fs.ErrPermission):
		f.Help = "the same as the user whom the host runs as"
	}
	return f.Because(err)
}

// Status asks the host what it is doing: its process, its platforms, and whether it is ready.
func (c Control) Status(ctx context.Context) (host.Status, error) {
	var out host.Status
	return out, c.Get(ctx, "/control/status", &out)
}

// Login asks the host for the link that logs a browser in. The link is a secret.
func (c Control) Login(ctx context.Context) (host.LoginDocument, error) {
	var out host.LoginDocument
	return out, c.Get(ctx, "/control/login", &out)
}

// Get fetches one document. It fails with [ErrNotRunning] if no host listens.
func (c Control) Get(ctx context.Context, path string, into any) error {
	return c.do(ctx, http.MethodGet, path, http.NoBody, into)
}

// Post sends one document and reads the reply.
func (c Control) Post(ctx context.Context, path string, doc, into any) error {
	body, err := json.Marshal(doc)
	if err != nil {
		return fmt.Errorf("encode the order: %w", err)
	}
	return c.do(ctx, http.MethodPost, path, bytes.NewReader(body), into)
}

// Stream fetches documents that follow each other, and gives each one to take until take fails or the host ends the
// answer, which is no error.
func Stream[T any](ctx context.Context, c Control, path string, take func(T) error) error {
	return c.read(ctx, http.MethodGet, path, http.NoBody, func(docs *json.Decoder) error {
		for {
			var doc T
			switch err := docs.Decode(&doc); {
			case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
				return nil
			case err != nil:
				return fmt.Errorf("read the host's answer: %w", err)
			}
			if err := take(doc); err != nil {
				return err
			}
		}
	})
}

// do sends a request and reads its answer, within the time that the host may take for it.
func (c Control) do(ctx context.Context, method, path string, body io.Reader, into any) error {
	route, _, _ := strings.Cut(path, "?")
	ctx, cancel := context.WithTimeout(ctx, control.Within(route))
	defer cancel()
	return c.read(ctx, method, path, body, func(docs *json.Decoder) error {
		if err := docs.Decode(into); err != nil {
			return fmt.Errorf("read the host's answer: %w", err)
		}
		return nil
	})
}

func (c Control) read(ctx context.Context, method, path string, body io.Reader, answer func(*json.Decoder) error) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://host"+path, body)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if errors.Is(err, terminal.ErrNotRunning) {
		return ErrNotRunning
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
		return ErrNoChat
	default:
		var said struct{ Error string }
		_ = json.NewDecoder(resp.Body).Decode(&said) // the status is sufficient
		return fmt.Errorf("the host answers %s: %s", resp.Status, said.Error)
	}
	return answer(json.NewDecoder(resp.Body))
}

// Running reports whether a host answers on a state folder.
func Running(ctx context.Context, state string) bool {
	_, err := NewControl(state).Status(ctx)
	return err == nil
}
