package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// REPLOptions configure a [REPL]. Client, In and Out are required.
type REPLOptions struct {
	Client *Client
	Chat   string // name of the chat; default main
	In     io.Reader
	Out    io.Writer
	// Interrupts delivers Ctrl-C as signals. With a Screen it also arrives as a key.
	Interrupts <-chan os.Signal
	// Screen is set if In and Out are one terminal: lines can then be edited. Without it plain
	// lines are read and text is written as it arrives.
	Screen *Screen
	// HistoryFile stores the lines typed on a Screen; if empty, they are not stored.
	HistoryFile string
	Chinese     bool
}

// REPL is a line-based chat at a terminal. A line typed during an answer is sent at once and merged
// into the run.
type REPL struct {
	opts  REPLOptions
	print *printer
	words words

	running bool
	armed   bool            // the last action was Ctrl-C
	open    map[string]bool // turns sent from here without an outcome
	closed  bool            // there will be no more lines
	lost    bool
}

// NewREPL returns a REPL.
func NewREPL(opts REPLOptions) *REPL {
	if opts.Chat == "" {
		opts.Chat = "main"
	}
	w := english()
	if opts.Chinese {
		w = chinese()
	}
	return &REPL{opts: opts, words: w, open: map[string]bool{}}
}

// errLeave ends the loop.
var errLeave = errors.New("leave")

// Run chats until the user leaves, the input ends and everything is answered, or ctx ends. It fails
// with [ErrNotRunning] if there is no host at the start. It leaves one goroutine reading In, which
// ends with the next line or the end of In.
func (r *REPL) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	status, err := r.opts.Client.Status(ctx)
	if err != nil {
		return err
	}
	view, err := r.opts.Client.History(ctx, r.opts.Chat)
	if err != nil {
		return err
	}
	input := newInput(r.opts)
	defer input.close()
	r.print = newPrinter(input.out, r.words, r.opts.Screen)
	if r.opts.Screen != nil {
		r.print.note(fmt.Sprintf(r.words.hello, r.opts.Chat, status.Project, len(view.Messages)))
		if status.Demo {
			r.print.note(r.words.demo)
		}
	}
	events := make(chan watched)
	go r.follow(ctx, events)
	// Nothing is sent before the watch has started, so that no answer is missed.
	select {
	case w := <-events:
		r.onEvent(ctx, w)
	case <-ctx.Done():
		return nil
	}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	lines, interrupts := make(chan string), make(chan struct{})
	go input.read(ctx, lines)
	go r.interrupts(ctx, cancel, input.interrupts, interrupts)
	for {
		if err := r.next(ctx, sources{events, lines, interrupts, look.C}); err != nil {
			if errors.Is(err, errLeave) || ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
}

// lookEvery is how often turns without an outcome are checked while nothing happens.
const lookEvery = 3 * time.Second

// sources are the channels on which the loop waits.
type sources struct {
	events     <-chan watched
	lines      <-chan string
	interrupts <-chan struct{}
	look       <-chan time.Time
}

// interrupts hands over each Ctrl-C. A second one leaves if the first could not be handed over, because the loop waits
// for a host that does not answer.
func (r *REPL) interrupts(ctx context.Context, leave func(), keys <-chan struct{}, to chan<- struct{}) {
	var waits chan<- struct{} // to, while there is one to hand over
	for {
		select {
		case <-ctx.Done():
			return
		case waits <- struct{}{}:
			waits = nil
			continue
		case <-keys:
		case <-r.opts.Interrupts:
		}
		if waits != nil {
			leave()
		}
		waits = to
	}
}

// watched is an event, or the loss of the watch.
type watched struct {
	event Event
	lost  bool
}

// follow watches the chat for as long as the REPL lives.
func (r *REPL) follow(ctx context.Context, events chan<- watched) {
	send := func(w watched) {
		select {
		case events <- w:
		case <-ctx.Done():
		}
	}
	for tries := 0; ctx.Err() == nil; tries++ {
		failed := false
		for e, err := range r.opts.Client.Watch(ctx, r.opts.Chat) {
			if failed = err != nil; failed {
				break
			}
			tries = 0
			send(watched{event: e})
		}
		if failed {
			send(watched{lost: true})
		}
		pause := time.NewTimer(min(time.Duration(tries+1)*200*time.Millisecond, 3*time.Second))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
		}
	}
}

// next waits for one thing to happen and handles it.
func (r *REPL) next(ctx context.Context, from sources) error {
	if r.closed {
		from.lines = nil
		if len(r.open) == 0 && !r.running {
			return errLeave
		}
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case w := <-from.events:
		r.onEvent(ctx, w)
	case line, ok := <-from.lines:
		if !ok {
			return r.onInputEnd()
		}
		r.armed = false
		return r.onLine(ctx, strings.TrimSpace(line))
	case <-from.interrupts:
		return r.onInterrupt(ctx)
	case <-from.look:
		if len(r.open) == 0 || r.running {
			return nil
		}
		if view, err := r.opts.Client.History(ctx, r.opts.Chat); err == nil {
			r.onView(view)
		}
	}
	return nil
}

func (r *REPL) onEvent(ctx context.Context, w watched) {
	if w.lost {
		if !r.lost {
			r.lost = true
			r.print.note(r.words.lost)
		}
		return
	}
	if r.lost {
		r.lost = false
		r.print.note(r.words.back)
	}
	e := w.event
	switch e.Kind {
	case "view":
		r.onView(e.View)
	case platform.FrameStart:
		r.running = true
	case platform.FrameEnd:
		r.running = r.running && !e.Last
		r.settle(e.Settled)
	case platform.FrameSettled:
		r.settle(e.Settled)
	case platform.FrameChunks, platform.FrameEvent:
	}
	r.print.event(e)
	if e.Kind == platform.FrameEnd && e.Last && e.Result == "waiting" {
		if view, err := r.opts.Client.History(ctx, r.opts.Chat); err == nil {
			r.showRequests(view)
		}
	}
}

// showRequests shows what waits for a decision: in messages that were shown here, and on a terminal in all of them.
func (r *REPL) showRequests(v View) {
	for _, m := range v.Messages {
		if r.opts.Screen != nil || r.print.begun[m.ID] {
			r.print.requests(m)
		}
	}
}

// onView catches up after a gap in the watch: it shows answers that were not shown yet.
func (r *REPL) onView(v View) {
	r.running = v.Running
	waiting := map[string]bool{}
	for _, m := range v.Waiting {
		waiting[m.ID] = true
	}
	done := len(v.Messages)
	if v.Running { // the last message is not complete; its frames follow
		done--
	}
	asked := false
	for _, m := range v.Messages[:max(done, 0)] {
		if m.Role == uimessage.RoleUser {
			asked = asked || r.open[m.ID]
		} else if asked {
			r.print.late(m)
		}
	}
	r.showRequests(v)
	if v.Running {
		return
	}
	for id := range r.open {
		if !waiting[id] {
			delete(r.open, id)
		}
	}
}

func (r *REPL) settle(ids []string) {
	for _, id := range ids {
		delete(r.open, id)
	}
}

// onInputEnd leaves a terminal at once, but waits for the last answer of a script.
func (r *REPL) onInputEnd() error {
	if r.opts.Screen != nil {
		return errLeave
	}
	r.closed = true
	return nil
}

// onInterrupt stops the current answer; the second interrupt leaves.
func (r *REPL) onInterrupt(ctx context.Context) error {
	if r.armed {
		return errLeave
	}
	r.armed = true
	if r.running {
		r.stop(ctx, false)
	}
	r.print.note(r.words.again)
	return nil
}

func (r *REPL) stop(ctx context.Context, all bool) {
	was, err := r.opts.Client.Stop(ctx, r.opts.Chat, all)
	switch {
	case err != nil:
		r.print.note(Clean(err.Error()))
	case !was:
		r.print.note(r.words.nothing)
	}
}

func (r *REPL) onLine(ctx context.Context, line string) error {
	switch line {
	case "":
		return nil
	case "/quit", "/exit":
		return errLeave
	case "/help":
		r.print.note(r.words.help) // followed by the host's own help
	case "/stop", "/stop all":
		r.stop(ctx, line == "/stop all")
		return nil
	}
	id := rand.Text()
	r.open[id], r.print.mine[id] = true, true
	during := r.running
	_, answer, err := r.opts.Client.Send(ctx, r.opts.Chat, id, line)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		delete(r.open, id)
		r.print.note(Clean(err.Error()))
	case answer != "":
		delete(r.open, id)
		r.print.note(Clean(answer))
	case during:
		r.print.note(r.words.waiting)
	}
	return nil
}
