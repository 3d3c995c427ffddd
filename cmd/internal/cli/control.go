package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"time"

	terminal "github.com/shipmyagent/shipmyagent/adapters/platform/cli"
	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
)

// errNotRunning: no host works on the state folder.
var errNotRunning = errors.New("no host is running here")

// errNoChat: the host knows no such chat.
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

// noAnswer is for people: there may be a host, and it cannot be asked.
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

// get asks for one document. It fails with errNotRunning if nobody listens.
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
