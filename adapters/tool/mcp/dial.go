package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
)

const (
	// stopGrace is how long a program may take to end after its input has.
	stopGrace = 1500 * time.Millisecond
	// forever is how long a program may live and compute: a server has no end.
	forever = 10 * 365 * 24 * time.Hour

	maxMemory    = 2 << 30
	maxFileSize  = 1 << 30
	maxProcesses = 256
	maxOpenFiles = 4096
)

var (
	errRedirect = errors.New("the server redirects elsewhere, which is not followed; write the final address")
	errNoFile   = errors.New("no such program")
)

// dialed is a way to a server before anything was said.
type dialed struct {
	transport sdk.Transport
	// stop ends what was begun for it and waits until that is gone.
	stop func()
	gone *end // of the program; nil: there is none
}

// end is how a program ended. done is closed once it has; then how says it.
type end struct {
	done chan struct{}
	how  string
}

// channel is done; it blocks for ever where there is no program.
func (e *end) channel() <-chan struct{} {
	if e == nil {
		return nil
	}
	return e.done
}

// dial makes a way to the server. life is how long it may be used.
func (c *client) dial(life context.Context) (dialed, error) {
	if c.server.URL != "" {
		return c.dialAddress(life), nil
	}
	return c.dialProgram(life)
}

// dialProgram starts the program in the sandbox. Pipes of the system are handed over
// as they are, so that nothing has to copy what goes through them.
func (c *client) dialProgram(life context.Context) (dialed, error) {
	spec, err := c.spec()
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
			_ = f.Close() // nothing went through it
		}
		return dialed{}, fmt.Errorf("start %s: %w", c.server.Command, err)
	}
	gone := &end{done: make(chan struct{})}
	go func() {
		defer close(gone.done)
		gone.how = ended(process.Wait())
		_ = outW.Close() // so that the reader comes to an end
		_ = inR.Close()
	}()
	stop := func() {
		_ = inW.Close() // which asks the program to end
		timer := time.NewTimer(stopGrace)
		defer timer.Stop()
		select {
		case <-gone.done:
		case <-timer.C:
			process.Kill()
			<-gone.done
		}
		_ = outR.Close()
	}
	return dialed{
		transport: &sdk.IOTransport{Reader: outR, Writer: inW, MaxLineLength: c.o.Limits.Message}, stop: stop, gone: gone,
	}, nil
}

// ended is how a program ended, in words.
func ended(exit sandbox.Exit, err error) string {
	switch {
	case exit.Limit != "":
		return "it was stopped at its limit of " + exit.Limit
	case exit.Signal != "":
		return "it was ended by " + exit.Signal
	case err != nil && exit.Code == 0:
		return "it ended: " + err.Error()
	default:
		return fmt.Sprintf("it ended with code %d", exit.Code)
	}
}

// spec is the program with what it may do.
func (c *client) spec() (sandbox.Spec, error) {
	s := c.server
	path := c.o.Path
	for _, v := range s.Env {
		if p, ok := strings.CutPrefix(v, "PATH="); ok {
			path = p
		}
	}
	program, err := lookup(s.Command, path)
	if err != nil {
		return sandbox.Spec{}, err
	}
	spec := sandbox.Spec{
		Argv: append([]string{program}, s.Args...), Env: []string{"PATH=" + path},
		Readable: append(s.readable(), own(program, s.Dir, s.Args)...), Writable: slices.Clone(s.Write),
		Hidden: c.o.Hidden, Network: s.Network,
		Limits: sandbox.Limits{
			Wall: forever, CPU: forever, Memory: maxMemory, FileSize: maxFileSize, Processes: maxProcesses, OpenFiles: maxOpenFiles,
		},
	}
	if c.o.ReadOnly != nil {
		spec.Readable = append(spec.Readable, c.within(s.Write, c.o.ReadOnly())...)
	}
	home := filepath.Join(c.o.State, "home", s.Name)
	granted := slices.Concat(s.Write, s.readable())
	covered := slices.ContainsFunc(granted, func(p string) bool {
		return slices.ContainsFunc(c.o.Hidden, func(hidden string) bool { return under(hidden, p) && under(home, hidden) })
	})
	if covered { // what hides the state hides a home in it too
		home = cmp.Or(s.Dir, granted[0])
	} else {
		if err := os.MkdirAll(home, 0o700); err != nil {
			return sandbox.Spec{}, fmt.Errorf("make a home for %s: %w", s.Name, err)
		}
		spec.Hidden = slices.DeleteFunc(slices.Clone(spec.Hidden), func(hidden string) bool { return under(home, hidden) })
		spec.Writable = append(spec.Writable, home)
	}
	spec.Dir = cmp.Or(s.Dir, home)
	if !slices.ContainsFunc(s.Env, func(v string) bool { return strings.HasPrefix(v, "HOME=") }) {
		spec.Env = append(spec.Env, "HOME="+home)
	}
	for _, v := range s.Env {
		if !strings.HasPrefix(v, "PATH=") {
			spec.Env = append(spec.Env, v)
		}
	}
	return spec, nil
}

// readable is what the operator lets a program read: where it starts is part of it.
func (s *Server) readable() []string {
	out := slices.Clone(s.Read)
	if s.Dir != "" && !slices.ContainsFunc(slices.Concat(s.Read, s.Write), func(p string) bool { return under(s.Dir, p) }) {
		out = append(out, s.Dir)
	}
	return out
}

// under says that a path is another one or lies in it.
func under(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// lookup finds a program.
func lookup(command, path string) (string, error) {
	if filepath.IsAbs(command) {
		return command, nil
	}
	for _, dir := range filepath.SplitList(path) {
		full := filepath.Join(dir, command)
		if info, err := os.Stat(full); filepath.IsAbs(dir) && err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return full, nil
		}
	}
	return "", fmt.Errorf("%w: %s is not in PATH (%s); write its whole path", errNoFile, command, path)
}

// own are the files that a program needs to be itself: where it was installed, and
// the scripts that its arguments name, with the packages around them.
func own(program, dir string, args []string) []string {
	out := []string{program}
	if target, err := filepath.EvalSymlinks(program); err == nil {
		out = append(out, target)
		if prefix := filepath.Dir(filepath.Dir(target)); filepath.Base(filepath.Dir(target)) == "bin" && prefix != "/" && prefix != "/usr" {
			out = append(out, filepath.Join(prefix, "lib"), filepath.Dir(target))
		}
	}
	for _, arg := range args {
		if dir != "" && !filepath.IsAbs(arg) {
			arg = filepath.Join(dir, arg)
		}
		info, err := os.Stat(arg)
		if !filepath.IsAbs(arg) || err != nil || !info.Mode().IsRegular() {
			continue
		}
		const packages = "/node_modules/"
		if i := strings.LastIndex(arg, packages); i >= 0 {
			arg = arg[:i+len(packages)-1]
		}
		out = append(out, arg)
	}
	slices.Sort(out)
	return slices.Compact(slices.DeleteFunc(out, func(p string) bool {
		_, err := os.Stat(p)
		return err != nil
	}))
}

func (c *client) dialAddress(life context.Context) dialed {
	pool := &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, IdleConnTimeout: 90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: 64 << 10,
	}
	life, cancel := context.WithCancel(life)
	client := &http.Client{
		Transport:     &headers{next: pool, life: life, add: c.server.Headers, limit: int64(c.o.Limits.Message)},
		CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect },
	}
	return dialed{
		transport: &sdk.StreamableClientTransport{Endpoint: c.server.URL, HTTPClient: client, MaxEventSize: c.o.Limits.Message},
		stop: func() {
			cancel()
			pool.CloseIdleConnections()
		},
	}
}

// headers adds what the operator configured to every request, bounds answers, and
// ends everything with its session.
type headers struct {
	next  http.RoundTripper
	life  context.Context //nolint:containedctx // a round tripper has no other way to learn of the end
	add   http.Header
	limit int64
}

// RoundTrip implements [http.RoundTripper].
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
	resp, err := h.next.RoundTrip(r)
	if err != nil {
		release()
		return nil, err
	}
	body := &answer{ReadCloser: resp.Body, release: release, left: h.limit}
	body.endless = strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") // whose events are bounded
	resp.Body = body
	return resp, nil
}

// answer is a body that fails once it is longer than it may be.
type answer struct {
	io.ReadCloser
	release func()
	endless bool
	left    int64
}

var errTooLong = errors.New("the server's answer is too long")

// Read implements [io.Reader].
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

// Close implements [io.Closer].
func (a *answer) Close() error {
	defer a.release()
	return a.ReadCloser.Close()
}

// within are the paths in folders that a program may write. Others are no affair of its.
func (*client) within(folders, paths []string) []string {
	return slices.DeleteFunc(paths, func(p string) bool {
		return !slices.ContainsFunc(folders, func(folder string) bool { return under(p, folder) })
	})
}
