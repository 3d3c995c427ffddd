package host

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/config"
)

func TestAP5WhoAreApprovers(t *testing.T) {
	role := func(bot, person string) string {
		switch {
		case bot == "telegram@work" && person == "1":
			return platform.RoleOwner
		case person == "2":
			return platform.RoleApproved
		}
		return platform.RoleStranger
	}
	unset := config.Default().Permissions.Exec.Approvers
	for _, tt := range []struct {
		name      string
		approvers []string
		claim     approval.Claim
		want      bool
	}{
		{"the owner", unset, approval.Claim{Platform: "telegram@work", Person: "1"}, true},
		{"the owner, in a group", unset, approval.Claim{Platform: "telegram@work", Person: "1", Group: true}, true},
		{"the owner of another bot", unset, approval.Claim{Platform: "telegram", Person: "1"}, false},
		{"somebody who is paired", unset, approval.Claim{Platform: "telegram@work", Person: "2"}, false},
		{"somebody who asked", unset, approval.Claim{Platform: "telegram@work", Person: "2", Asker: "2"}, false},
		{"a stranger", unset, approval.Claim{Platform: "telegram@work", Person: "3"}, false},
		{"an administrator", unset, approval.Claim{Platform: "telegram@work", Person: "3", Group: true, Admin: true}, false},
		{"nobody", unset, approval.Claim{Platform: "telegram@work"}, false},
		{"a person called owner", unset, approval.Claim{Platform: "telegram@work", Person: "owner"}, false},
		{"the web chat", unset, approval.Claim{Platform: "web", Person: "owner"}, true},
		{"the terminal", unset, approval.Claim{Platform: "cli", Person: "owner"}, true},
		{"the control socket", unset, approval.Claim{Platform: nameControl, Person: "owner"}, true},
		{"who asked", []string{"initiator"}, approval.Claim{Platform: "telegram", Person: "3", Asker: "3"}, true},
		{"who did not ask", []string{"initiator"}, approval.Claim{Platform: "telegram", Person: "3", Asker: "4"}, false},
		{"nobody asked", []string{"initiator"}, approval.Claim{Platform: "telegram"}, false},
		{"an administrator of a group", []string{"platformAdmins"}, approval.Claim{Platform: "telegram", Person: "3", Group: true, Admin: true}, true},
		{"an administrator of nothing", []string{"platformAdmins"}, approval.Claim{Platform: "telegram", Person: "3", Admin: true}, false},
		{"an id", []string{"owner", "77"}, approval.Claim{Platform: "telegram", Person: "77", Group: true}, true},
		{"an id of a platform", []string{"telegram-77"}, approval.Claim{Platform: "telegram@work", Person: "77"}, true},
		{"an id of another platform", []string{"feishu-77"}, approval.Claim{Platform: "telegram", Person: "77"}, false},
		{"another id", []string{"77"}, approval.Claim{Platform: "telegram", Person: "7"}, false},
		{"only an id: not the web chat", []string{"77"}, approval.Claim{Platform: "web", Person: "owner"}, false},
		{"an empty list", nil, approval.Claim{Platform: "telegram@work", Person: "1"}, false},
	} {
		if got := mayDecide(tt.approvers, role, tt.claim); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

// The log of approvals has every entry, also when the other one drops some.
func TestAP14NothingIsLeftOut(t *testing.T) {
	dir := t.TempDir()
	a := newAudit(filepath.Join(dir, "logs"), slog.New(slog.DiscardHandler), prometheus.NewRegistry())
	a.approvals = newApprovalLog(filepath.Join(dir, "approvals"), func(err error) { t.Error(err) })
	const writers, each = 8, 2 * auditQueue / 8
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() { // nobody empties the queue of the other log
			for i := range each {
				a.add(machine.AuditEntry{TS: at, Event: "execution", Result: "begun", Call: fmt.Sprintf("%d-%d", w, i), Rule: "approved", Digest: "d", By: "telegram-1"})
			}
		})
	}
	wg.Wait()
	a.add(machine.AuditEntry{TS: at, Event: "tool", Name: "not here"})
	if err := a.approvals.close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "approvals", "audit-2026-01-02.jsonl")
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	seen := map[string]bool{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e struct{ Event, CallID, Rule, Digest, By, Result string }
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil || e.Rule != "approved" || e.Event != "execution" || e.By == "" || e.Digest == "" || e.Result != "begun" {
			t.Fatalf("line %s: %v", lines.Bytes(), err)
		}
		seen[e.CallID] = true
	}
	if len(seen) != writers*each {
		t.Errorf("%d entries, want %d", len(seen), writers*each)
	}
}
