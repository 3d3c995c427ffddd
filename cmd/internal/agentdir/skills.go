package agentdir

import (
	"path/filepath"

	"github.com/shipmyagent/shipmyagent/adapters/tool/skill"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/persistence/skilllock"
)

// SkillCatalog finds the skills of a project: in its state folder, in .claude/skills and in the folders of the
// settings. The first skill of a name wins. Nothing is read yet.
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
			rel = full // refused when it is read
		}
		roots = append(roots, skill.Root{Base: dir, Path: rel, Label: filepath.ToSlash(path), Wanted: true})
	}
	return skill.NewCatalog(roots...)
}

// SkillStore opens the approvals of skills. It is safe while a host runs.
func SkillStore(state string) *skilllock.Store { return skilllock.New(state) }
