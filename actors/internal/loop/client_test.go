package loop_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/conformancetest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// action is an action of a person in a chat client.
type action struct {
	Send             *sentWords                  `json:"send,omitempty"`
	Resend           resend                      `json:"resend,omitempty"`
	Regenerate       *struct{ MessageID string } `json:"regenerate,omitempty"`
	Approve          string                      `json:"approve,omitempty"`
	Deny             string                      `json:"deny,omitempty"`
	Reason           *string                     `json:"reason,omitempty"`
	ToolOutput       *toolOutput                 `json:"toolOutput,omitempty"`
	AbortAfterChunks int                         `json:"abortAfterChunks,omitempty"`
}

// sentWords is what is sent: a text and files, or a message in parts.
type sentWords struct {
	Text      *string           `json:"text,omitempty"`
	Files     []json.RawMessage `json:"files,omitempty"`
	Parts     json.RawMessage   `json:"parts,omitempty"`
	ID        string            `json:"id,omitempty"`
	Role      uimessage.Role    `json:"role,omitempty"`
	Metadata  json.RawMessage   `json:"metadata,omitempty"`
	MessageID string            `json:"messageId,omitempty"` // of the message that this one replaces
}

// resend is true, or an object without members.
type resend bool

func (r *resend) UnmarshalJSON(raw []byte) error {
	if raw[0] == '{' {
		*r = true
		return conformancetest.Strictly(raw, &struct{}{})
	}
	return conformancetest.Strictly(raw, (*bool)(r))
}

type toolOutput struct {
	Tool       string          `json:"tool"` // only determines the type of the call
	State      string          `json:"state"`
	ToolCallID string          `json:"toolCallId"`
	Output     json.RawMessage `json:"output"`
	ErrorText  *string         `json:"errorText"`
}

type turn struct {
	Requests []*request          `json:"requests"`
	Status   string              `json:"status"`
	Error    *fault              `json:"error,omitempty"`
	Messages []uimessage.Message `json:"messages"`
}

type fault struct {
	Name    string `json:"name"`
	Message string `json:"message"`
}

// client simulates the SDK's chat client: it stores messages, sends them, and reads the answer into
// them.
type client struct {
	t        *testing.T
	server   *server
	autoSend []string
	messages []uimessage.Message
	ids      int
	abort    int
	turn     *turn
}

func newClient(t *testing.T, c *loopCase, s *server) *client {
	t.Helper()
	var messages []uimessage.Message
	stdtest.Must(t, json.Unmarshal(c.Messages, &messages))
	return &client{t: t, server: s, autoSend: c.AutoSend, messages: messages}
}

func (c *client) newID() string {
	c.ids++
	return "c" + strconv.Itoa(c.ids)
}

func (c *client) last() *uimessage.Message {
	if len(c.messages) == 0 {
		return nil
	}
	return &c.messages[len(c.messages)-1]
}

func (c *client) act(a action) turn {
	c.turn = &turn{Requests: []*request{}, Status: "ready"}
	c.abort = a.AbortAfterChunks
	switch {
	case a.Send != nil:
		c.send(*a.Send)
	case bool(a.Resend):
		about := ""
		if m := c.resent(); m != nil {
			about = m.ID
		}
		c.request("submit-message", about)
	case a.Regenerate != nil:
		c.regenerate(a.Regenerate.MessageID)
	case a.Approve != "":
		c.decide(a.Approve, true, a.Reason)
	case a.Deny != "":
		c.decide(a.Deny, false, a.Reason)
	case a.ToolOutput != nil:
		c.toolOutput(*a.ToolOutput)
	}
	c.turn.Messages = c.messages
	return *c.turn
}

// send adds a message or replaces an old one, and sends it.
func (c *client) send(s sentWords) {
	m := uimessage.Message{ID: s.ID, Role: uimessage.RoleUser, Metadata: s.Metadata}
	if s.Role != "" {
		m.Role = s.Role
	}
	parts := s.Parts
	if s.Text != nil || s.Files != nil { // files precede the text, under an id of the client's
		m.ID, m.Role = "", uimessage.RoleUser
		list := slices.Clone(s.Files)
		if s.Text != nil {
			list = append(list, encode(c.t, map[string]string{"type": "text", "text": *s.Text}))
		}
		parts = encode(c.t, list)
	}
	whole, err := uimessage.Decode(encode(c.t, map[string]any{"id": "x", "role": "user", "parts": parts}))
	stdtest.Must(c.t, err)
	m.Parts = whole.Parts
	if s.MessageID != "" {
		i := slices.IndexFunc(c.messages, func(have uimessage.Message) bool { return have.ID == s.MessageID })
		m.ID = s.MessageID
		c.messages = append(slices.Clone(c.messages[:i]), m)
		c.request("submit-message", s.MessageID)
		return
	}
	if m.ID == "" {
		m.ID = c.newID()
	}
	c.messages = append(slices.Clone(c.messages), m)
	c.request("submit-message", "")
}

// resent is the message of a resend: the newest with an answer that was not sent, or the last one.
func (c *client) resent() *uimessage.Message {
	for i := len(c.messages) - 1; i >= 0; i-- {
		for _, p := range c.messages[i].Parts {
			if t, ok := p.(uimessage.Tool); ok && t.State == uimessage.ToolApprovalResponded {
				return &c.messages[i]
			}
		}
	}
	return c.last()
}

func (c *client) regenerate(about string) {
	n := len(c.messages) - 1
	if about != "" {
		n = slices.IndexFunc(c.messages, func(m uimessage.Message) bool { return m.ID == about })
	}
	if c.messages[n].Role != uimessage.RoleAssistant {
		n++
	}
	c.messages = slices.Clone(c.messages[:n])
	c.request("regenerate-message", about)
}

func (c *client) update(match func(uimessage.Tool) bool, change func(*uimessage.Tool)) {
	for i, m := range c.messages {
		parts := slices.Clone(m.Parts)
		for j, p := range parts {
			if t, ok := p.(uimessage.Tool); ok && match(t) {
				change(&t)
				parts[j] = t
			}
		}
		c.messages[i].Parts = parts
	}
}

func (c *client) decide(callID string, approved bool, reason *string) {
	c.update(func(t uimessage.Tool) bool {
		return t.ToolCallID == callID && t.State == uimessage.ToolApprovalRequested
	}, func(t *uimessage.Tool) {
		a := *t.Approval
		a.Approved = uimessage.Some(approved)
		if reason != nil {
			a.Reason = uimessage.Some(*reason)
		}
		t.State, t.Approval = uimessage.ToolApprovalResponded, &a
	})
	c.auto()
}

func (c *client) toolOutput(o toolOutput) {
	c.update(func(t uimessage.Tool) bool { return t.ToolCallID == o.ToolCallID }, func(t *uimessage.Tool) {
		t.State, t.Output = uimessage.ToolOutputAvailable, o.Output
		if o.State != "" {
			t.State = uimessage.ToolState(o.State)
		}
		if o.ErrorText != nil {
			t.ErrorText = uimessage.Some(*o.ErrorText)
		}
	})
	c.auto()
}

// auto sends automatically if a rule requires it.
func (c *client) auto() {
	last := c.last()
	if last == nil || last.Role != uimessage.RoleAssistant {
		return
	}
	if slices.Contains(c.autoSend, "approvals") && allAnswered(*last) ||
		slices.Contains(c.autoSend, "toolCalls") && allExecuted(*last) {
		c.request("submit-message", last.ID)
	}
}

func lastStep(m uimessage.Message) []uimessage.Part {
	for i, p := range slices.Backward(m.Parts) {
		if _, ok := p.(uimessage.StepStart); ok {
			return m.Parts[i+1:]
		}
	}
	return m.Parts
}

func allAnswered(m uimessage.Message) bool {
	answered := false
	for _, p := range lastStep(m) {
		t, ok := p.(uimessage.Tool)
		if !ok {
			continue
		}
		settled := t.State.Settled() && !t.Preliminary.Value
		if !settled && t.State != uimessage.ToolApprovalResponded {
			return false
		}
		answered = answered || t.State == uimessage.ToolApprovalResponded
	}
	return answered
}

func allExecuted(m uimessage.Message) bool {
	calls, openText := 0, false
	for _, p := range lastStep(m) {
		if text, ok := p.(uimessage.Text); ok {
			openText = openText || text.State != uimessage.TextDone
		}
		t, ok := p.(uimessage.Tool)
		if !ok || t.ProviderExecuted.Value {
			continue
		}
		calls, openText = calls+1, false
		if t.State != uimessage.ToolOutputError && (t.State != uimessage.ToolOutputAvailable || t.Preliminary.Value) {
			return false
		}
	}
	return calls > 0 && !openText
}

// request sends the messages and reads the answer.
func (c *client) request(trigger, about string) {
	r := &request{Trigger: trigger, MessageID: about, Messages: slices.Clone(c.messages), ModelCalls: []modelCall{}, Chunks: []chunkJSON{}, abortAfter: c.abort}
	c.abort = 0
	c.turn.Requests = append(c.turn.Requests, r)
	var continued *uimessage.Message
	if trigger != "regenerate-message" {
		continued = c.last()
	}
	in := &inbox{client: c, reducer: uistream.NewWriter(continued, c.newID())}
	c.server.respond(r, in.read)
	if in.fault == nil {
		switch {
		case r.Rejected != nil:
			in.fault = r.Rejected
		case r.Broken != nil:
			in.fault = r.Broken
		}
	}
	in.settle()
	if in.fault != nil {
		c.turn.Status, c.turn.Error = "error", in.fault
		return
	}
	c.auto()
}

// inbox reads one answer. The first write of a new message is the message itself, which still
// changes; later ones are copies.
type inbox struct {
	client  *client
	reducer *uistream.Reducer
	fault   *fault
	pushed  bool // by reference
	index   int
}

func (in *inbox) read(c uistream.Chunk) {
	if in.fault != nil {
		return
	}
	if e, ok := c.(uistream.Error); ok {
		in.fault = &fault{Name: "Error", Message: e.ErrorText}
		return
	}
	changed, err := in.reducer.Apply(c)
	if err != nil {
		in.fault = faultOf(err)
		return
	}
	if !changed {
		return
	}
	m := in.reducer.Snapshot()
	list := in.client.messages
	in.index = slices.IndexFunc(list, func(have uimessage.Message) bool { return have.ID == m.ID })
	in.pushed = in.index < 0
	if in.pushed {
		in.index = len(list)
		in.client.messages = append(slices.Clone(list), m)
		return
	}
	list[in.index] = m
}

func (in *inbox) settle() {
	if in.pushed {
		in.client.messages[in.index] = in.reducer.Snapshot()
	}
}

func faultOf(err error) *fault {
	f := &fault{Name: "Error", Message: err.Error()}
	if _, ok := errors.AsType[*uistream.StreamError](err); ok {
		f.Name = "AI_UIMessageStreamError"
	}
	return f
}
