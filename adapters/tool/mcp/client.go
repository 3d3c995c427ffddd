package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shipmyagent/shipmyagent/adapters/internal/nametree"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
)

// Condition is the condition of a server.
type Condition string

// The conditions of a server.
const (
	ConditionStarting Condition = "starting"
	ConditionUp       Condition = "up"
	ConditionDown     Condition = "down" // it will be retried
	ConditionOff      Condition = "off"  // it will not be retried automatically
)

// client keeps one server running. Only its loop starts and stops the server.
type client struct {
	o      Options
	server *Server
	log    *logFile
	listed func() // called after the stored list has changed
	calls  chan struct{}
	names  *nametree.Tree // of the project
	free   bool           // the last end was not the server's doing and does not count as a start; for its loop only

	cancel context.CancelFunc
	done   chan struct{}
	wake   chan bool     // retry now; true also ignores the start limit
	relist chan struct{} // the server reports that its tools have changed

	mu        sync.Mutex
	condition Condition
	reason    string
	help      string    // advice for the operator
	since     time.Time // when it went down; zero if it is up or was not tried yet
	link      *link
	lists     int           // number of lists received
	tries     int           // number of starts
	changed   chan struct{} // closed when any of these fields changes
	progress  map[string]func(*sdk.ProgressNotificationParams)
	tokens    int
}

// link is an open session.
type link struct {
	session *sdk.ClientSession
	stop    func()
	gone    *end
	ended   chan struct{} // closed when the session has ended; then why is set
	why     string
	hashes  map[string]string // of the listed tools, by name
}

func newClient(o Options, server *Server, listed func()) *client {
	c := &client{
		o: o, server: server, log: newLogFile(o.Logs, server), listed: listed, calls: make(chan struct{}, o.Limits.Calls),
		done: make(chan struct{}), wake: make(chan bool, 1), relist: make(chan struct{}, 1),
		condition: ConditionStarting, changed: make(chan struct{}), progress: map[string]func(*sdk.ProgressNotificationParams){},
	}
	c.names = c.newNames()
	return c
}

// start starts to keep the server running, in the background.
func (c *client) start() {
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	go func() {
		defer close(c.done)
		defer c.log.close()
		c.keep(ctx)
	}()
}

// stop stops the server and waits for its end, but not longer than ctx.
func (c *client) stop(ctx context.Context) error {
	c.cancel()
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// enter changes the condition and wakes those who wait for a change.
func (c *client) enter(condition Condition, reason string, l *link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.condition, c.reason, c.link = condition, reason, l
	switch {
	case condition == ConditionUp:
		c.help, c.since = "", time.Time{}
	case condition == ConditionDown && c.since.IsZero():
		c.since = time.Now()
	}
	close(c.changed)
	c.changed = make(chan struct{})
}

// keep restarts the server until ctx ends, within the limit of starts.
func (c *client) keep(ctx context.Context) {
	var starts []time.Time
	failures := 0
	if c.server.Off != "" {
		c.enter(ConditionOff, c.server.Off, nil)
		<-ctx.Done()
		return
	}
	for ctx.Err() == nil {
		now := time.Now()
		for len(starts) > 0 && now.Sub(starts[0]) > c.o.Limits.Window {
			starts = starts[1:]
		}
		if c.server.URL == "" && len(starts) >= c.o.Limits.Starts {
			c.rest(ctx, fmt.Sprintf("it was started %d times within %s; last: %s", len(starts), c.o.Limits.Window, c.lastReason()))
			starts, failures = nil, 0
			continue
		}
		starts = append(starts, now)
		c.free = false
		final, why, help := c.once(ctx)
		c.helps(help)
		if c.free {
			starts = starts[:len(starts)-1]
		}
		if ctx.Err() != nil {
			break
		}
		if time.Since(now) > time.Minute {
			failures = 0
		}
		c.log.say("%s", why)
		if final {
			c.o.Logger.Warn("an MCP server is off", "server", c.server.Name, "reason", why)
			c.rest(ctx, why)
			starts, failures = nil, 0
			continue
		}
		pause := c.o.Limits.pause(failures, c.server.URL == "")
		failures++
		c.o.Logger.Warn("an MCP server ended or did not start", "server", c.server.Name, "reason", why, "again_in", pause)
		c.enter(ConditionDown, why, nil)
		c.wait(ctx, pause)
	}
	c.enter(ConditionOff, "it was stopped", nil)
}

// helps records advice about the end of the server.
func (c *client) helps(help string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.help = help
}

func (c *client) lastReason() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reason
}

// rest keeps the server off until somebody forces a retry.
func (c *client) rest(ctx context.Context, why string) {
	c.log.say("off: %s", why)
	c.enter(ConditionOff, why, nil)
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case force := <-c.wake:
			if force {
				return
			}
		}
	}
}

// wait pauses until the time is over or somebody needs the server.
func (c *client) wait(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-c.wake:
	}
}

// nudge requests a retry of a server that is down, and with force also of one that is off.
func (c *client) nudge(force bool) {
	select {
	case c.wake <- force:
		return
	default:
	}
	if force { // the queued request may be one without force
		select {
		case <-c.wake:
		default:
		}
		select {
		case c.wake <- true:
		default:
		}
	}
}

// once starts the server and returns when it has ended. final says that a retry would fail in the same way; help is
// advice for the operator.
func (c *client) once(ctx context.Context) (final bool, why, help string) {
	c.mu.Lock()
	c.tries++
	c.mu.Unlock()
	c.enter(ConditionStarting, "", nil)
	c.log.starting(c.server.Shown)
	began := time.Now()
	l, err := c.begin(ctx)
	if err != nil {
		c.o.Metrics.observe(methodInitialize, resultOf(err), began)
		if failed, ok := errors.AsType[*startError](err); ok {
			why, help = c.explain(failed)
			return false, why, help
		}
		return errors.Is(err, sandbox.ErrUnavailable), c.server.line(err.Error()), ""
	}
	c.o.Metrics.observe(methodInitialize, resultOK, began)
	defer l.end()
	start, cancel := context.WithTimeout(ctx, c.o.Limits.Start)
	defer cancel()
	if err := c.list(start, l); err != nil {
		if why := l.finished(); why != "" {
			err = errors.New(why)
		}
		what := "its tools cannot be listed: " + err.Error()
		if l.gone.isOver() {
			why, help = c.explain(&startError{what: what, words: l.gone.words, spec: l.gone.spec})
			return false, why, help
		}
		return false, c.server.line(what), ""
	}
	c.enter(ConditionUp, "", l)
	defer c.enter(ConditionDown, "it ended", nil)
	why = c.serve(ctx, l)
	if l.gone.isOver() && ctx.Err() == nil {
		c.free = l.gone.outside
		why, help = c.explain(&startError{what: why, words: l.gone.words, spec: l.gone.spec})
	}
	return false, why, help
}

// begin opens a session. Downloads of packages do not count towards the time limit.
func (c *client) begin(ctx context.Context) (*link, error) {
	d, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	start, cancel := context.WithTimeout(ctx, c.o.Limits.Start)
	defer cancel()
	session, err := c.sdkClient().Connect(start, d.transport, nil)
	if err != nil {
		late := start.Err() != nil && ctx.Err() == nil
		d.stop() // afterwards a program has ended
		what := fmt.Sprintf("it did not answer within %s", c.o.Limits.Start)
		switch {
		case d.gone == nil && late:
			return nil, errors.New(what)
		case d.gone == nil:
			return nil, d.http.unreached(err)
		case d.gone.said.other() != "":
			what = "its output holds something else than MCP: “" + clean(d.gone.said.other(), maxLine) + "”"
		case !late:
			what = d.gone.how + " before it answered"
		}
		return nil, &startError{what: what, words: d.gone.words, spec: d.gone.spec}
	}
	l := &link{session: session, stop: d.stop, gone: d.gone, ended: make(chan struct{})}
	go func() {
		defer close(l.ended)
		err := session.Wait()
		l.why = "the connection ended"
		if err != nil {
			l.why += ": " + c.server.line(err.Error())
		}
	}()
	return l, nil
}

// end closes the session and its transport.
func (l *link) end() {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = l.session.Close() // notifies a server that may no longer respond
	}()
	timer := time.NewTimer(stopGrace)
	defer timer.Stop()
	if l.gone == nil { // an address: wait for the notification to be sent
		select {
		case <-closed:
		case <-timer.C:
		}
	}
	l.stop()
	<-closed
	<-l.ended
}

// finished says how the program or the session ended, or returns "". It waits briefly, because one of the two is
// reported later.
func (l *link) finished() string {
	timer := time.NewTimer(200 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-l.gone.channel():
		return l.gone.how
	case <-l.ended:
	case <-timer.C:
		return ""
	}
	if l.gone == nil {
		return l.why
	}
	select {
	case <-l.gone.channel():
		return l.gone.how
	case <-timer.C:
		return l.why
	}
}

// over reports whether the link can no longer send.
func (l *link) over() bool {
	select {
	case <-l.gone.channel():
		return true
	case <-l.ended:
		return true
	default:
		return false
	}
}

// serve waits for the end of a session, and lists the tools again when requested.
func (c *client) serve(ctx context.Context, l *link) string {
	timer := time.NewTimer(0)
	timer.Stop()
	defer timer.Stop()
	last := time.Now()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return "stopped"
		case <-look.C:
			if why := c.outgrown(ctx, l.gone); why != "" {
				c.free = true
				return why
			}
		case <-l.gone.channel():
			return l.gone.how
		case <-l.ended:
			return l.finished()
		case force := <-c.wake:
			if force {
				timer.Reset(0)
			}
		case <-c.relist:
			timer.Reset(max(0, c.o.Limits.Relist-time.Since(last)))
		case <-timer.C:
			last = time.Now()
			start, cancel := context.WithTimeout(ctx, c.o.Limits.Start)
			err := c.list(start, l)
			cancel()
			if err != nil {
				return c.server.line("its tools cannot be listed: " + err.Error())
			}
		}
	}
}

// sdkClient makes a client that answers only pings.
func (c *client) sdkClient() *sdk.Client {
	return sdk.NewClient(&sdk.Implementation{Name: "ShipMyAgent", Version: c.o.Version}, &sdk.ClientOptions{
		Capabilities:   &sdk.ClientCapabilities{},
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) {
			select {
			case c.relist <- struct{}{}:
			default:
			}
		},
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			token, ok := r.Params.ProgressToken.(string)
			c.mu.Lock()
			show := c.progress[token]
			c.mu.Unlock()
			if ok && show != nil {
				show(r.Params)
			}
		},
	})
}

// list requests the tools and stores them. The session gets the new hashes before the store does, so that a tool can
// be called as soon as a person has approved it.
func (c *client) list(ctx context.Context, l *link) error {
	began := time.Now()
	tools, err := c.pages(ctx, l.session)
	c.o.Metrics.observe(methodList, resultOf(err), began)
	if err != nil {
		return err
	}
	hashes := map[string]string{}
	for _, t := range tools {
		if t.fault == nil {
			hashes[t.def.Name] = t.def.hash()
		}
	}
	c.mu.Lock()
	l.hashes = hashes
	c.mu.Unlock()
	changed, err := c.o.Store.note(c.server, tools, began)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.lists++
	first := c.lists == 1
	c.mu.Unlock()
	if changed || first {
		c.listed()
	}
	return nil
}

// pages requests all pages of the list.
func (c *client) pages(ctx context.Context, session *sdk.ClientSession) ([]listed, error) {
	if r := session.InitializeResult(); r == nil || r.Capabilities == nil || r.Capabilities.Tools == nil {
		return nil, nil // a server without tools
	}
	var out []listed
	params := &sdk.ListToolsParams{}
	for range maxPages {
		page, err := session.ListTools(ctx, params)
		if err != nil {
			return nil, err
		}
		for _, t := range page.Tools {
			if t == nil {
				continue
			}
			if len(out) == maxTools {
				c.log.say("more than %d tools are listed; the rest is left out", maxTools)
				return out, nil
			}
			def, err := define(t)
			out = append(out, listed{def, err})
		}
		if page.NextCursor == "" || page.NextCursor == params.Cursor {
			return out, nil
		}
		params = &sdk.ListToolsParams{Cursor: page.NextCursor}
	}
	c.log.say("the list of tools has more than %d pages; the rest is left out", maxPages)
	return out, nil
}

// acquire returns the session. It waits for a server that is down: as long as a call may take if the server went down
// recently, otherwise for a short time. Meanwhile an address is retried repeatedly, but a program only once, since
// its starts are limited.
func (c *client) acquire(ctx context.Context) (*link, error) {
	again := time.NewTicker(c.o.Limits.Pause)
	defer again.Stop()
	timer := time.NewTimer(c.patience())
	defer timer.Stop()
	why := "it does not answer"
	for nudged := false; ; {
		c.mu.Lock()
		condition, reason, l, changed := c.condition, c.reason, c.link, c.changed
		c.mu.Unlock()
		why = cmp.Or(reason, why)
		switch {
		case condition == ConditionUp && !l.over():
			return l, nil
		case condition == ConditionOff:
			return nil, fmt.Errorf("%w: %s is off: %s", ErrDown, c.server.Name, reason)
		case condition == ConditionDown && !nudged:
			nudged = true
			c.nudge(false)
		}
		select {
		case <-changed:
		case <-again.C:
			nudged = nudged && c.server.URL == ""
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-timer.C:
			return nil, fmt.Errorf("%w: %s: %s; try again later", ErrDown, c.server.Name, why)
		}
	}
}

// patience is how long a call waits for the server.
func (c *client) patience() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.since.IsZero() || time.Since(c.since) < c.o.Limits.Lately {
		return c.server.timeout()
	}
	return min(c.o.Limits.Patience, c.server.timeout())
}

// resultOf is the metric label of an error.
func resultOf(err error) string {
	switch {
	case err == nil:
		return resultOK
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return resultCancelled
	case errors.Is(err, ErrInterrupted):
		return resultInterrupted
	case errors.Is(err, ErrDown), errors.Is(err, ErrOff):
		return resultRefused
	default:
		return resultError
	}
}
