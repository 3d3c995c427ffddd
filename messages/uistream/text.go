package uistream

import (
	"encoding/json"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/internal/rawjson"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// openText is a text or reasoning part that grows. Strings taken from the builder do
// not change while it grows, so neither do parts that were handed out.
type openText struct {
	index     int
	id        uimessage.Optional[string]
	reasoning bool
	text      strings.Builder
	state     uimessage.TextState
	metadata  json.RawMessage
	dirty     bool
}

func (o *openText) flush(parts []uimessage.Part) {
	o.dirty = false
	if o.reasoning {
		parts[o.index] = uimessage.Reasoning{ID: o.id, Text: o.text.String(), State: o.state, ProviderMetadata: o.metadata}
		return
	}
	parts[o.index] = uimessage.Text{Text: o.text.String(), State: o.state, ProviderMetadata: o.metadata}
}

func (c TextStart) apply(r *Reducer) (bool, error) {
	r.texts[c.ID] = r.openText(&openText{metadata: c.ProviderMetadata})
	return true, nil
}

func (c TextDelta) apply(r *Reducer) (bool, error) {
	return true, r.growText(c.Type(), r.texts[c.ID], c.ID, c.Delta, c.ProviderMetadata)
}

func (c TextEnd) apply(r *Reducer) (bool, error) {
	return true, r.endText(c.Type(), r.texts, c.ID, c.ProviderMetadata)
}

func (c ReasoningStart) apply(r *Reducer) (bool, error) {
	r.reasonings[c.ID] = r.openText(&openText{reasoning: true, id: uimessage.Some(c.ID), metadata: c.ProviderMetadata})
	return true, nil
}

func (c ReasoningDelta) apply(r *Reducer) (bool, error) {
	return true, r.growText(c.Type(), r.reasonings[c.ID], c.ID, c.Delta, c.ProviderMetadata)
}

func (c ReasoningEnd) apply(r *Reducer) (bool, error) {
	return true, r.endText(c.Type(), r.reasonings, c.ID, c.ProviderMetadata)
}

// openText adds an empty part that grows.
func (r *Reducer) openText(o *openText) *openText {
	o.index = len(r.msg.Parts)
	o.state = uimessage.TextStreaming
	r.msg.Parts = append(r.msg.Parts, nil)
	o.flush(r.msg.Parts)
	return o
}

func (r *Reducer) growText(chunkType string, o *openText, id, delta string, metadata json.RawMessage) error {
	if o == nil {
		return &StreamError{ChunkType: chunkType, ID: id, Missing: "open part"}
	}
	o.text.WriteString(delta)
	if m := rawjson.NotNull(metadata); len(m) > 0 {
		o.metadata = m
	}
	r.touch(o, &o.dirty)
	return nil
}

func (r *Reducer) endText(chunkType string, open map[string]*openText, id string, metadata json.RawMessage) error {
	o := open[id]
	if err := r.growText(chunkType, o, id, "", metadata); err != nil {
		return err
	}
	o.state = uimessage.TextDone
	delete(open, id)
	return nil
}
