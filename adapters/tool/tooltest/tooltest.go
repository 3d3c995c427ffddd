// Package tooltest has fake tools and a fake egress for tests. They are controlled by functions, and record their
// calls.
package tooltest

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
)

// AnyObject is a schema that accepts every object.
const AnyObject = `{"type":"object"}`

// Tool is a fake tool that answers with a function. It is safe for concurrent use if Do is.
type Tool struct {
	S tool.Spec
	// Do runs a call; nil answers {"ok":true}.
	Do func(ctx context.Context, call tool.Call) (tool.Result, error)
	// Verdict, if set, decides about calls.
	Verdict func(call tool.Call) tool.Verdict

	mu    sync.Mutex
	calls []tool.Call
}

// New makes a read-only tool that accepts every object.
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

// CheckCall implements [tool.Checker].
func (t *Tool) CheckCall(call tool.Call) tool.Verdict {
	if t.Verdict == nil {
		return tool.Verdict{Decision: tool.Allow}
	}
	return t.Verdict(call)
}

// Calls returns the calls so far, in the order of their start.
func (t *Tool) Calls() []tool.Call {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]tool.Call(nil), t.calls...)
}

// Sent is one message that was sent through an [Egress].
type Sent struct {
	To     messages.ChatKey // empty for the run's own chat
	CallID string
	Out    tool.Outgoing
}

// Egress records what tools send. It delivers every message in one part unless Answer says otherwise, and records a
// repeated call only once.
type Egress struct {
	// Answer, if not nil, decides the delivery of a message.
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

// Sent returns the messages so far, in order.
func (e *Egress) Sent() []Sent {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]Sent(nil), e.sent...)
}

// At runs a test in a bubble whose clock shows a time after the year 2000.
func At(t *testing.T, when time.Time, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		<-time.After(time.Until(when))
		test(t)
	})
}
