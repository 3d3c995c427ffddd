package adapter

import (
	"context"
	"crypto/rand"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// A reader may lag by this many frames, and by this many bytes of contents unless a single frame is
// larger.
const (
	watchBuffer = 256
	watchBytes  = 1 << 20
)

// watch is one reader that follows a chat.
type watch struct {
	key     messages.ChatKey
	frames  chan platform.Frame
	backlog *backlog
}

// backlog computes how many bytes a reader has not received yet, without its help: the sizes of the
// newest frames, as many as are still buffered.
type backlog struct {
	sums [watchBuffer + 1]int64 // total bytes up to each of the newest frames
	n    int
}

// by returns the bytes of the given number of waiting frames.
func (b *backlog) by(frames int) int64 {
	return b.sums[b.n%len(b.sums)] - b.sums[(b.n-frames)%len(b.sums)]
}

func (b *backlog) add(bytes int64) {
	sum := b.sums[b.n%len(b.sums)] + bytes
	b.n++
	b.sums[b.n%len(b.sums)] = sum
}

// watchOpened and watchClosed come from [Port.Watch].
type watchOpened struct {
	id string
	watch
}

type watchClosed struct{ id string }

// watchReady answers watchOpened: the question is in the chat's mailbox before anything that is
// sent from now on, so that no frame is missed.
type watchReady struct{}

// Watch implements [platform.Live].
func (p *Port) Watch(ctx context.Context, key messages.ChatKey) (<-chan platform.Frame, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w := watchOpened{id: rand.Text(), watch: watch{key: key, frames: make(chan platform.Frame, watchBuffer), backlog: &backlog{}}}
	if _, err := p.reply(ctx, p.root.RequestFuture(p.adapter, w, acceptDeadline)); err != nil {
		p.root.Send(p.adapter, watchClosed{w.id}) // it may still open
		return nil, err
	}
	context.AfterFunc(ctx, func() { p.root.Send(p.adapter, watchClosed{w.id}) })
	return w.frames, nil
}

func (a *adapter) openWatch(ac actor.Context, w watchOpened) {
	a.watches[w.id] = w.watch
	ac.Request(a.Router, messages.WatchChat{ChatKey: w.key, WatchID: w.id})
	ac.Respond(watchReady{})
}

func (a *adapter) closeWatch(ac actor.Context, id string) {
	w, ok := a.watches[id]
	if !ok {
		return
	}
	a.endWatch(id)
	ac.Request(a.Router, messages.UnwatchChat{ChatKey: w.key, WatchID: id})
}

func (a *adapter) endWatch(id string) {
	if w, ok := a.watches[id]; ok {
		delete(a.watches, id)
		close(w.frames)
	}
}

// progress passes a frame to its reader; a reader that is too slow is released and may watch again.
func (a *adapter) progress(ac actor.Context, msg messages.ChatProgressed) {
	w, ok := a.watches[msg.WatchID]
	if !ok {
		return
	}
	bytes := weight(msg)
	if waiting := len(w.frames); waiting > 0 && w.backlog.by(waiting)+bytes > watchBytes {
		a.closeWatch(ac, msg.WatchID)
		return
	}
	select {
	case w.frames <- frame(msg):
		w.backlog.add(bytes)
	default:
		a.closeWatch(ac, msg.WatchID)
	}
}

// weight is the approximate size of a frame in bytes.
func weight(m messages.ChatProgressed) int64 {
	n := len(m.Text) + 64
	for _, c := range m.Chunks {
		n += 64
		switch c := c.(type) {
		case uistream.TextDelta:
			n += len(c.Delta)
		case uistream.ReasoningDelta:
			n += len(c.Delta)
		case uistream.ToolInputDelta:
			n += len(c.Delta)
		case uistream.ToolInputAvailable:
			n += len(c.Input)
		case uistream.ToolOutputAvailable:
			n += len(c.Output)
		default: // short
		}
	}
	return int64(n)
}

func frame(m messages.ChatProgressed) platform.Frame {
	return platform.Frame{
		Kind: platform.FrameKind(m.Kind), ChatKey: m.ChatKey, RunID: m.RunID, MessageID: m.MessageID, Sees: m.Sees,
		Chunks: m.Chunks, Replay: m.Replay, Last: m.Last, Result: m.Result, Settled: m.Settled,
		Event: platform.Event{Name: m.Event, Step: m.Step, Text: m.Text},
	}
}
