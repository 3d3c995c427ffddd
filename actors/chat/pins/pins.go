// Package pins holds what the skills that were loaded in a chat mean for its next request, and which of them the
// conversation still needs. It is pure: skills are read through a function.
package pins

import (
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/internal/prompt"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Notes in the overview about skills that were loaded in the chat.
const (
	noteChanged = "changed since it was loaded here; load it again before you use it"
	noteGone    = "was loaded here and is gone"
)

// Set holds the skills of a chat as a run sees them.
type Set struct {
	Overview []prompt.Skill
	Loaded   []prompt.LoadedSkill
	// Only are the tools that the loaded skills allow; nil allows all.
	Only []string
}

// Of returns the skills that can be loaded, and the texts of those that are pinned and still have the bytes that a
// person approved. The function read returns a text with these bytes; it may be nil.
func Of(pinned []messages.SkillPin, known []messages.Skill, read func(messages.SkillPin) (messages.SkillText, bool)) Set {
	var out Set
	notes := map[string]string{}
	for _, pin := range pinned {
		text, ok := messages.SkillText{}, false
		if read != nil {
			text, ok = read(pin)
		}
		if !ok {
			notes[pin.Name] = noteChanged
			continue
		}
		out.Loaded = append(out.Loaded, prompt.LoadedSkill{Name: pin.Name, Text: text.Text, Folder: text.Folder, Tools: text.Tools})
		out.Only = append(out.Only, text.Tools...)
	}
	for _, s := range known {
		out.Overview = append(out.Overview, prompt.Skill{Name: s.Name, Description: s.Description, Note: notes[s.Name]})
		delete(notes, s.Name)
	}
	for _, pin := range pinned {
		if notes[pin.Name] != "" {
			out.Overview = append(out.Overview, prompt.Skill{Name: pin.Name, Note: noteGone})
		}
	}
	if out.Only != nil {
		out.Only = append(out.Only, alwaysAllowed()...)
		slices.Sort(out.Only)
		out.Only = slices.Compact(out.Only)
	}
	return out
}

// alwaysAllowed are the tools that no skill can remove: the way to reach people, and the way to leave the skill.
func alwaysAllowed() []string { return []string{"chat_send", "skills_list", "skills_load"} }

// Texts returns everything of the skills that requests contain, to find out whether it has changed.
func (s Set) Texts() []string {
	var texts []string
	for _, line := range s.Overview {
		texts = append(texts, "o", line.Name, line.Description, line.Note)
	}
	for _, l := range s.Loaded {
		texts = append(texts, "l", l.Name, l.Folder, l.Text)
	}
	return texts
}

// Needed returns the pinned skills that are still mentioned by a person, the model or a call in the given messages.
// Summaries and tool outputs do not count, because they may list all skills.
func Needed(pinned []string, groups ...[]uimessage.Message) []string {
	var out []string
	for _, pin := range pinned {
		name := messages.ParseSkillPin(pin).Name
		if slices.ContainsFunc(groups, func(turns []uimessage.Message) bool {
			return slices.ContainsFunc(turns, func(m uimessage.Message) bool { return speaksOf(m, name) })
		}) {
			out = append(out, pin)
		}
	}
	return out
}

// speaksOf reports whether a message mentions a skill.
func speaksOf(m uimessage.Message, name string) bool {
	if journal.NewTurn(m).Meta.Kind == uimessage.KindSummary {
		return false
	}
	return slices.ContainsFunc(m.Parts, func(p uimessage.Part) bool {
		switch p := p.(type) {
		case uimessage.Text:
			return names(p.Text, name)
		case uimessage.Tool:
			return names(string(p.Input), name)
		default:
			return false
		}
	})
}

// names reports whether a text contains a name as a separate word.
func names(text, name string) bool {
	text, name = strings.ToLower(text), strings.ToLower(name)
	for from := 0; name != ""; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		at, end := from+i, from+i+len(name)
		if (at == 0 || !wordByte(text[at-1])) && (end == len(text) || !wordByte(text[end])) {
			return true
		}
		from = at + 1
	}
	return false
}

func wordByte(b byte) bool {
	return b == '_' || b == '-' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z'
}
