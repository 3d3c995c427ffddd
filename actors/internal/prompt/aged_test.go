package prompt

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

func TestAged(t *testing.T) {
	large := json.RawMessage(`{"whole":"results/1.txt","text":"` + strings.Repeat("x", 2*largeOutput) + `"}`)
	call := func(id string, state uimessage.ToolState, output json.RawMessage) uimessage.Tool {
		return uimessage.Tool{ToolCallID: id, Name: "look", Input: json.RawMessage(`{"a":1}`), State: state, Output: output}
	}
	failed := call("c4", uimessage.ToolOutputError, nil)
	failed.ErrorText = uimessage.Some(strings.Repeat("错", largeOutput))
	meta := uimessage.Metadata{RunID: "r", Result: "done", Tokens: 900, Seq: 7}
	m := uimessage.Message{ID: "a1", Role: uimessage.RoleAssistant, Metadata: meta.Append(nil), Parts: []uimessage.Part{
		uimessage.Text{Text: strings.Repeat("said ", 1000)},
		call("c1", uimessage.ToolOutputAvailable, large),
		call("c2", uimessage.ToolOutputAvailable, json.RawMessage(`"small"`)),
		call("c3", uimessage.ToolApprovalRequested, nil),
		failed,
	}}
	before := string(uimessage.AppendJSON(nil, m))
	got, ok := Aged(m, "20260101T000000.000Z-7-aged")
	if !ok {
		t.Fatal("nothing was left out")
	}
	if diff := cmp.Diff(before, string(uimessage.AppendJSON(nil, m))); diff != "" {
		t.Errorf("the message itself changed:\n%s", diff)
	}
	for _, i := range []int{0, 2, 3} {
		if diff := cmp.Diff(m.Parts[i], got.Parts[i]); diff != "" {
			t.Errorf("part %d changed:\n%s", i, diff)
		}
	}
	first, _ := got.Parts[1].(uimessage.Tool)
	var pointer struct {
		Bytes          int
		Archive, Whole string
	}
	if err := json.Unmarshal(first.Output, &pointer); err != nil || pointer.Bytes != len(large) || pointer.Archive != "20260101T000000.000Z-7-aged" || pointer.Whole != "results/1.txt" {
		t.Errorf("the pointer is %s, %v", first.Output, err)
	}
	if first.ToolCallID != "c1" || string(first.Input) != `{"a":1}` || first.State != uimessage.ToolOutputAvailable {
		t.Errorf("the call changed: %+v", first)
	}
	last, _ := got.Parts[4].(uimessage.Tool)
	if text := last.ErrorText.Value; len(text) > largeOutput || !strings.Contains(text, "archive 20260101T000000.000Z-7-aged") || strings.ContainsRune(text, '\uFFFD') {
		t.Errorf("the error reads %q", text)
	}
	after, err := uimessage.DecodeMetadata(got.Metadata)
	if err != nil || after.RunID != "r" || after.Result != "done" || after.Seq != 7 || after.Tokens != 0 {
		t.Errorf("the metadata is %+v, %v", after, err)
	}
	if _, again := Aged(got, "other"); again {
		t.Error("what was left out is left out again")
	}
}
