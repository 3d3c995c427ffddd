package paging

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/actors/chat/longtext"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// The output of a call that was approved late belongs to the person whose message led to it, not to the last who wrote
// before it was carried out. Without an approval the output belongs to all whom the message answers.
func TestOutputOfAnother(t *testing.T) {
	user := func(id, who string, seq int64) uimessage.Message {
		return uimessage.Message{
			ID: id, Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: id}},
			Metadata: uimessage.Metadata{UserID: who, ChatType: messages.ChatGroup, Seq: seq}.Append(nil),
		}
	}
	call := uimessage.Tool{ToolCallID: "c1", Name: "exec_shell", Input: json.RawMessage(`{}`), State: uimessage.ToolApprovalRequested, Approval: &uimessage.Approval{ID: "ap1"}}
	req := journal.Request{ID: "ap1", CallID: "c1", N: 1, Asker: "alice"}
	asking := uimessage.Message{
		ID: "a1", Role: uimessage.RoleAssistant, Parts: []uimessage.Part{call},
		Metadata: journal.WithRequests(uimessage.Metadata{Result: "waiting"}, []journal.Request{req}, 1).Append(nil),
	}
	answer := uimessage.Message{ID: "a2", Role: uimessage.RoleAssistant, Parts: []uimessage.Part{uimessage.Text{Text: "hi bob"}}, Metadata: uimessage.Metadata{Result: "done"}.Append(nil)}
	s, err := journal.Replay(journal.Snapshot{History: []uimessage.Message{user("u1", "alice", 1), asking, user("u2", "bob", 2), answer}, Meta: journal.Meta{Seq: 2}})
	stdtest.Must(t, err)
	// The owner approves late: the call is carried out in a new message with a copy of the call.
	d := journal.ApprovalDecided{MessageID: "a1", ApprovalID: "ap1", Answer: journal.AnswerApproved, Late: true}
	copied := call
	copied.ToolCallID, copied.State = "late_1", uimessage.ToolApprovalResponded
	out := journal.OutcomeBegun{Message: uimessage.Message{ID: "a3", Role: uimessage.RoleAssistant, Parts: []uimessage.Part{copied}}, Of: []journal.RequestKey{{MessageID: "a1", ApprovalID: "ap1"}}}
	done := copied
	done.State, done.Output = uimessage.ToolOutputAvailable, json.RawMessage(`"alice's file"`)
	fin := journal.RunFinished{RunID: "r1", Result: journal.ResultDone, Message: uimessage.Message{ID: "a3", Role: uimessage.RoleAssistant, Parts: []uimessage.Part{done}, Metadata: uimessage.Metadata{Result: "done", RunID: "r1"}.Append(nil)}}
	for _, r := range s.Next(1, d, out, journal.RunStarted{RunID: "r1", MessageID: "a3", Attempt: 1}, fin) {
		stdtest.Must(t, s.Apply(r))
	}
	o := decision.Options{Adapter: func(string) (decision.Adapter, bool) { return decision.Adapter{Outbox: true}, true }}
	b := decision.NewBase(&o, "telegram-chat--100")
	b.State, b.ChatType = s, messages.ChatGroup
	g := Paging{Base: &b}
	for who, want := range map[string]string{"alice": `"alice's file"`, "bob": "", "": ""} {
		if _, c, ok := g.outputOf(1, who); ok != (want != "") || string(c.Output) != want {
			t.Errorf("%q got %v, %s; want %s", who, ok, c.Output, want)
		}
	}
}

func TestOutputBelongsToThoseWhoAreAnswered(t *testing.T) {
	t.Parallel()
	user := func(id, who string, seq int64) uimessage.Message {
		return uimessage.Message{
			ID: id, Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: id}},
			Metadata: uimessage.Metadata{UserID: who, ChatType: messages.ChatGroup, Seq: seq}.Append(nil),
		}
	}
	call := uimessage.Tool{ToolCallID: "c1", Name: "exec_shell", Input: json.RawMessage(`{}`), State: uimessage.ToolOutputAvailable, Output: json.RawMessage(`"x"`)}
	for _, tt := range []struct {
		name  string
		fates []uimessage.FateRecord
		want  map[string]bool
	}{
		{"one of two", []uimessage.FateRecord{{ID: "u1"}}, map[string]bool{"alice": true, "bob": false}},
		{"both", []uimessage.FateRecord{{ID: "u1"}, {ID: "u2"}}, map[string]bool{"alice": true, "bob": true, "eve": false}},
		{"a message that is gone", []uimessage.FateRecord{{ID: "u0"}}, map[string]bool{"alice": false, "bob": false}},
		{"not recorded", nil, map[string]bool{"alice": false, "bob": true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			answer := uimessage.Message{ID: "a1", Role: uimessage.RoleAssistant, Parts: []uimessage.Part{call}, Metadata: uimessage.Metadata{Result: "done", Fates: tt.fates}.Append(nil)}
			s, err := journal.Replay(journal.Snapshot{History: []uimessage.Message{user("u1", "alice", 1), user("u2", "bob", 2), answer}, Meta: journal.Meta{Seq: 2}})
			stdtest.Must(t, err)
			b := decision.NewBase(&decision.Options{Adapter: func(string) (decision.Adapter, bool) { return decision.Adapter{Outbox: true}, true }}, "telegram-chat--100")
			b.State, b.ChatType = s, messages.ChatGroup
			g := Paging{Base: &b}
			for who, want := range tt.want {
				if _, _, ok := g.outputOf(1, who); ok != want {
					t.Errorf("%s gets it: %v, want %v", who, ok, want)
				}
			}
		})
	}
}

// files stores nothing.
type files struct{ decision.Files }

func (files) FilePath(_ messages.ChatKey, name string) (string, error) { return "/files/" + name, nil }

// The files of rows that are not sent yet, or parked, are not overwritten.
func TestFilesOfRowsInTheOutbox(t *testing.T) {
	row := journal.Row{Key: journal.RowKey{MessageID: "h:1", N: 1}, Attachments: []journal.Attachment{{Path: "/files/output-1.txt"}, {Path: "/files/full-output.md"}}}
	s, err := journal.Replay(journal.Snapshot{Journal: []journal.Record{
		{N: 1, TS: 1, Fact: journal.EgressQueued{Row: row}},
		{N: 2, TS: 2, Fact: journal.EgressSettled{Key: row.Key, Outcome: journal.EgressParked}},
	}})
	stdtest.Must(t, err)
	b := &decision.Base{Options: &decision.Options{Files: files{}}, State: s, Via: decision.Adapter{Documents: true, MaxText: 100}}
	b.Begin(decision.Input{})
	g := Paging{Base: b}
	if got := g.outputFile(); got != "output-2.txt" {
		t.Errorf("the next output goes to %q", got)
	}
	whole, _ := g.nextPage(&longtext.Pages{Text: strings.Repeat("word ", 1000)}, 0, longtext.All)
	if len(whole.Attachments) != 1 || whole.Attachments[0].Path != "/files/full-output-2.md" {
		t.Errorf("the whole answer goes to %+v", whole.Attachments)
	}
}
