package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/plainjson"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// wireFrame is one frame in the encoding of GET /api/chat/{id}/events.
type wireFrame struct {
	platform.Frame

	Turns  []uimessage.Message `json:"turns,omitempty"` // the turns of Sees
	Chunks []json.RawMessage   `json:"chunks,omitempty"`
}

// events serves GET /api/chat/{id}/events: everything that happens in a chat. The first event is
// the chat's view, of kind view; then come its frames. A start frame carries the turns that it
// makes visible. A frame that repeats part of the view changes nothing, because messages are
// identified by their ids.
func (p *Platform) events(w http.ResponseWriter, r *http.Request, key messages.ChatKey) *respond.Problem {
	frames, err := p.live.Watch(r.Context(), key)
	if err != nil {
		return p.problem(r.Context(), key, "watch", err)
	}
	view, refusal := p.look(r.Context(), key)
	if refusal != nil {
		return refusal
	}
	s := p.openStream(w, readerOfChat(r, r.PathValue("id")))
	p.metrics.streams.Inc()
	defer p.metrics.streams.Dec()
	err = s.event(newWireView(view))
	if err == nil {
		err = p.pump(r.Context(), s, frames, taker{frame: func(fr platform.Frame) (bool, error) {
			return false, s.event(p.wire(r.Context(), key, fr))
		}})
	}
	if !errors.Is(err, errUnwatched) { // then the chat was passivated: nothing was missed, and readers may watch again
		p.finish(r, key, s, err)
	}
	return nil
}

// event sends any value as one server-sent event.
func (s *stream) event(v any) error {
	buf, err := plainjson.Append(append(s.buf[:0], "data: "...), v)
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	s.buf = append(buf, "\n\n"...)
	return s.flush()
}

func (p *Platform) wire(ctx context.Context, key messages.ChatKey, fr platform.Frame) wireFrame {
	out := wireFrame{Frame: fr}
	for _, c := range fr.Chunks {
		out.Chunks = append(out.Chunks, uistream.AppendJSON(nil, c))
	}
	if fr.Kind == platform.FrameStart && len(fr.Sees) > 0 {
		out.Turns = p.turns(ctx, key, fr.Sees)
	}
	return out
}

// turns returns the user turns with these ids, for readers that did not send them. It returns none
// if the history cannot be read now; readers then request the view.
func (p *Platform) turns(ctx context.Context, key messages.ChatKey, ids []string) []uimessage.Message {
	view, err := p.live.History(ctx, key)
	if err != nil {
		return nil
	}
	var out []uimessage.Message
	for _, m := range view.Messages {
		if m.Role == uimessage.RoleUser && slices.Contains(ids, m.ID) {
			out = append(out, m)
		}
	}
	return out
}
