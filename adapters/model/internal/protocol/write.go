package protocol

import (
	"context"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// Form is how a protocol writes the pieces of a body. The same arguments always give the same bytes.
type Form interface {
	// AppendHead appends what chats share: the settings and the tools.
	AppendHead(dst []byte, req model.Request) []byte
	// AppendStart appends what a chat has before its messages.
	AppendStart(dst []byte, req model.Request) []byte
	// AppendMessage appends a message after the place at, and returns the place after it. A message may become nothing.
	AppendMessage(ctx context.Context, dst []byte, at Mark, m modelmessage.Message) ([]byte, Mark, error)
}

// Mark is a place between two messages of a body.
type Mark struct {
	End    int               // how many bytes are before it
	Open   modelmessage.Role // the role of the last message, which is not closed in protocols that join messages
	Blocks int               // how many pieces of content are before it, for protocols that count them
	// Cacheable says that a cache mark may be set here, in protocols where requests say what a service may cache.
	Cacheable bool
}

// Encoded is a body without its end. Its bytes are only ever appended to.
type Encoded struct {
	Head  []byte
	Own   []byte
	Marks []Mark // Marks[i] is where message i begins, Marks[len(Marks)-1] where the last one ends
	// Shared is how many bytes of Head and Own an earlier request had, as the memo knows.
	Shared int

	head     *head
	system   string
	messages []modelmessage.Message
	sight    int // revision of what was known about the model
}

// Writer encodes the conversations of chats. With the memo of a chat only what is new is encoded.
type Writer struct {
	Form     Form
	Prompter *Prompter
	heads    heads
}

// Write encodes a request.
func (w *Writer) Write(ctx context.Context, req model.Request) (*Encoded, error) {
	if len(req.Messages) == 0 {
		return nil, ErrNoMessages
	}
	if err := CheckResults(req.Messages); err != nil {
		return nil, err
	}
	e, before := w.resume(req)
	for _, m := range req.Messages[len(e.messages):] {
		own, mark, err := w.Form.AppendMessage(ctx, e.Own, e.Marks[len(e.Marks)-1], m)
		if err != nil {
			return nil, err
		}
		mark.End = len(own)
		e.Own, e.Marks = own, append(e.Marks, mark)
	}
	if len(e.Own) == e.Marks[0].End {
		return nil, ErrNoMessages
	}
	e.messages = req.Messages
	if before.begins(e) {
		e.Shared = before.size
	}
	req.Memo.Keep(e)
	return e, nil
}

// rested is what a memo keeps of an idle chat: how long its last request was, without its end, and the hash of that.
type rested struct {
	size int
	sum  uint64
}

// Rest implements [model.Rester].
func (e *Encoded) Rest() any { return rested{len(e.Head) + len(e.Own), hash(e.Head, e.Own)} }

// begins reports whether the request begins with all of the one before. The zero value begins none.
func (r rested) begins(e *Encoded) bool {
	own := r.size - len(e.Head)
	return own > 0 && own <= len(e.Own) && hash(e.Head, e.Own[:own]) == r.sum
}

func hash(pieces ...[]byte) uint64 {
	var h xxhash.Digest
	h.Reset()
	for _, p := range pieces {
		_, _ = h.Write(p) // never fails
	}
	return h.Sum64()
}

// resume returns the part of the request that the memo already holds, or what it holds of a chat that was idle.
func (w *Writer) resume(req model.Request) (*Encoded, rested) {
	known := w.Prompter.revision()
	h := w.heads.of(w.Form, req, known)
	held := req.Memo.Take()
	e, ok := held.(*Encoded)
	if !ok || e.head != h || e.system != req.System || e.sight != known {
		own := w.Form.AppendStart(make([]byte, 0, sizeOf(req)), req)
		before, _ := held.(rested)
		return &Encoded{Head: h.bytes, Own: own, Marks: []Mark{{End: len(own)}}, head: h, system: req.System, sight: known}, before
	}
	n := 0
	for n < len(e.messages) && n < len(req.Messages) && equalMessages(e.messages[n], req.Messages[n]) {
		n++
	}
	own := e.Own[:e.Marks[n].End]
	if n < len(e.messages) {
		own = slices.Clone(own) // the rest may still be being sent
	}
	return &Encoded{Head: h.bytes, Own: own, Marks: e.Marks[: n+1 : n+1], head: h, system: req.System, sight: known, messages: req.Messages[:n], Shared: len(h.bytes) + len(own)}, rested{}
}

// sizeOf estimates the length of a body's messages, so that they are allocated once.
func sizeOf(req model.Request) int {
	n := 64 + len(req.System)
	for _, m := range req.Messages {
		n += len(m.Text) + 64
		for _, p := range m.Parts {
			n += 128 + partSize(p)
		}
	}
	return n + n/8
}

func partSize(p modelmessage.Part) int {
	switch p := p.(type) {
	case modelmessage.Text:
		return len(p.Text)
	case modelmessage.Reasoning:
		return len(p.Text) + len(p.ProviderOptions) // which may hold encrypted thinking
	case modelmessage.Image:
		return len(p.Image)
	case modelmessage.File:
		return len(p.Data)
	case modelmessage.ToolCall:
		return len(p.Input)
	case modelmessage.ToolResult:
		return len(p.Output.Text) + len(p.Output.JSON)
	case modelmessage.ApprovalRequest, modelmessage.ApprovalResponse: // never sent
	}
	return 0
}
