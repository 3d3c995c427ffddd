package uistream

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/shipmyagent/shipmyagent/messages/internal/rawjson"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// ErrMetadata is the error of a metadata chunk that cannot be merged, because the
// metadata of the message is not an object.
var ErrMetadata = errors.New("metadata is not an object to merge into")

// StreamError is a chunk that refers to something the stream never opened.
type StreamError struct {
	// ChunkType and ID name the chunk.
	ChunkType string
	ID        string
	// Missing is what should have been opened before.
	Missing string
}

// Error implements error.
func (e *StreamError) Error() string {
	return fmt.Sprintf("chunk %s: no %s with id %q", e.ChunkType, e.Missing, e.ID)
}

// Reducer builds one message from chunks, in time that does not depend on the
// length of the history. The first chunk that cannot be applied ends it. A
// Reducer belongs to one goroutine; the zero value is not usable.
type Reducer struct {
	reader bool
	// fallback is the id that a stored answer gets when the stream names none.
	fallback string

	msg uimessage.Message
	// step is the index after the last step-start part.
	step       int
	texts      map[string]*openText
	reasonings map[string]*openText
	inputs     map[string]*openInput
	// dirty are the open texts and inputs whose part in msg is out of date.
	dirty []flusher
	err   error
}

// flusher brings the part of an open text or input up to date.
type flusher interface {
	flush(parts []uimessage.Part)
}

// NewReader returns the reducer of a client that reads a stream, continuing a
// message if it is one of an assistant. A start with another id begins anew.
func NewReader(continued *uimessage.Message) *Reducer {
	r := newReducer(continued)
	r.reader = true
	return r
}

// NewWriter returns the reducer of the server that makes a stream and stores the
// answer. The answer continues the given message if that is one of an assistant;
// otherwise it gets messageID, unless a start chunk has an id. A start with another id
// renames the message and keeps its parts.
func NewWriter(continued *uimessage.Message, messageID string) *Reducer {
	r := newReducer(continued)
	if !continues(continued) {
		r.msg.ID = messageID
	}
	r.fallback = r.msg.ID
	return r
}

func newReducer(continued *uimessage.Message) *Reducer {
	r := &Reducer{}
	r.reset("")
	if continues(continued) {
		r.msg = *continued
		r.msg.Parts = append([]uimessage.Part{}, continued.Parts...)
		for i, p := range r.msg.Parts {
			if _, ok := p.(uimessage.StepStart); ok {
				r.step = i + 1
			}
		}
		r.resumeInputs()
	}
	return r
}

// continues reports whether a stream adds to a message.
func continues(m *uimessage.Message) bool { return m != nil && m.Role == uimessage.RoleAssistant }

// reset starts an empty message.
func (r *Reducer) reset(id string) {
	r.msg = uimessage.Message{ID: id, Role: uimessage.RoleAssistant, Parts: []uimessage.Part{}}
	r.step = 0
	r.texts = map[string]*openText{}
	r.reasonings = map[string]*openText{}
	r.inputs = map[string]*openInput{}
	r.dirty = nil
}

// Message returns the message so far in constant time, apart from the parts that
// grew since the last call. Its parts may be read until the next Apply only.
func (r *Reducer) Message() uimessage.Message {
	for _, f := range r.dirty {
		f.flush(r.msg.Parts)
	}
	clear(r.dirty)
	r.dirty = r.dirty[:0]
	m := r.msg
	m.Parts = slices.Clip(m.Parts)
	return m
}

// Snapshot returns the message so far as a value that later chunks do not change.
func (r *Reducer) Snapshot() uimessage.Message {
	m := r.Message()
	m.Parts = append(make([]uimessage.Part, 0, len(m.Parts)), m.Parts...)
	return m
}

// Forward returns the chunk as readers receive it: a start without an id gets the id
// of the message. It changes nothing.
func (r *Reducer) Forward(c Chunk) Chunk {
	if start, ok := c.(Start); ok && !r.reader && !start.MessageID.Set {
		start.MessageID = uimessage.Some(r.fallback)
		return start
	}
	return c
}

// Apply applies one chunk and reports whether there is something new to show. An
// error chunk is for people and changes nothing. The error is a *StreamError or
// ErrMetadata; after one, Apply keeps returning it and the message stays.
func (r *Reducer) Apply(c Chunk) (changed bool, err error) {
	if r.err != nil {
		return false, r.err
	}
	changed, r.err = r.Forward(c).apply(r)
	return changed && r.err == nil, r.err
}

// settle brings all parts up to date.
func (r *Reducer) settle() { r.Message() }

// touch notes that the part of an open text or input is out of date.
func (r *Reducer) touch(f flusher, dirty *bool) {
	if !*dirty {
		*dirty = true
		r.dirty = append(r.dirty, f)
	}
}

func (r *Reducer) mergeMetadata(patch json.RawMessage) (bool, error) {
	if k := rawjson.KindOf(patch); k == rawjson.None || k == rawjson.Null {
		return false, nil
	}
	merged, err := mergeMetadata(r.msg.Metadata, patch)
	if err != nil {
		return false, err
	}
	r.msg.Metadata = merged
	return true, nil
}

// show adds a part that is complete.
func (r *Reducer) show(p uimessage.Part) (bool, error) {
	r.msg.Parts = append(r.msg.Parts, p)
	return true, nil
}
