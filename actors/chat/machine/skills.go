package machine

import (
	"log/slog"
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

// skillset holds the skills of a chat as a run sees them.
type skillset struct {
	overview []prompt.Skill
	loaded   []prompt.LoadedSkill
	// only are the tools that the loaded skills allow; nil allows all.
	only []string
}

// skills returns the skills that can be loaded, and the texts of those that are loaded and still have the bytes that a
// person approved.
func (c *Chat) skills(d Documents) skillset {
	var out skillset
	notes := map[string]string{}
	for _, pin := range c.state.Pins() {
		text, ok := messages.SkillText{}, false
		if d.Skill != nil {
			text, ok = d.Skill(pin)
		}
		if !ok {
			notes[pin.Name] = noteChanged
			continue
		}
		out.loaded = append(out.loaded, prompt.LoadedSkill{Name: pin.Name, Text: text.Text, Folder: text.Folder, Tools: text.Tools})
		out.only = append(out.only, text.Tools...)
	}
	for _, s := range d.Skills {
		out.overview = append(out.overview, prompt.Skill{Name: s.Name, Description: s.Description, Note: notes[s.Name]})
		delete(notes, s.Name)
	}
	for _, pin := range c.state.Pins() {
		if notes[pin.Name] != "" {
			out.overview = append(out.overview, prompt.Skill{Name: pin.Name, Note: noteGone})
		}
	}
	if out.only != nil {
		out.only = append(out.only, alwaysAllowed()...)
		slices.Sort(out.only)
		out.only = slices.Compact(out.only)
	}
	c.learns(out)
	return out
}

// alwaysAllowed are the tools that no skill can remove: the way to reach people, and the way to leave the skill.
func alwaysAllowed() []string { return []string{"chat_send", "skills_list", "skills_load"} }

// learns checks whether the skills at the beginning of requests have changed.
func (c *Chat) learns(s skillset) {
	var texts []string
	for _, line := range s.overview {
		texts = append(texts, "o", line.Name, line.Description, line.Note)
	}
	for _, l := range s.loaded {
		texts = append(texts, "l", l.Name, l.Folder, l.Text)
	}
	c.began(&c.begins.skills, "skill", texts...)
}

// reloaded returns the run's new system text and tools if the loaded skills have changed since the last step, or
// empty. All else is as it was when the run began.
func (c *Chat) reloaded() (system string, only []string) {
	r := c.run
	if slices.Equal(r.pinned, c.state.Pinned) {
		return "", nil
	}
	s := c.skills(c.Documents(c.key))
	r.pinned, r.docs.Skills, r.docs.Loaded = c.state.Pinned, s.overview, s.loaded
	c.lastSystem = prompt.System(r.facts, r.docs)
	return c.lastSystem, s.only
}

// needed returns the pinned skills that are still mentioned by a person, the model or a call in the given messages.
// Summaries and tool outputs do not count, because they may list all skills.
func (c *Chat) needed(groups ...[]uimessage.Message) []string {
	var out []string
	for _, pin := range c.state.Pinned {
		name := messages.ParseSkillPin(pin).Name
		if slices.ContainsFunc(groups, func(turns []uimessage.Message) bool {
			return slices.ContainsFunc(turns, func(m uimessage.Message) bool { return speaksOf(m, name) })
		}) {
			out = append(out, pin)
		}
	}
	if gone := len(c.state.Pinned) - len(out); gone > 0 {
		c.log(slog.LevelInfo, "skills that the conversation no longer speaks of were put away", "skills", gone)
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

// contentsOf returns the messages of turns.
func contentsOf(turns []journal.Turn) []uimessage.Message {
	out := make([]uimessage.Message, len(turns))
	for i, t := range turns {
		out[i] = t.Message
	}
	return out
}
