package machine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Messages of one run have the same arrival number if no message arrived between them. Their large outputs are archived
// all the same.
func TestOutputsOfMessagesWithOneNumber(t *testing.T) {
	w := newWorld(1)
	w.calm = true
	large := fmt.Sprintf(`{"text":%q}`, strings.Repeat("much ", 5000))
	history := []uimessage.Message{w.user("alice", "look").Turn}
	var aged []messages.AgedTurn
	for _, id := range []string{"a1", "a2", "a3"} {
		meta := uimessage.Metadata{TS: w.now.UnixMilli(), ChatKey: string(testChat), Seq: 1, Result: string(journal.ResultDone), RunID: "r1"}
		call := uimessage.Tool{ToolCallID: "c-" + id, Name: "look", State: uimessage.ToolOutputAvailable, Input: json.RawMessage(`{}`), Output: json.RawMessage(large)}
		history = append(history, uimessage.Message{ID: id, Role: uimessage.RoleAssistant, Parts: []uimessage.Part{call}, Metadata: meta.Append(nil)})
		aged = append(aged, messages.AgedTurn{ID: id, Tokens: 10})
	}
	counts := journal.Counts{Accepted: 1, Fates: map[journal.Fate]int64{journal.FateAnswered: 1}}
	stdtest.Must(t, w.chat.Checkpoint(context.Background(), journal.Checkpoint{History: history, Meta: journal.Meta{Version: 1, N: 1, Seq: 1, Counts: counts}}))
	w.load()
	order := w.user("alice", "/compact")
	order.Verdict, order.Command = messages.VerdictCommand, "compact"
	w.opts.KeepLast = 2
	w.decide(order, nil, "")
	for name, msg := range w.child {
		if msg, ok := msg.(messages.Compact); ok {
			w.decide(messages.CompactionFinished{ChatKey: testChat, CompactionID: msg.CompactionID, Result: messages.ResultAged, Aged: aged}, nil, name)
		}
	}
	for _, turn := range w.m.State.History {
		if call, ok := turn.Parts[0].(uimessage.Tool); ok && len(call.Output) > 1000 {
			t.Errorf("the output of %s is still there", turn.ID)
		}
	}
	if len(w.failed) > 0 {
		t.Error(w.failed)
	}
}
