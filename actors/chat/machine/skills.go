package machine

import (
	"log/slog"
	"slices"

	"github.com/shipmyagent/shipmyagent/actors/chat/pins"
	"github.com/shipmyagent/shipmyagent/actors/internal/prompt"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// skills returns the skills of the chat, and notes whether they have changed since the last request.
func (c *Chat) skills(d Documents) pins.Set {
	s := pins.Of(c.state.Pins(), d.Skills, d.Skill)
	c.began(&c.begins.skills, "skill", s.Texts()...)
	return s
}

// reloaded returns the run's new system text and tools if the loaded skills have changed since the last step, or
// empty. All else is as it was when the run began.
func (c *Chat) reloaded() (system string, only []string) {
	r := c.run
	if slices.Equal(r.pinned, c.state.Pinned) {
		return "", nil
	}
	s := c.skills(c.Documents(c.key))
	r.pinned, r.docs.Skills, r.docs.Loaded = c.state.Pinned, s.Overview, s.Loaded
	c.lastSystem = prompt.System(r.facts, r.docs)
	return c.lastSystem, s.Only
}

// needed returns the pinned skills that the given messages still mention.
func (c *Chat) needed(groups ...[]uimessage.Message) []string {
	out := pins.Needed(c.state.Pinned, groups...)
	if gone := len(c.state.Pinned) - len(out); gone > 0 {
		c.log(slog.LevelInfo, "skills that the conversation no longer speaks of were put away", "skills", gone)
	}
	return out
}

// contentsOf returns the messages of turns.
func contentsOf(turns []journal.Turn) []uimessage.Message {
	out := make([]uimessage.Message, len(turns))
	for i, t := range turns {
		out[i] = t.Message
	}
	return out
}
