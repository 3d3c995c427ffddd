package chats

import (
	"encoding/json"
	"testing"

	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// An answer in progress has no time yet. It is shown after the message that it answers.
func TestTimelineOfAnAnswerInProgress(t *testing.T) {
	message := func(id string, role uimessage.Role, metadata string) uimessage.Message {
		return uimessage.Message{ID: id, Role: role, Metadata: json.RawMessage(metadata), Parts: []uimessage.Part{uimessage.Text{Text: id}}}
	}
	lines := timeline(query.ChatDocument{Messages: []uimessage.Message{
		message("u1", uimessage.RoleUser, `{"v":1,"ts":1000,"userId":"owner"}`),
		message("a1", uimessage.RoleAssistant, `{"v":1,"runId":"r1"}`),
	}}, nil)
	if len(lines) != 2 || lines[0].ID != "u1" || lines[1].ID != "a1" {
		t.Fatalf("the lines are %+v", lines)
	}
	if got := lines[1]; got.Arrived.UnixMilli() != 1000 || got.State != lineOpen {
		t.Errorf("the answer in progress is %+v", got)
	}
}
