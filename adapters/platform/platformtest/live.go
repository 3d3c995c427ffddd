package platformtest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// Live is a core for platforms whose readers follow chats. It accepts messages like [Host], and the test plays its runs.
// A test sets the fields before the first use or with the lock held.
type Live struct {
	*Host
	sync.Mutex
	chats map[messages.ChatKey]*LiveChat
	runs  int
	read  int // how many messages [Live.Next] has returned

	// OnAccept, if set, is called for each new turn, and OnDecide for decisions, on goroutines of their own.
	OnAccept func(platform.Inbound)
	OnDecide func(messages.ChatKey, []messages.Decision)
	Deaf     bool   // frames are lost
	Decline  string // the reason for declining messages; if empty, they are accepted
	// DecidesAll accepts decisions even about requests that are in no message.
	DecidesAll bool
	DecideErr  error
	Rewound    []string
	Stops      []bool
	Decisions  []Decided
}

var _ platform.Live = (*Live)(nil)

// Decided are decisions that arrived together.
type Decided struct {
	By  platform.Person
	Say []messages.Decision
}

// LiveChat is a chat of a [Live].
type LiveChat struct {
	History []uimessage.Message
	Waiting []uimessage.Message
	Running bool
	Run     string
	Message string // the message in progress
	Chunks  []uistream.Chunk

	live     *Live
	key      messages.ChatKey
	watchers map[chan platform.Frame]bool
	watches  int // watches that have begun and that Watched has not returned for
	sees     []string
	settles  []string
}

// NewLive returns a core that accepts everything.
func NewLive() *Live { return &Live{Host: NewHost(), chats: map[messages.ChatKey]*LiveChat{}} }

// Chat returns the chat of a key. It is called with the lock held.
func (l *Live) Chat(key messages.ChatKey) *LiveChat {
	c := l.chats[key]
	if c == nil {
		c = &LiveChat{live: l, key: key, watchers: map[chan platform.Frame]bool{}}
		l.chats[key] = c
	}
	return c
}

// Accept implements [platform.Host]. Accepted messages wait for an answer.
func (l *Live) Accept(ctx context.Context, list []platform.Inbound) []platform.Result {
	l.Lock() // an accepted message can be answered at once
	defer l.Unlock()
	var out []platform.Result
	for _, in := range list {
		if l.Decline != "" {
			out = append(out, platform.Result{Declined: l.Decline})
			continue
		}
		isTurn := in.Kind != platform.KindCommand
		if isTurn {
			in.TurnID = cmp.Or(in.TurnID, "u:"+string(in.ChatKey)+":"+in.MessageID)
		}
		r := l.Host.Accept(ctx, []platform.Inbound{in})[0]
		switch {
		case r.Err != nil:
		case !isTurn:
			r = platform.Result{TurnID: in.TurnID, Answer: in.Command.Name + " " + in.Command.Args + "!"}
		case !r.Duplicate:
			l.Chat(in.ChatKey).take(in)
			if l.OnAccept != nil {
				go l.OnAccept(in)
			}
		}
		out = append(out, r)
	}
	return out
}

// take queues a turn, unless the history has it already.
func (c *LiveChat) take(in platform.Inbound) {
	if slices.ContainsFunc(c.History, func(m uimessage.Message) bool { return m.ID == in.TurnID }) {
		c.Running = true
		return
	}
	parts := []uimessage.Part{}
	if in.Text != "" {
		parts = append(parts, uimessage.Text{Text: in.Text})
	}
	m := uimessage.Message{ID: in.TurnID, Role: uimessage.RoleUser, Parts: append(parts, in.Parts...)}
	if in.IngressID != in.TurnID { // only ids of programs are looked up
		m.Metadata = uimessage.Metadata{IngressID: in.IngressID}.Append(nil)
	}
	c.Waiting = append(c.Waiting, m)
}

// Next waits for the next accepted message.
func (l *Live) Next(tb testing.TB) platform.Inbound {
	tb.Helper()
	in := l.AwaitAccepted(tb, l.read+1)[l.read]
	l.read++
	return in
}

// Unread is the number of accepted messages that [Live.Next] has not returned.
func (l *Live) Unread() int { return len(l.Accepted()) - l.read }

// Watch implements [platform.Live].
func (l *Live) Watch(ctx context.Context, key messages.ChatKey) (<-chan platform.Frame, error) {
	defer l.Signal()
	l.Lock()
	defer l.Unlock()
	c := l.Chat(key)
	ch := make(chan platform.Frame, 4096)
	if c.Message != "" {
		ch <- c.frame(platform.Frame{Kind: platform.FrameStart, Sees: c.sees, Chunks: slices.Clone(c.Chunks), Replay: true})
	}
	c.watchers[ch] = true
	c.watches++
	context.AfterFunc(ctx, func() {
		l.Lock()
		defer l.Unlock()
		c.drop(ch)
	})
	return ch, nil
}

func (c *LiveChat) drop(ch chan platform.Frame) {
	if c.watchers[ch] {
		delete(c.watchers, ch)
		close(ch)
	}
}

// Watched waits until one more watch of a chat begins.
func (l *Live) Watched(tb testing.TB, key messages.ChatKey) {
	tb.Helper()
	l.Await(tb, "a reader", func() bool {
		l.Lock()
		defer l.Unlock()
		if l.Chat(key).watches == 0 {
			return false
		}
		l.Chat(key).watches--
		return true
	})
}

// DropWatchers closes all watches, like a chat that is passivated.
func (l *Live) DropWatchers(key messages.ChatKey) {
	l.Lock()
	defer l.Unlock()
	for ch := range l.Chat(key).watchers {
		l.Chat(key).drop(ch)
	}
}

// History implements [platform.Live].
func (l *Live) History(_ context.Context, key messages.ChatKey) (platform.ChatView, error) {
	l.Lock()
	defer l.Unlock()
	c := l.chats[key]
	if c == nil || len(c.History)+len(c.Waiting) == 0 && !c.Running {
		return platform.ChatView{}, platform.ErrNotFound
	}
	view := platform.ChatView{Messages: slices.Clone(c.History), Waiting: slices.Clone(c.Waiting), Running: c.Running}
	if c.Message != "" {
		view.Messages = append(view.Messages, c.build())
	}
	return view, nil
}

func (c *LiveChat) build() uimessage.Message {
	r := uistream.NewWriter(nil, c.Message)
	for _, chunk := range c.Chunks {
		if _, err := r.Apply(chunk); err != nil {
			panic(err) // the test plays something that no run does
		}
	}
	return r.Snapshot()
}

// Stop implements [platform.Live].
func (l *Live) Stop(_ context.Context, key messages.ChatKey, _ platform.Person, all bool) (bool, error) {
	l.Lock()
	defer l.Unlock()
	l.Stops = append(l.Stops, all)
	c := l.Chat(key)
	was := c.Running
	if was {
		c.end(true, "stopped")
	}
	return was, nil
}

// Rewind implements [platform.Live].
func (l *Live) Rewind(_ context.Context, key messages.ChatKey, keep string) error {
	l.Lock()
	defer l.Unlock()
	c := l.Chat(key)
	if c.Running {
		return platform.ErrBusy
	}
	i := -1
	if keep != "" {
		if i = slices.IndexFunc(c.History, func(m uimessage.Message) bool { return m.ID == keep }); i < 0 {
			return platform.ErrNotFound
		}
	}
	c.History = c.History[:i+1]
	l.Rewound = append(l.Rewound, keep)
	return nil
}

// Decide implements [platform.Live]: it answers based on the requests in the chat's messages; the test plays the rest.
func (l *Live) Decide(_ context.Context, key messages.ChatKey, by platform.Person, say []messages.Decision) ([]messages.DecisionOutcome, error) {
	l.Lock()
	defer l.Unlock()
	var out []messages.DecisionOutcome
	for _, d := range say {
		o := l.Chat(key).decide(d)
		if l.DecidesAll && o.Is == messages.DecisionUnknown {
			o.Is, o.Late = messages.DecisionDone, true
		}
		out = append(out, o)
	}
	l.Decisions = append(l.Decisions, Decided{by, say})
	if l.OnDecide != nil {
		go l.OnDecide(key, say)
	}
	return out, l.DecideErr
}

func (c *LiveChat) decide(d messages.Decision) messages.DecisionOutcome {
	out := messages.DecisionOutcome{ApprovalID: d.ApprovalID, Is: messages.DecisionUnknown}
	for i, m := range c.History {
		for j, p := range m.Parts {
			t, ok := p.(uimessage.Tool)
			if !ok || t.Approval == nil || t.Approval.ID != d.ApprovalID {
				continue
			}
			out.MessageID, out.Late, out.Is = m.ID, i < len(c.History)-1, messages.DecisionAlready
			if t.State == uimessage.ToolApprovalRequested {
				t.State, t.Approval = uimessage.ToolApprovalResponded, &uimessage.Approval{ID: d.ApprovalID, Approved: uimessage.Some(d.Approved)}
				c.History[i].Parts = slices.Clone(m.Parts)
				c.History[i].Parts[j] = t
				out.Is = messages.DecisionDone
			}
		}
	}
	return out
}

// Decided are the decisions that arrived, in order.
func (l *Live) Decided() (out []messages.Decision) {
	l.Lock()
	defer l.Unlock()
	for _, d := range l.Decisions {
		out = append(out, d.Say...)
	}
	return out
}

func (c *LiveChat) frame(f platform.Frame) platform.Frame {
	f.ChatKey, f.RunID, f.MessageID = c.key, c.Run, c.Message
	return f
}

// Send sends a frame to all watchers and drops those that are too slow.
func (c *LiveChat) Send(f platform.Frame) {
	if c.live.Deaf {
		return
	}
	for ch := range c.watchers {
		select {
		case ch <- f:
		default:
			c.drop(ch)
		}
	}
}

// Start begins a message that answers all waiting turns.
func (l *Live) Start(key messages.ChatKey, run, message string) {
	l.Lock()
	defer l.Unlock()
	l.Chat(key).start(run, message)
}

func (c *LiveChat) start(run, message string) {
	c.Running, c.Run, c.Message, c.Chunks, c.sees = true, run, message, nil, nil
	for _, m := range c.Waiting {
		c.sees = append(c.sees, m.ID)
	}
	if n := len(c.History); len(c.sees) == 0 && n > 0 && c.History[n-1].Role == uimessage.RoleUser {
		c.sees = []string{c.History[n-1].ID}
	}
	c.History, c.Waiting = append(c.History, c.Waiting...), nil
	c.settles = append(c.settles, c.sees...)
	c.Send(c.frame(platform.Frame{Kind: platform.FrameStart, Sees: c.sees}))
}

// Chunk adds chunks to the message in progress.
func (l *Live) Chunk(key messages.ChatKey, list ...uistream.Chunk) {
	l.Lock()
	defer l.Unlock()
	l.Chat(key).chunk(list...)
}

func (c *LiveChat) chunk(list ...uistream.Chunk) {
	c.Chunks = append(c.Chunks, list...)
	c.Send(c.frame(platform.Frame{Kind: platform.FrameChunks, Chunks: list}))
}

// Say adds a step with one text to the message in progress.
func (l *Live) Say(key messages.ChatKey, text string) { l.Chunk(key, step(text)...) }

func step(text string) []uistream.Chunk {
	return []uistream.Chunk{uistream.StartStep{}, uistream.TextStart{ID: "t"}, uistream.TextDelta{ID: "t", Delta: text}, uistream.TextEnd{ID: "t"}, uistream.FinishStep{}}
}

// End ends the message. If last is set, the run has ended and its outcomes are known.
func (l *Live) End(key messages.ChatKey, last bool, result string) {
	l.Lock()
	defer l.Unlock()
	l.Chat(key).end(last, result)
}

func (c *LiveChat) end(last bool, result string) {
	m := c.build()
	meta := uimessage.Metadata{ChatKey: string(c.key), RunID: c.Run, Demo: true}
	f := c.frame(platform.Frame{Kind: platform.FrameEnd, Last: last})
	if last {
		meta.Result, f.Result, f.Settled = result, result, c.settles
		for i, id := range c.settles {
			fate := uimessage.FateRecord{ID: id, Fate: uimessage.FateAnswered, RunID: c.Run}
			if i > 0 {
				fate.Fate, fate.Step = uimessage.FateMerged, int64(i+1)
			}
			meta.Fates = append(meta.Fates, fate)
		}
		c.settles, c.Running = nil, false
	}
	m.Metadata = meta.Raw()
	c.History, c.Message, c.Chunks = append(c.History, m), "", nil
	c.Send(f)
}

// Answer answers the waiting turns of a chat with a text, in one run.
func (l *Live) Answer(key messages.ChatKey, text string) {
	l.Lock()
	defer l.Unlock()
	l.runs++
	c := l.Chat(key)
	c.start(fmt.Sprintf("run-%d", l.runs), fmt.Sprintf("a-%d", l.runs))
	c.chunk(step(text)...)
	c.end(true, "done")
}

// Echo answers a turn like the demo model.
func (l *Live) Echo(in platform.Inbound) { l.Answer(in.ChatKey, "You said: "+in.Text) }

// Seed gives a chat a history; roles follow from the first letters of the ids.
func (l *Live) Seed(key messages.ChatKey, ids ...string) {
	l.Lock()
	defer l.Unlock()
	c := l.Chat(key)
	for _, id := range ids {
		role := uimessage.RoleUser
		if strings.HasPrefix(id, "a") {
			role = uimessage.RoleAssistant
		}
		c.History = append(c.History, uimessage.Message{ID: id, Role: role, Parts: []uimessage.Part{uimessage.Text{Text: "text of " + id}}})
		l.Know(key, id, id)
	}
}

// Restart discards the message so far.
func (l *Live) Restart(key messages.ChatKey) {
	l.Lock()
	defer l.Unlock()
	c := l.Chat(key)
	c.Chunks = nil
	c.Send(c.frame(platform.Frame{Kind: platform.FrameStart, Sees: c.sees, Replay: true}))
}
