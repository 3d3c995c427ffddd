package pins

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/actors/internal/prompt"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

func TestSpeaksOf(t *testing.T) {
	summary := uimessage.Metadata{Kind: uimessage.KindSummary}.Append(nil)
	text := func(words string) uimessage.Message {
		return uimessage.Message{Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: words}}}
	}
	call := func(input, output string) uimessage.Message {
		return uimessage.Message{Role: uimessage.RoleAssistant, Parts: []uimessage.Part{uimessage.Tool{Name: "x", Input: []byte(input), Output: []byte(output)}}}
	}
	folded := text("pdf")
	folded.Role, folded.Metadata = uimessage.RoleAssistant, summary
	for _, tt := range []struct {
		name string
		m    uimessage.Message
		want bool
	}{
		{"a person", text("one more PDF, please"), true},
		{"in Chinese", text("再做一个pdf吧"), true},
		{"at the end", text("use pdf"), true},
		{"a load", call(`{"name":"pdf"}`, `{}`), true},
		{"its folder", call(`{"command":"sh .ship/skills/pdf/run.sh"}`, `{}`), true},
		{"what a tool answered", call(`{}`, `{"skills":[{"name":"pdf"}]}`), false},
		{"a part of a word", text("pdfs, xpdf, pdf-forms, pdf_2"), false},
		{"a word behind a part of one", text("pdfs and pdf"), true},
		{"a summary", folded, false},
		{"nothing", text(""), false},
	} {
		if got := speaksOf(tt.m, "pdf"); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	if names("anything", "") {
		t.Error("no name stands in every text")
	}
}

func TestOf(t *testing.T) {
	pinned := []messages.SkillPin{{Name: "pdf"}, {Name: "changed"}, {Name: "gone"}}
	known := []messages.Skill{{Name: "changed"}, {Name: "pdf"}}
	s := Of(pinned, known, func(pin messages.SkillPin) (messages.SkillText, bool) {
		return messages.SkillText{Text: "how to", Tools: []string{"shell"}}, pin.Name == "pdf"
	})
	want := Set{
		Overview: []prompt.Skill{{Name: "changed", Note: noteChanged}, {Name: "pdf"}, {Name: "gone", Note: noteGone}},
		Loaded:   []prompt.LoadedSkill{{Name: "pdf", Text: "how to", Tools: []string{"shell"}}},
		Only:     []string{"chat_send", "shell", "skills_list", "skills_load"},
	}
	stdtest.Diff(t, "the skills", want, s)
	if s := Of(pinned[:1], known, nil); s.Only != nil || len(s.Loaded) != 0 {
		t.Errorf("without texts: %+v", s)
	}
}
