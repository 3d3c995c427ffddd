package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
)

const (
	// stopGrace is how long a program may take to exit after its input was closed.
	stopGrace = 1500 * time.Millisecond
	// unreadWait is how long output that nobody has read is waited for when the connection is closed.
	unreadWait = 50 * time.Millisecond
	// forever is the time limit of servers, which run indefinitely.
	forever = 10 * 365 * 24 * time.Hour

	maxMemory    = 2 << 30
	maxFileSize  = 1 << 30
	maxProcesses = 256
	maxOpenFiles = 4096
)

var errRedirect = errors.New("the server redirects elsewhere, which is not followed; write the final address")

// dialed is a connection to a server before any message was sent.
type dialed struct {
	transport sdk.Transport
	// stop ends the connection and waits for the end of the program, if any.
	stop func()
	gone *end // the end of the program, or nil for an address
	http *headers
}

// end describes how a program ended. done is closed at its end; then how describes it, outside says that somebody else
// caused it, and words is its last output. write is what it may write, without links.
type end struct {
	done    chan struct{}
	spec    sandbox.Spec
	write   []string
	how     string
	outside bool
	words   []string
	said    *opening
}

// channel returns done, or nil without a program, which blocks forever.
func (e *end) channel() <-chan struct{} {
	if e == nil {
		return nil
	}
	return e.done
}

// isOver reports whether there is a program and it has ended.
func (e *end) isOver() bool {
	select {
	case <-e.channel():
		return true
	default:
		return false
	}
}

// input is the input of a program. One that reads nothing for as long as a call may take gets nothing more, because it
// may have read a part of the message.
type input struct {
	*os.File
	timeout time.Duration
}

func (i input) Write(p []byte) (int, error) {
	_ = i.SetWriteDeadline(time.Now().Add(i.timeout)) // Write reports whatever is wrong with the file
	n, err := i.File.Write(p)
	if err != nil {
		_ = i.Close()
	}
	return n, err
}

// opening is the output of a program; its beginning is kept for error messages. It is safe for concurrent use.
type opening struct {
	*os.File
	mu    sync.Mutex
	begin []byte
}

func (o *opening) Read(p []byte) (int, error) {
	n, err := o.File.Read(p)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.begin = append(o.begin, p[:min(n, maxLine-len(o.begin))]...)
	return n, err
}

// Close first reads what is there: a program that ended at once may have said something before anybody read it.
func (o *opening) Close() error {
	if err := o.SetReadDeadline(time.Now().Add(unreadWait)); err == nil {
		_, _ = o.Read(make([]byte, maxLine)) // at its end, or for nothing
	}
	return o.File.Close()
}

// other is the first line if it is not a message of the protocol, which is always an object.
func (o *opening) other() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	line, _, _ := strings.Cut(strings.TrimSpace(string(o.begin)), "\n")
	if strings.HasPrefix(line, "{") {
		return ""
	}
	return line
}

// unreached says why an address could not be reached, without the wrapping of network errors.
func (h *headers) unreached(err error) error {
	switch h.status.Load() {
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return fmt.Errorf("it does not speak streamable HTTP at this address; the older HTTP with SSE is not supported: %w", err)
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf(`it refuses who asks; give it a token in "headers", as in {"Authorization": "Bearer ${TOKEN}"}: %w`, err)
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("it cannot be reached: %w", failed.Err)
	}
	return err
}

// dial connects to the server. The connection ends with life.
func (c *client) dial(life context.Context) (dialed, error) {
	if c.server.URL != "" {
		return c.dialAddress(life), nil
	}
	return c.dialProgram(life)
}

// dialProgram starts the program in the sandbox. It passes pipes of the operating system directly, so that nothing
// has to be copied.
func (c *client) dialProgram(life context.Context) (dialed, error) {
	spec, err := c.spec()
	if err != nil {
		return dialed{}, err
	}
	if err := c.fetch(life, spec); err != nil {
		return dialed{}, err
	}
	files, write, err := c.confine(life, &spec)
	if err != nil {
		return dialed{}, err
	}
	inR, inW, err := os.Pipe()
	if err != nil {
		return dialed{}, fmt.Errorf("make a pipe: %w", err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		return dialed{}, errors.Join(fmt.Errorf("make a pipe: %w", err), inR.Close(), inW.Close())
	}
	spec.Stdin, spec.Stdout, spec.Stderr = inR, outW, c.log
	process, err := c.o.Sandbox.Start(context.WithoutCancel(life), spec) // stop ends it, more gently
	if err != nil {
		for _, f := range []*os.File{inR, inW, outR, outW} {
			_ = f.Close() // nothing was written to it
		}
		return dialed{}, fmt.Errorf("start %s: %w", c.server.Command, err)
	}
	gone := &end{done: make(chan struct{}), spec: spec, write: write, said: &opening{File: outR}}
	go func() {
		defer close(gone.done)
		exit, err := process.Wait()
		if gone.how = ended(exit, err); errors.Is(err, sandbox.ErrReplaced) {
			gone.how, gone.outside = c.replaced(files, err)
		}
		gone.words = c.log.lastWords() // complete, since all output was written
		_ = outW.Close()               // so that the reader reaches the end
		_ = inR.Close()
	}()
	stop := func() {
		_ = inW.Close() // asks the program to exit
		timer := time.NewTimer(stopGrace)
		defer timer.Stop()
		select {
		case <-gone.done:
		case <-timer.C:
			process.Kill()
			<-gone.done
		}
		_ = gone.said.Close()
	}
	return dialed{
		transport: &sdk.IOTransport{Reader: gone.said, Writer: input{inW, c.server.timeout()}, MaxLineLength: c.o.Limits.Message}, stop: stop, gone: gone,
	}, nil
}

// limitOf names a limit with its size.
func limitOf(name string) string {
	switch name {
	case sandbox.LimitMemory:
		return fmt.Sprintf("%s, %d MiB", name, maxMemory>>20)
	case sandbox.LimitProcesses:
		return fmt.Sprintf("%s, %d", name, maxProcesses)
	case sandbox.LimitFileSize:
		return fmt.Sprintf("%s, %d MiB", name, maxFileSize>>20)
	default:
		return name
	}
}

// ended says how a program ended.
func ended(exit sandbox.Exit, err error) string {
	switch {
	case exit.Limit != "":
		return "it was stopped at its limit of " + limitOf(exit.Limit)
	case exit.Signal != "":
		return "it was ended by " + exit.Signal
	case err != nil && exit.Code == 0:
		return "it ended: " + err.Error()
	default:
		return fmt.Sprintf("it ended with code %d", exit.Code)
	}
}

func (c *client) dialAddress(life context.Context) dialed {
	pool := &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, IdleConnTimeout: 90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: 64 << 10,
	}
	life, cancel := context.WithCancel(life)
	transport := &headers{next: pool, life: life, add: c.server.Headers, limit: int64(c.o.Limits.Message)}
	client := &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect },
	}
	return dialed{
		http:      transport,
		transport: &sdk.StreamableClientTransport{Endpoint: c.server.URL, HTTPClient: client, MaxEventSize: c.o.Limits.Message},
		stop: func() {
			cancel()
			pool.CloseIdleConnections()
		},
	}
}

// sentKey is the key of the [atomic.Bool] in the context of a call that says whether its server may have taken it.
type sentKey struct{}

// headers adds the configured headers to every request, limits the size of answers, and cancels requests when the
// session ends.
type headers struct {
	next   http.RoundTripper
	life   context.Context //nolint:containedctx // a round tripper has no other way to learn of the end
	add    http.Header
	limit  int64
	status atomic.Int32 // of the last request that was refused
}

func (h *headers) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	unhook := context.AfterFunc(h.life, cancel)
	release := func() {
		unhook()
		cancel()
	}
	r = r.Clone(ctx)
	for name, values := range h.add {
		r.Header[http.CanonicalHeaderKey(name)] = values
	}
	taken, ok := r.Context().Value(sentKey{}).(*atomic.Bool)
	if ok = ok && r.Method == http.MethodPost; ok {
		taken.Store(true)
	}
	resp, err := h.next.RoundTrip(r)
	if err != nil {
		release()
		return nil, err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		h.status.Store(int32(resp.StatusCode)) //nolint:gosec // three digits
	}
	if resp.StatusCode == http.StatusNotFound && r.Header.Get("Mcp-Session-Id") != "" {
		// The session is forgotten. The SDK would take some words about it for an answer to the call.
		_ = resp.Body.Close()
		resp.Body = http.NoBody
		if ok {
			taken.Store(false)
		}
	}
	body := &answer{ReadCloser: resp.Body, release: release, left: h.limit}
	body.endless = strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") // where single events are limited
	resp.Body = body
	return resp, nil
}

// answer is a body that fails once it is too long.
type answer struct {
	io.ReadCloser
	release func()
	endless bool
	left    int64
}

var errTooLong = errors.New("the server's answer is too long")

func (a *answer) Read(p []byte) (int, error) {
	if a.endless {
		return a.ReadCloser.Read(p)
	}
	if a.left <= 0 {
		return 0, errTooLong
	}
	n, err := a.ReadCloser.Read(p[:min(int64(len(p)), a.left)])
	a.left -= int64(n)
	return n, err
}

func (a *answer) Close() error {
	defer a.release()
	return a.ReadCloser.Close()
}
