package commands

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

// What the owner (1) or the operator has stopped is only for those who decide, also in the private chat of somebody else.
func TestWhoManagesATask(t *testing.T) {
	t.Parallel()
	c := New(Options{
		Role: func(_, person string) string {
			if person == "1" {
				return platform.RoleOwner
			}
			return platform.RoleApproved
		},
		MayDecide: func(claim approval.Claim) bool { return claim.Person == "1" },
	})
	private := decision.Command{ChatKey: "telegram-chat-2", ChatType: messages.ChatPrivate}
	group := decision.Command{ChatKey: "telegram-chat--5", ChatType: "supergroup"}
	page := decision.Command{ChatKey: "web-chat-a", ChatType: messages.ChatPrivate}
	const own, owners, operator = "telegram-2", "telegram-1", ""
	for _, tt := range []struct {
		name      string
		cmd       decision.Command
		who       string
		status    timetable.Status
		madeBy    string
		stoppedBy string
		want      bool
	}{
		{"a maker, in a group", group, "2", timetable.Active, own, "", true},
		{"what they stopped themselves", group, "2", timetable.Done, own, own, true},
		{"what the owner stopped", group, "2", timetable.Done, own, owners, false},
		{"what the operator stopped", group, "2", timetable.Paused, own, operator, false},
		{"another member", group, "3", timetable.Active, own, "", false},
		{"the owner", group, "1", timetable.Done, own, own, true},
		{"one's private chat", private, "2", timetable.Active, operator, "", true},
		{"what they stopped there", private, "2", timetable.Paused, operator, own, true},
		{"what the operator stopped there", private, "2", timetable.Paused, own, operator, false},
		{"the page", page, "owner", timetable.Paused, "web-owner", operator, true},
	} {
		tt.cmd.By = messages.Asker{Platform: "telegram", ID: tt.who}
		if got := c.MayManage(tt.cmd, timetable.Task{Status: tt.status, MadeBy: tt.madeBy, StoppedBy: tt.stoppedBy}); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
