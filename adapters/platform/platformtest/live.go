package platformtest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// Live is a core for platforms whose readers follow chats. It takes messages as [Host]
// does and answers when it is told to, with runs of one message. It is safe for
// concurrent use.
type Live struct {
	*Host
	mu      sync.Mutex
	chats   map[messages.ChatKey]*liveChat
	decided []messages.Decision
	answers int
}

var _ platform.Live = (*Live)(nil)

// liveChat is a chat of a Live.
type liveChat struct {
	history  []uimessage.Message
	waiting  []uimessage.Message
	watchers map[chan platform.Frame]bool
}

// maxFrames is how many frames a reader may be behind.
const maxFrames = 1024

// NewLive returns a core that takes everything.
func NewLive() *Live { return &Live{Host: NewHost(), chats: map[messages.ChatKey]*liveChat{}} }

func (l *Live) chat(key messages.ChatKey) *liveChat {
	c := l.chats[key]
	if c == nil {
		c = &liveChat{watchers: map[chan platform.Frame]bool{}}
		l.chats[key] = c
	}
	return c
}

// Accept implements [platform.Host]: what it takes waits for an answer.
func (l *Live) Accept(ctx context.Context, in []platform.Inbound) []platform.Result {
	l.mu.Lock() // what is taken can be answered
	defer l.mu.Unlock()
	out := l.Host.Accept(ctx, in)
	for i, x := range in {
		if out[i].Err != nil || out[i].Duplicate {
			continue
		}
		m := uimessage.Message{ID: out[i].TurnID, Role: uimessage.RoleUser, Parts: append([]uimessage.Part{uimessage.Text{Text: x.Text}}, x.Parts...)}
		c := l.chat(x.ChatKey)
		c.waiting = append(c.waiting, m)
	}
	return out
}

// Answer answers what waits in a chat with a text, in one run.
func (l *Live) Answer(key messages.ChatKey, text string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.chat(key)
	l.answers++
	run, id := fmt.Sprintf("run-%d", l.answers), fmt.Sprintf("a-%d", l.answers)
	meta := uimessage.Metadata{ChatKey: string(key), RunID: run, Result: "done"}
	var sees []string
	for _, m := range c.waiting {
		sees = append(sees, m.ID)
		meta.Fates = append(meta.Fates, uimessage.FateRecord{ID: m.ID, Fate: uimessage.FateAnswered, RunID: run})
	}
	c.history, c.waiting = append(c.history, c.waiting...), nil
	chunks := []uistream.Chunk{uistream.StartStep{}, uistream.TextStart{ID: "t"}, uistream.TextDelta{ID: "t", Delta: text}, uistream.TextEnd{ID: "t"}, uistream.FinishStep{}}
	w := uistream.NewWriter(nil, id)
	for _, chunk := range chunks {
		if _, err := w.Apply(chunk); err != nil {
			return fmt.Errorf("answer: %w", err)
		}
	}
	m := w.Snapshot()
	m.Metadata = meta.Raw()
	c.history = append(c.history, m)
	frame := platform.Frame{ChatKey: key, RunID: run, MessageID: id}
	for _, f := range []platform.Frame{
		{Kind: platform.FrameStart, Sees: sees},
		{Kind: platform.FrameChunks, Chunks: chunks},
		{Kind: platform.FrameEnd, Last: true, Result: "done", Settled: sees},
	} {
		f.ChatKey, f.RunID, f.MessageID = frame.ChatKey, frame.RunID, frame.MessageID
		c.send(f)
	}
	return nil
}

// send gives a frame to all who watch; who is too slow is dropped.
func (c *liveChat) send(f platform.Frame) {
	for ch := range c.watchers {
		select {
		case ch <- f:
		default:
			delete(c.watchers, ch)
			close(ch)
		}
	}
}

// Watch implements [platform.Live].
func (l *Live) Watch(ctx context.Context, key messages.ChatKey) (<-chan platform.Frame, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, ch := l.chat(key), make(chan platform.Frame, maxFrames)
	c.watchers[ch] = true
	context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if c.watchers[ch] {
			delete(c.watchers, ch)
			close(ch)
		}
	})
	return ch, nil
}

// History implements [platform.Live].
func (l *Live) History(_ context.Context, key messages.ChatKey) (platform.ChatView, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.chat(key)
	if len(c.history)+len(c.waiting) == 0 {
		return platform.ChatView{}, platform.ErrNotFound
	}
	return platform.ChatView{Messages: slices.Clone(c.history), Waiting: slices.Clone(c.waiting)}, nil
}

// Stop implements [platform.Live]: no run lasts.
func (*Live) Stop(context.Context, messages.ChatKey, platform.Person, bool) (bool, error) {
	return false, nil
}

// Rewind implements [platform.Live]: nothing may be cut.
func (*Live) Rewind(context.Context, messages.ChatKey, string) error { return platform.ErrNotFound }

// Decide implements [platform.Live]: it takes every decision.
func (l *Live) Decide(_ context.Context, _ messages.ChatKey, _ platform.Person, say []messages.Decision) ([]messages.DecisionOutcome, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []messages.DecisionOutcome
	for _, d := range say {
		l.decided = append(l.decided, d)
		out = append(out, messages.DecisionOutcome{ApprovalID: d.ApprovalID, Is: messages.DecisionDone, Late: true})
	}
	return out, nil
}

// Decided are the decisions that came, in order.
func (l *Live) Decided() []messages.Decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.decided)
}
