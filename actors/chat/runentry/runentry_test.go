package runentry

import (
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/runlog"
)

func turn(id string, role uimessage.Role, parts ...uimessage.Part) journal.Turn {
	return journal.Turn{Message: uimessage.Message{ID: id, Role: role, Parts: parts}}
}

func TestOf(t *testing.T) {
	history := []journal.Turn{
		turn("u0", uimessage.RoleUser, uimessage.Text{Text: "earlier"}),
		turn("u1", uimessage.RoleUser, uimessage.Text{Text: "look\nit up " + strings.Repeat("x", 400)}),
		turn(
			"a1", uimessage.RoleAssistant, uimessage.Text{Text: "of an earlier run"}, uimessage.Text{Text: "Here it is."},
			uimessage.Tool{Name: "look", ToolCallID: "c", State: uimessage.ToolOutputError, Input: []byte(`{"q":1}`), ErrorText: uimessage.Some("gone")},
		),
	}
	run := &journal.Run{ID: "r1", MessageID: "a1", Base: 1, Visible: []journal.Visible{{TurnID: "u1", Step: 1}}}
	got := Of(history, run, journal.ResultFailed, "limit", time.UnixMilli(7))
	want := runlog.Entry{
		Kind: runlog.KindRun, TS: 7, RunID: "r1", Result: journal.ResultFailed, Request: "look it up " + strings.Repeat("x", 289) + "…", Answer: "Here it is.",
		Calls: []runlog.Call{{Name: "look", Input: `{"q":1}`, Error: "gone"}}, Failures: []string{"failed: limit", "look: gone"},
	}
	stdtest.Diff(t, "the entry", want, got)
}
