package adapter

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

// watchBuffer is how many frames a reader may be behind. Frames are coalesced
// and hold a few kilobytes at most, so this is about a mebibyte.
const watchBuffer = 256

// watch is one reader that follows a chat.
type watch struct {
	key    messages.ChatKey
	frames chan platform.Frame
}

// watchOpened and watchClosed come from [Port.Watch].
type watchOpened struct {
	id string
	watch
}

type watchClosed struct{ id string }

// watchReady answers watchOpened: the chat's mailbox has the question before
// anything that is sent from now on, so that no frame is missed.
type watchReady struct{}

// Watch implements [platform.Live].
func (p *Port) Watch(ctx context.Context, key messages.ChatKey) (<-chan platform.Frame, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w := watchOpened{id: rand.Text(), watch: watch{key: key, frames: make(chan platform.Frame, watchBuffer)}}
	if _, err := p.root.RequestFuture(p.adapter, w, acceptDeadline).Result(); err != nil {
		return nil, errors.Join(platform.ErrUnavailable, err)
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

// progress hands a frame to its reader; one that is too slow is let go and may
// watch again.
func (a *adapter) progress(ac actor.Context, msg messages.ChatProgressed) {
	w, ok := a.watches[msg.WatchID]
	if !ok {
		return
	}
	select {
	case w.frames <- frame(msg):
	default:
		a.closeWatch(ac, msg.WatchID)
	}
}

func frame(m messages.ChatProgressed) platform.Frame {
	return platform.Frame{
		Kind: platform.FrameKind(m.Kind), ChatKey: m.ChatKey, RunID: m.RunID, MessageID: m.MessageID, Sees: m.Sees,
		Chunks: m.Chunks, Replay: m.Replay, Last: m.Last, Result: m.Result, Settled: m.Settled,
		Event: platform.Event{Name: m.Event, Step: m.Step, Text: m.Text},
	}
}
