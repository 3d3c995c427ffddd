package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
)

// Condition is how a server does.
type Condition string

// The conditions of a server.
const (
	ConditionStarting Condition = "starting"
	ConditionUp       Condition = "up"
	ConditionDown     Condition = "down" // and tried again
	ConditionOff      Condition = "off"  // and not tried again by itself
)

// client keeps one server running. Its loop is the only one that starts and ends it.
type client struct {
	o      Options
	server *Server
	log    *logFile
	listed func() // after the store has another list
	calls  chan struct{}

	cancel context.CancelFunc
	done   chan struct{}
	wake   chan bool     // try now; true: whatever the budget says
	relist chan struct{} // the server says that its tools have changed

	mu        sync.Mutex
	condition Condition
	reason    string
	help      string    // what may be done about it
	since     time.Time // when it went down; zero: it is up, or was not tried yet
	link      *link
	lists     int           // how often the server has listed its tools
	tries     int           // how often it was begun
	changed   chan struct{} // closed when any of these change
	progress  map[string]func(*sdk.ProgressNotificationParams)
	tokens    int
}

// link is a session under way.
type link struct {
	session *sdk.ClientSession
	stop    func()
	gone    *end
	ended   chan struct{} // closed once the session has ended; why says how
	why     string
	hashes  map[string]string // of the tools it listed, by name
}

func newClient(o Options, server *Server, listed func()) *client {
	return &client{
		o: o, server: server, log: newLogFile(o.Logs, server), listed: listed, calls: make(chan struct{}, o.Limits.Calls),
		done: make(chan struct{}), wake: make(chan bool, 1), relist: make(chan struct{}, 1),
		condition: ConditionStarting, changed: make(chan struct{}), progress: map[string]func(*sdk.ProgressNotificationParams){},
	}
}

// start begins to keep the server running; it returns at once.
func (c *client) start() {
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	go func() {
		defer close(c.done)
		defer c.log.close()
		c.keep(ctx)
	}()
}

// stop ends the server and waits for that, at most until ctx ends.
func (c *client) stop(ctx context.Context) error {
	c.cancel()
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// enter changes the condition and tells those who wait for that.
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

// keep starts the server again and again, within its budget.
func (c *client) keep(ctx context.Context) {
	var starts []time.Time
	failures := 0
	if c.server.Off != "" {
		c.enter(ConditionOff, c.server.Off, nil)
		<-ctx.Done()
		return
	}
	for first := true; ctx.Err() == nil; first = false {
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
		if !first {
			c.o.Metrics.restarted()
		}
		final, why, help := c.once(ctx)
		c.helps(help)
		if ctx.Err() != nil {
			break
		}
		if time.Since(now) > time.Minute {
			failures = 0
		}
		c.log.say("%s", why)
		if final {
			c.o.Logger.Warn("a server of tools is off", "server", c.server.Name, "reason", why)
			c.rest(ctx, why)
			starts, failures = nil, 0
			continue
		}
		pause := c.o.Limits.pause(failures, c.server.URL == "")
		failures++
		c.o.Logger.Warn("a server of tools went away or did not come up", "server", c.server.Name, "reason", why, "again_in", pause)
		c.enter(ConditionDown, why, nil)
		c.wait(ctx, pause)
	}
	c.enter(ConditionOff, "the host stops", nil)
}

// helps notes what may be done about the end of the server.
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

// rest keeps the server off until somebody wants it back.
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

// wait pauses until it is time, or somebody needs the server.
func (c *client) wait(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-c.wake:
	}
}

// nudge has a server that is down tried now; force also one that is off.
func (c *client) nudge(force bool) {
	select {
	case c.wake <- force:
		return
	default:
	}
	if force { // what waits there may be no force
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

// once starts the server and stays with it until it is gone. final says that another
// try would come to the same; help is for the operator.
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
		why, help = c.explain(&startError{what: why, words: l.gone.words, spec: l.gone.spec})
	}
	return false, why, help
}

// begin makes a session. The time for that does not include what has to be fetched first.
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
		d.stop() // after which a program is gone
		what := fmt.Sprintf("it did not answer within %s", c.o.Limits.Start)
		switch {
		case d.gone == nil && late:
			return nil, errors.New(what)
		case d.gone == nil:
			return nil, unreached(err)
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

// end closes the session and what is below it.
func (l *link) end() {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = l.session.Close() // says goodbye to a server that may not listen
	}()
	timer := time.NewTimer(stopGrace)
	defer timer.Stop()
	if l.gone == nil { // an address: let the goodbye go out
		select {
		case <-closed:
		case <-timer.C:
		}
	}
	l.stop()
	<-closed
	<-l.ended
}

// finished is how a program ended, or the session; empty: it did not. It waits a
// moment for the one that is told later.
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

// over says that nothing can be sent any more.
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

// serve stays with a session until it is over, and lists the tools anew when told.
func (c *client) serve(ctx context.Context, l *link) string {
	timer := time.NewTimer(0)
	timer.Stop()
	defer timer.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return "stopped"
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

// sdkClient is a client that answers nothing but pings.
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

// list asks for the tools and notes them. The session has the new hashes before the
// store does: a tool that a person approves right away can be called.
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

// pages reads the list page by page.
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

// acquire is the session. A server that is down is waited for: one that went away lately
// for as long as a call of it may take, another one a little. An address is tried again
// all that time, a program once, for its starts are counted.
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

// resultOf is the label of an error.
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
