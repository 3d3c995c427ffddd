package query

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// A list of requests names the person who asked and those who may decide.
func TestApprovalsNamePeople(t *testing.T) {
	const key = messages.ChatKey("telegram-chat--5")
	state := t.TempDir()
	store := filestoretest.In(t, state)
	stdtest.Write(t, filepath.Join(state, "chat", string(key), "messages", "journal.jsonl"), "{}\n")
	said := func(id, user, name string) uimessage.Message {
		meta := uimessage.Metadata{UserID: user, Username: name, ChatType: messages.ChatGroup}
		return uimessage.Message{ID: id, Role: uimessage.RoleUser, Metadata: meta.Raw(), Parts: []uimessage.Part{uimessage.Text{Text: "hello"}}}
	}
	asked := journal.WithRequests(uimessage.Metadata{}, []journal.Request{{ID: "r", CallID: "c", N: 1, Asker: "2"}}, 0)
	view := messages.ViewReply{ChatKey: key, Messages: []uimessage.Message{
		said("m1", "2", "Benjamin"), said("m2", "2", "Ben"), said("m3", "3", "Cleo"),
		{ID: "a", Role: uimessage.RoleAssistant, Metadata: asked.Raw(), Parts: []uimessage.Part{
			uimessage.Tool{ToolCallID: "c", Name: "exec_shell", State: uimessage.ToolApprovalRequested, Input: json.RawMessage(`{}`), Approval: &uimessage.Approval{ID: "r"}},
		}},
	}}
	var claims []approval.Claim
	deciders := []ApprovalDecider{{Role: approval.DeciderOwner, ID: "1", Name: "Ann"}}
	d := New(state, store, nil, nil, slog.New(slog.DiscardHandler), func(_ context.Context, q any) (any, error) {
		if _, ok := q.(messages.OutboxQuery); ok {
			return messages.OutboxReply{}, nil
		}
		return view, nil
	}, func(c approval.Claim) []ApprovalDecider {
		claims = append(claims, c)
		return deciders
	})
	lines, err := d.Approvals(t.Context(), Asked{ChatKey: key})
	if err != nil || len(lines) != 1 {
		t.Fatalf("%+v, %v", lines, err)
	}
	if got := lines[0]; got.AskerName != "Ben" || got.Asker != "2" {
		t.Errorf("asked by %q, %q", got.AskerName, got.Asker)
	}
	stdtest.Diff(t, "who may decide", deciders, lines[0].Deciders)
	stdtest.Diff(t, "asked about", []approval.Claim{{ChatKey: key, Group: true, Asker: "2"}}, claims)
}
