// Package tooltest has tools and an egress for tests: hand-written, scripted by
// functions, and recording what they were asked.
package tooltest

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
)

// AnyObject is a schema that takes every object.
const AnyObject = `{"type":"object"}`

// Tool answers with a function. It is safe for concurrent use if Do is.
type Tool struct {
	S tool.Spec
	// Do is the tool's work; nil answers {"ok":true}.
	Do func(ctx context.Context, call tool.Call) (tool.Result, error)
	// Verdict, if set, decides about calls.
	Verdict func(call tool.Call) tool.Verdict

	mu    sync.Mutex
	calls []tool.Call
}

// New makes a read-only tool with a name that takes every object.
func New(name string, do func(ctx context.Context, call tool.Call) (tool.Result, error)) *Tool {
	return &Tool{
		S:  tool.Spec{Name: name, Description: name, InputSchema: json.RawMessage(AnyObject), ReadOnly: true, Repeatable: true},
		Do: do,
	}
}

// Spec implements [tool.Tool].
func (t *Tool) Spec() tool.Spec { return t.S }

// Invoke implements [tool.Tool].
func (t *Tool) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	t.mu.Lock()
	t.calls = append(t.calls, call)
	t.mu.Unlock()
	if t.Do == nil {
		return tool.Result{Output: json.RawMessage(`{"ok":true}`)}, nil
	}
	return t.Do(ctx, call)
}

// Judge implements [tool.Judge].
func (t *Tool) Judge(call tool.Call) tool.Verdict {
	if t.Verdict == nil {
		return tool.Verdict{Decision: tool.Allow}
	}
	return t.Verdict(call)
}

// Calls are the calls so far, in the order they began.
func (t *Tool) Calls() []tool.Call {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]tool.Call(nil), t.calls...)
}

// Sent is one message that an [Egress] was given.
type Sent struct {
	To     messages.ChatKey // empty: the run's own chat
	CallID string
	Out    tool.Outgoing
}

// Egress records what tools send and answers as told. It delivers everything in
// one part unless Answer says otherwise, and owes the same call once.
type Egress struct {
	// Answer decides what becomes of a message.
	Answer func(Sent) (tool.Delivery, error)

	mu   sync.Mutex
	sent []Sent
}

// Send implements [tool.Egress].
func (e *Egress) Send(_ context.Context, callID string, out tool.Outgoing) (tool.Delivery, error) {
	return e.take(Sent{CallID: callID, Out: out})
}

// SendTo implements [tool.Egress].
func (e *Egress) SendTo(_ context.Context, key messages.ChatKey, callID string, out tool.Outgoing) (tool.Delivery, error) {
	return e.take(Sent{To: key, CallID: callID, Out: out})
}

func (e *Egress) take(s Sent) (tool.Delivery, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	known := false
	for _, old := range e.sent {
		known = known || old.CallID == s.CallID && old.To == s.To
	}
	if !known {
		e.sent = append(e.sent, s)
	}
	if e.Answer != nil {
		return e.Answer(s)
	}
	return tool.Delivery{Delivered: true, Parts: 1}, nil
}

// Sent is what was owed so far, in order.
func (e *Egress) Sent() []Sent {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]Sent(nil), e.sent...)
}
