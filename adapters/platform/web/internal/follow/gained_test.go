package follow

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// What a reader has and what it gains make up the whole message, wherever the reader joined.
func TestGained(t *testing.T) {
	responded := uimessage.Tool{
		ToolCallID: "c1", Name: "rm", State: uimessage.ToolApprovalResponded, Input: json.RawMessage(`{"path":"c1"}`),
		Approval: &uimessage.Approval{ID: "ap-c1"},
	}
	base := uimessage.Message{ID: "a1", Role: uimessage.RoleAssistant, Parts: []uimessage.Part{
		uimessage.StepStart{}, uimessage.Text{Text: "May I?", State: uimessage.TextDone}, responded,
	}}
	whole := []uistream.Chunk{
		uistream.ToolOutputAvailable{ToolCallID: "c1", Output: json.RawMessage(`1`)},
		uistream.FinishStep{},
		uistream.StartStep{},
		uistream.TextStart{ID: "t"},
		uistream.TextDelta{ID: "t", Delta: "Do"},
		uistream.TextDelta{ID: "t", Delta: "ne."},
		uistream.TextEnd{ID: "t"},
	}
	for n := range len(whole) + 1 {
		now := uistream.NewWriter(&base, "a1")
		for _, c := range whole[:n] {
			if _, err := now.Apply(c); err != nil {
				t.Fatal(err)
			}
		}
		client := uistream.NewReader(&base)
		for _, c := range append(append([]uistream.Chunk{uistream.Start{MessageID: uimessage.Some("a1")}}, gained(base, now.Replay())...), whole[n:]...) {
			if _, err := client.Apply(c); err != nil {
				t.Fatalf("came in at %d: %v", n, err)
			}
		}
		stdtest.Diff(t, fmt.Sprintf("came in at %d", n), reduced(t, now, whole[n:]), string(uimessage.AppendJSON(nil, client.Message())))
	}
}

// reduced returns the message of a reducer after further chunks.
func reduced(t *testing.T, r *uistream.Reducer, rest []uistream.Chunk) string {
	t.Helper()
	for _, c := range rest {
		if _, err := r.Apply(c); err != nil {
			t.Fatal(err)
		}
	}
	return string(uimessage.AppendJSON(nil, r.Message()))
}
