package web

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/request"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// fakeLive is a core whose runs are played by the test.
type fakeLive struct {
	mu       sync.Mutex
	chats    map[messages.ChatKey]*fakeChat
	accepted chan platform.Inbound
	watching chan messages.ChatKey
	// onAccept, if set, is called for each new turn on a goroutine of its own.
	onAccept  func(platform.Inbound)
	acceptErr error
	deaf      bool // frames are lost
	decline   string
	rewound   []string
	stops     []bool
	decisions []decided
	decideErr error
	// onDecide, if set, is called for decisions on a goroutine of its own.
	onDecide func(messages.ChatKey, []messages.Decision)
}

type fakeChat struct {
	ingress  map[string]string // ingress id -> turn id
	history  []uimessage.Message
	waiting  []uimessage.Message
	watchers map[chan platform.Frame]bool
	running  bool
	run      string
	message  string // the message in progress
	sees     []string
	chunks   []uistream.Chunk
	settles  []string
}

func newFakeLive() *fakeLive {
	return &fakeLive{
		chats: map[messages.ChatKey]*fakeChat{}, accepted: make(chan platform.Inbound, 100),
		watching: make(chan messages.ChatKey, 1000),
	}
}

func (l *fakeLive) chat(key messages.ChatKey) *fakeChat {
	c := l.chats[key]
	if c == nil {
		c = &fakeChat{ingress: map[string]string{}, watchers: map[chan platform.Frame]bool{}}
		l.chats[key] = c
	}
	return c
}

func (l *fakeLive) Status(bool, string) {}

func (l *fakeLive) Accept(_ context.Context, list []platform.Inbound) []platform.Result {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []platform.Result
	for _, in := range list {
		out = append(out, l.accept(in))
	}
	return out
}

func (l *fakeLive) accept(in platform.Inbound) platform.Result {
	if l.acceptErr != nil {
		return platform.Result{Err: l.acceptErr}
	}
	if l.decline != "" {
		return platform.Result{Declined: l.decline}
	}
	c := l.chat(in.ChatKey)
	if in.Kind == platform.KindCommand {
		l.accepted <- in
		return platform.Result{TurnID: in.TurnID, Answer: in.Command.Name + " " + in.Command.Args + "!"}
	}
	if turn, ok := c.ingress[in.IngressID]; ok {
		return platform.Result{TurnID: turn, Duplicate: true}
	}
	turn := in.TurnID
	if turn == "" {
		turn = "u:" + string(in.ChatKey) + ":" + in.MessageID
	}
	c.ingress[in.IngressID] = turn
	if !slices.ContainsFunc(c.history, func(m uimessage.Message) bool { return m.ID == turn }) {
		parts := []uimessage.Part{}
		if in.Text != "" {
			parts = append(parts, uimessage.Text{Text: in.Text})
		}
		m := uimessage.Message{ID: turn, Role: uimessage.RoleUser, Parts: append(parts, in.Parts...)}
		if strings.HasPrefix(in.IngressID, request.KeyPrefix) { // only those are looked up
			m.Metadata = uimessage.Metadata{IngressID: in.IngressID}.Append(nil)
		}
		c.waiting = append(c.waiting, m)
	} else {
		c.running = true
	}
	in.TurnID = turn
	l.accepted <- in
	if l.onAccept != nil {
		go l.onAccept(in)
	}
	return platform.Result{TurnID: turn}
}

func (l *fakeLive) Watch(ctx context.Context, key messages.ChatKey) (<-chan platform.Frame, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.chat(key)
	ch := make(chan platform.Frame, 4096)
	if c.message != "" {
		ch <- platform.Frame{
			Kind: platform.FrameStart, ChatKey: key, RunID: c.run, MessageID: c.message,
			Sees: c.sees, Chunks: slices.Clone(c.chunks), Replay: true,
		}
	}
	c.watchers[ch] = true
	context.AfterFunc(ctx, func() { l.unwatch(key, ch) })
	l.watching <- key
	return ch, nil
}

func (l *fakeLive) unwatch(key messages.ChatKey, ch chan platform.Frame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.chat(key); c.watchers[ch] {
		delete(c.watchers, ch)
		close(ch)
	}
}

// dropWatchers closes all watches, like a chat that is passivated.
func (l *fakeLive) dropWatchers(key messages.ChatKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for ch := range l.chat(key).watchers {
		delete(l.chat(key).watchers, ch)
		close(ch)
	}
}

func (l *fakeLive) History(_ context.Context, key messages.ChatKey) (platform.ChatView, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, ok := l.chats[key]
	if !ok || len(c.history)+len(c.waiting) == 0 && !c.running {
		return platform.ChatView{}, platform.ErrNotFound
	}
	view := platform.ChatView{Messages: slices.Clone(c.history), Waiting: slices.Clone(c.waiting), Running: c.running}
	if c.message != "" {
		view.Messages = append(view.Messages, c.build())
	}
	return view, nil
}

func (c *fakeChat) build() uimessage.Message {
	r := uistream.NewWriter(nil, c.message)
	for _, chunk := range c.chunks {
		if _, err := r.Apply(chunk); err != nil {
			panic(err)
		}
	}
	return r.Snapshot()
}

func (l *fakeLive) Stop(_ context.Context, key messages.ChatKey, _ platform.Person, all bool) (bool, error) {
	l.mu.Lock()
	l.stops = append(l.stops, all)
	was := l.chat(key).running
	l.mu.Unlock()
	if was {
		l.end(key, true, "stopped")
	}
	return was, nil
}

func (l *fakeLive) Rewind(_ context.Context, key messages.ChatKey, keep string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.chat(key)
	if c.running {
		return platform.ErrBusy
	}
	i := -1
	if keep != "" {
		if i = slices.IndexFunc(c.history, func(m uimessage.Message) bool { return m.ID == keep }); i < 0 {
			return platform.ErrNotFound
		}
	}
	c.history = c.history[:i+1]
	l.rewound = append(l.rewound, keep)
	return nil
}

// Decide answers based on the requests in the chat's messages; the test plays the rest.
func (l *fakeLive) Decide(_ context.Context, key messages.ChatKey, by platform.Person, say []messages.Decision) ([]messages.DecisionOutcome, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []messages.DecisionOutcome
	for _, d := range say {
		out = append(out, l.chat(key).decide(d))
	}
	l.decisions = append(l.decisions, decided{by, say})
	if l.onDecide != nil {
		go l.onDecide(key, say)
	}
	return out, l.decideErr
}

type decided struct {
	by  platform.Person
	say []messages.Decision
}

func (c *fakeChat) decide(d messages.Decision) messages.DecisionOutcome {
	out := messages.DecisionOutcome{ApprovalID: d.ApprovalID, Is: messages.DecisionUnknown}
	for i, m := range c.history {
		for j, p := range m.Parts {
			t, ok := p.(uimessage.Tool)
			if !ok || t.Approval == nil || t.Approval.ID != d.ApprovalID {
				continue
			}
			out.MessageID, out.Late, out.Is = m.ID, i < len(c.history)-1, messages.DecisionAlready
			if t.State == uimessage.ToolApprovalRequested {
				t.State, t.Approval = uimessage.ToolApprovalResponded, &uimessage.Approval{ID: d.ApprovalID, Approved: uimessage.Some(d.Approved)}
				c.history[i].Parts = slices.Clone(m.Parts)
				c.history[i].Parts[j] = t
				out.Is = messages.DecisionDone
			}
		}
	}
	return out
}

// send sends a frame to all watchers and drops those that are full.
func (l *fakeLive) send(c *fakeChat, f platform.Frame) {
	if l.deaf {
		return
	}
	for ch := range c.watchers {
		select {
		case ch <- f:
		default:
			delete(c.watchers, ch)
			close(ch)
		}
	}
}

// start begins a message that sees all pending turns.
func (l *fakeLive) start(key messages.ChatKey, run, message string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.chat(key)
	c.running, c.run, c.message, c.chunks, c.sees = true, run, message, nil, nil
	for _, m := range c.waiting {
		c.sees = append(c.sees, m.ID)
	}
	if n := len(c.history); len(c.sees) == 0 && n > 0 && c.history[n-1].Role == uimessage.RoleUser {
		c.sees = []string{c.history[n-1].ID}
	}
	c.history = append(c.history, c.waiting...)
	c.waiting = nil
	c.settles = append(c.settles, c.sees...)
	l.send(c, platform.Frame{Kind: platform.FrameStart, ChatKey: key, RunID: run, MessageID: message, Sees: c.sees})
}

func (l *fakeLive) chunk(key messages.ChatKey, list ...uistream.Chunk) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.chat(key)
	c.chunks = append(c.chunks, list...)
	l.send(c, platform.Frame{Kind: platform.FrameChunks, ChatKey: key, RunID: c.run, MessageID: c.message, Chunks: list})
}

func (l *fakeLive) say(key messages.ChatKey, text string) {
	l.chunk(key, uistream.StartStep{}, uistream.TextStart{ID: "t"}, uistream.TextDelta{ID: "t", Delta: text},
		uistream.TextEnd{ID: "t"}, uistream.FinishStep{})
}

// end ends the message; with last the run has ended and its outcomes are known.
func (l *fakeLive) end(key messages.ChatKey, last bool, result string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.chat(key)
	m := c.build()
	meta := uimessage.Metadata{ChatKey: string(key), RunID: c.run, Demo: true}
	f := platform.Frame{Kind: platform.FrameEnd, ChatKey: key, RunID: c.run, MessageID: c.message, Last: last}
	if last {
		meta.Result, f.Result, f.Settled = result, result, c.settles
		for i, id := range c.settles {
			fate := uimessage.FateRecord{ID: id, Fate: uimessage.FateAnswered, RunID: c.run}
			if i > 0 {
				fate.Fate, fate.Step = uimessage.FateMerged, int64(i+1)
			}
			meta.Fates = append(meta.Fates, fate)
		}
		c.settles, c.running = nil, false
	}
	m.Metadata = meta.Raw()
	c.history, c.message, c.chunks = append(c.history, m), "", nil
	l.send(c, f)
}

// next waits for the next accepted turn.
func (l *fakeLive) next(t *testing.T) platform.Inbound {
	t.Helper()
	select {
	case in := <-l.accepted:
		return in
	case <-time.After(10 * time.Second):
		t.Fatal("no turn was accepted")
		return platform.Inbound{}
	}
}

// watched waits until the chat is being watched.
func (l *fakeLive) watched(t *testing.T, key messages.ChatKey) {
	t.Helper()
	for {
		select {
		case got := <-l.watching:
			if got == key {
				return
			}
		case <-time.After(10 * time.Second):
			t.Fatal("nobody watches")
		}
	}
}

// echo answers each turn on its own, like the demo model.
func (l *fakeLive) echo(in platform.Inbound) {
	l.start(in.ChatKey, "run-"+in.TurnID, "a-"+in.TurnID+request.NewID("-"))
	l.say(in.ChatKey, "You said: "+in.Text)
	l.end(in.ChatKey, true, "done")
}

// seed gives a chat a history; roles follow from the first letters of the ids.
func (l *fakeLive) seed(key messages.ChatKey, ids ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.chat(key)
	for _, id := range ids {
		role := uimessage.RoleUser
		if strings.HasPrefix(id, "a") {
			role = uimessage.RoleAssistant
		}
		c.history = append(c.history, uimessage.Message{ID: id, Role: role, Parts: []uimessage.Part{uimessage.Text{Text: "text of " + id}}})
		c.ingress[id] = id
	}
}

// restart discards the message so far.
func (l *fakeLive) restart(key messages.ChatKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.chat(key)
	c.chunks = nil
	l.send(c, platform.Frame{Kind: platform.FrameStart, ChatKey: key, RunID: c.run, MessageID: c.message, Sees: c.sees, Replay: true})
}
