package deciders

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/access"
	"github.com/shipmyagent/shipmyagent/cmd/internal/platforms"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// Lists of requests name who may decide, as the settings are now.
func TestNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "access.json")
	const people = `{"v":1,"accounts":{"telegram":{"owner":{"id":"1","name":"Ann"},"people":[{"id":"2","name":"Ben"}],"blocked":[{"id":"9","name":"Eve"}]}}}`
	stdtest.Must(t, os.WriteFile(file, []byte(people), 0o600))
	store, err := access.Open(file, access.Options{})
	stdtest.Must(t, err)
	console := query.ApprovalDecider{Role: query.DeciderConsole}
	ann := query.ApprovalDecider{Role: approval.DeciderOwner, ID: "1", Name: "Ann"}
	ben := query.ApprovalDecider{Role: approval.DeciderAsker, ID: "2", Name: "Ben"}
	for _, tt := range []struct {
		name      string
		approvers []string
		claim     approval.Claim
		want      []query.ApprovalDecider
	}{
		{"the owner", []string{"owner"}, approval.Claim{ChatKey: "telegram-chat-2", Asker: "2"}, []query.ApprovalDecider{console, ann}},
		{"who asked", []string{"owner", "initiator"}, approval.Claim{ChatKey: "telegram-chat-2", Asker: "2"}, []query.ApprovalDecider{console, ann, ben}},
		{"the owner asked", []string{"owner", "initiator"}, approval.Claim{ChatKey: "telegram-chat-1", Asker: "1"}, []query.ApprovalDecider{console, ann}},
		{"ids", []string{"telegram-2", "feishu-3", "9"}, approval.Claim{ChatKey: "telegram-chat--5", Group: true, Asker: "1"}, []query.ApprovalDecider{{Role: approval.DeciderApprover, ID: "2", Name: "Ben"}}},
		{"nobody asked", []string{"initiator"}, approval.Claim{ChatKey: "telegram-chat-2"}, nil},
		{"the web page", []string{"owner"}, approval.Claim{ChatKey: "web-chat-a", Asker: "owner"}, []query.ApprovalDecider{console}},
	} {
		d := New(Options{
			Approvers: func() []string { return tt.approvers }, Access: func() *access.Store { return store },
			Services: platforms.All(), Platform: func(string) platform.Platform { return nil }, Logger: slog.New(slog.DiscardHandler),
		})
		stdtest.Diff(t, tt.name, tt.want, d.Named(tt.claim))
	}
}
