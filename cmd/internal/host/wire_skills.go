package host

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/skill"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/skilllock"
)

// SkillCatalog finds the skills of a project: in its state folder, in .claude/skills
// and in the folders of the settings, the first of a name counts. Nothing is read yet.
func SkillCatalog(dir, state string, s config.Skills) *skill.Catalog {
	own := filepath.Join(state, "skills")
	label := own
	if rel, err := filepath.Rel(dir, own); err == nil && filepath.IsLocal(rel) {
		label = filepath.ToSlash(rel)
	}
	roots := []skill.Root{
		{Base: state, Path: "skills", Label: label},
		{Base: dir, Path: filepath.Join(".claude", "skills"), Label: ".claude/skills"},
	}
	for _, path := range s.Paths {
		full := path
		if !filepath.IsAbs(full) {
			full = filepath.Join(dir, full)
		}
		if s.AllowExternalPaths {
			roots = append(roots, skill.Root{Base: full, Path: ".", Label: filepath.ToSlash(path), Wanted: true})
			continue
		}
		rel, err := filepath.Rel(dir, full)
		if err != nil {
			rel = full // refused when it is looked into
		}
		roots = append(roots, skill.Root{Base: dir, Path: rel, Label: filepath.ToSlash(path), Wanted: true})
	}
	return skill.NewCatalog(nil, roots...)
}

// SkillStore is what people agreed to about skills. A host may run meanwhile.
func SkillStore(state string) *skilllock.Store { return skilllock.New(state) }

// skillTools are the tools that list and load skills.
func (h *Host) skillTools() []tool.Tool {
	return skill.Tools(skill.Options{Catalog: h.skills, Store: SkillStore(h.opts.State)})
}

// documentsOf are the documents of a chat as they are now, with the skills.
func (h *Host) documentsOf(key messages.ChatKey) machine.Documents {
	d, set := h.docs.of(key), h.skills.Current()
	d.Skill = set.Text
	if len(set.Skills) == 0 {
		return d
	}
	agreed, err := SkillStore(h.opts.State).SkillApprovals(context.Background())
	if err != nil {
		agreed = nil // nothing counts as agreed to; who loads one is told why
	}
	d.Skills = set.Overview(agreed)
	return d
}

// skillWatch tells the log of skills that are left out, once each.
type skillWatch struct{ told []string }

// look reads what changed. It is called by one goroutine at a time.
func (w *skillWatch) look(h *Host) {
	set := h.skills.Refresh()
	var now []string
	for _, p := range set.Problems {
		now = append(now, p.String())
		if !slices.Contains(w.told, p.String()) {
			h.log.Warn("a skill was left out", "path", p.Path, "line", p.Line, "reason", p.What, "hint", p.Hint)
		}
	}
	w.told = now
}
