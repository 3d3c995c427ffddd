package journal_test

import (
	"encoding/json"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Previews and titles of contexts contain what people read: what was sent by tool is in the input of the call, and the
// text next to it was not sent.
func TestContextsPreviewWhatWasSaid(t *testing.T) {
	send := func(text string, state uimessage.ToolState) uimessage.Part {
		input, err := json.Marshal(map[string]string{"text": text})
		stdtest.Must(t, err)
		return uimessage.Tool{Name: "chat_send", ToolCallID: "c", State: state, Input: input}
	}
	bot := func(parts ...uimessage.Part) journal.Turn {
		return journal.NewTurn(uimessage.Message{ID: "a", Role: uimessage.RoleAssistant, Parts: parts})
	}
	ask := journal.NewTurn(uimessage.Message{ID: "u", Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: "花园怎么样？"}}})
	for _, tt := range []struct {
		name  string
		turns []journal.Turn
		title string
		want  string
	}{
		{"by text", []journal.Turn{ask, bot(uimessage.Text{Text: "Fine."})}, "花园怎么样？", "Fine."},
		{"by tool", []journal.Turn{ask, bot(send("玫瑰开了。", uimessage.ToolOutputAvailable), uimessage.Text{Text: "done"})}, "花园怎么样？", "玫瑰开了。"},
		{"by tool, in two", []journal.Turn{ask, bot(send("One.", uimessage.ToolOutputAvailable), send("Two.", uimessage.ToolOutputAvailable))}, "花园怎么样？", "One. Two."},
		{"a send that failed", []journal.Turn{ask, bot(send("lost", uimessage.ToolOutputError), uimessage.Text{Text: "Fine."})}, "花园怎么样？", "Fine."},
		{"only the bot spoke", []journal.Turn{bot(uimessage.Text{Text: "Hello from afar."})}, "Hello from afar.", "Hello from afar."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := journal.NewContext(messages.ContextSwitch{ID: "c_20260304_abcd", Kind: messages.ContextNew}, 900, tt.turns)
			if item := c.Item(100); item.SummaryPreview != tt.want || item.Title != tt.title {
				t.Errorf("title %q, preview %q; want %q, %q", item.Title, item.SummaryPreview, tt.title, tt.want)
			}
		})
	}
}
