package deciders

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/config"
)

func TestAP5WhoAreApprovers(t *testing.T) {
	role := func(bot, person string) string {
		switch {
		case bot == "telegram@work" && person == "1":
			return platform.RoleOwner
		case person == "2":
			return platform.RoleApproved
		case person == "9":
			return platform.RoleBlocked
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
		{"the control socket", unset, approval.Claim{Platform: query.Platform, Person: "owner"}, true},
		{"who asked", []string{"initiator"}, approval.Claim{Platform: "telegram", Person: "3", Asker: "3"}, true},
		{"who did not ask", []string{"initiator"}, approval.Claim{Platform: "telegram", Person: "3", Asker: "4"}, false},
		{"nobody asked", []string{"initiator"}, approval.Claim{Platform: "telegram"}, false},
		{"an administrator of a group", []string{"platformAdmins"}, approval.Claim{Platform: "telegram", Person: "3", Group: true, Admin: true}, true},
		{"an administrator of nothing", []string{"platformAdmins"}, approval.Claim{Platform: "telegram", Person: "3", Admin: true}, false},
		{"an id", []string{"owner", "77"}, approval.Claim{Platform: "telegram", Person: "77", Group: true}, true},
		{"an id of a platform", []string{"telegram-77"}, approval.Claim{Platform: "telegram@work", Person: "77"}, true},
		{"an id of another platform", []string{"feishu-77"}, approval.Claim{Platform: "telegram", Person: "77"}, false},
		{"an id that a program names", []string{"77"}, approval.Claim{Platform: "api", Person: "77", Asker: "77"}, false},
		{"an id of programs", []string{"api-77"}, approval.Claim{Platform: "api", Person: "77"}, true},
		{"another id", []string{"77"}, approval.Claim{Platform: "telegram", Person: "7"}, false},
		{"only an id: not the web chat", []string{"77"}, approval.Claim{Platform: "web", Person: "owner"}, false},
		{"somebody blocked, who asked", []string{"initiator"}, approval.Claim{Platform: "telegram", Person: "9", Asker: "9"}, false},
		{"somebody blocked, by id", []string{"9"}, approval.Claim{Platform: "telegram", Person: "9"}, false},
		{"an empty list", nil, approval.Claim{Platform: "telegram@work", Person: "1"}, false},
	} {
		if got := mayDecide(tt.approvers, role, tt.claim); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
