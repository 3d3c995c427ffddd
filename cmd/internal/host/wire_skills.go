package host

import (
	"context"
	"slices"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/skill"
	"github.com/shipmyagent/shipmyagent/cmd/internal/agentdir"
	"github.com/shipmyagent/shipmyagent/messages"
)

// skillTools are the tools that list and load skills.
func (h *Host) skillTools() []tool.Tool {
	return skill.Tools(skill.Options{Catalog: h.skills, Store: agentdir.SkillStore(h.opts.State)})
}

// documentsOf are the current documents of a chat, with the skills.
func (h *Host) documentsOf(key messages.ChatKey) decision.Documents {
	d, set := h.docs.Of(key), h.skills.Current()
	d.Skill = set.Text
	if len(set.Skills) == 0 {
		return d
	}
	agreed, err := agentdir.SkillStore(h.opts.State).SkillApprovals(context.Background())
	if err != nil {
		agreed = nil // nothing counts as approved; loading a skill reports why
	}
	d.Skills = set.Overview(agreed)
	return d
}

// skillWatch logs each skill that is left out, once.
type skillWatch struct{ logged []string }

// look reads what has changed. It must not be called concurrently.
func (w *skillWatch) look(h *Host) {
	set := h.skills.Refresh()
	var now []string
	for _, p := range set.Problems {
		now = append(now, p.String())
		if !slices.Contains(w.logged, p.String()) {
			h.log.Warn("a skill was refused", "path", p.Path, "line", p.Line, "reason", p.What, "hint", p.Hint)
		}
	}
	w.logged = now
}
