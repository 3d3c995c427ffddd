package protocol

import (
	"encoding/json"
	"testing"
	"testing/iotest"

	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

func TestEqualMessages(t *testing.T) {
	parts := []modelmessage.Part{
		modelmessage.Text{Text: "a"},
		modelmessage.Text{Text: "b"},
		modelmessage.Text{Text: "a", ProviderOptions: json.RawMessage(`{}`)},
		modelmessage.Reasoning{Text: "a"},
		modelmessage.Image{Image: "a"},
		modelmessage.Image{Image: "a", MediaType: "image/png"},
		modelmessage.File{Data: "a"},
		modelmessage.File{Data: "a", Filename: uimessage.Some("f")},
		modelmessage.ToolCall{ToolCallID: "a"},
		modelmessage.ToolCall{ToolCallID: "a", ProviderExecuted: uimessage.Some(true)},
		modelmessage.ToolCall{ToolCallID: "a", Input: json.RawMessage("1")},
		modelmessage.ToolResult{ToolCallID: "a"},
		modelmessage.ToolResult{ToolCallID: "a", Output: modelmessage.Output{Text: "x"}},
		modelmessage.ToolResult{ToolCallID: "a", Output: modelmessage.Output{Reason: uimessage.Some("x")}},
		modelmessage.ApprovalRequest{},
		modelmessage.ApprovalResponse{},
	}
	of := func(p modelmessage.Part) modelmessage.Message {
		return modelmessage.Message{Role: modelmessage.RoleUser, Parts: []modelmessage.Part{p}}
	}
	for i, a := range parts {
		for j, b := range parts {
			if got := equalMessages(of(a), of(b)); got != (i == j) {
				t.Errorf("%#v and %#v: equal is %t", a, b, got)
			}
		}
	}
	if equalMessages(modelmessage.Message{}, modelmessage.Message{Parts: []modelmessage.Part{}}) {
		t.Error("a string is equal to no parts")
	}
}

// TestPiecesAreJoined reads a body in reads of every size, each of which is filled while there is something to read.
func TestPiecesAreJoined(t *testing.T) {
	if err := iotest.TestReader(&pieces{[]byte("ab"), nil, []byte("cde"), []byte("]}")}, []byte("abcde]}")); err != nil {
		t.Error(err)
	}
	for size := 1; size <= 8; size++ {
		p, b := &pieces{[]byte("ab"), nil, []byte("cde"), []byte("]}")}, make([]byte, size)
		if n, err := p.Read(b); n != min(size, 7) || err != nil || string(b[:n]) != "abcde]}"[:n] {
			t.Errorf("a read of %d: %d, %v, %q", size, n, err, b[:n])
		}
	}
}
