package host

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/tool/skill"
	"github.com/shipmyagent/shipmyagent/cmd/internal/agentdir"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence"
)

func skillText(name string) string {
	return "---\nname: " + name + "\ndescription: what " + name + " does\n---\nDo " + name + ".\n"
}

func TestSU1SkillsOfAProject(t *testing.T) {
	dir, state, outside := t.TempDir(), t.TempDir(), t.TempDir()
	stdtest.Write(t, filepath.Join(state, "skills", "one", "SKILL.md"), skillText("same"))
	stdtest.Write(t, filepath.Join(dir, ".claude", "skills", "two", "SKILL.md"), skillText("same"))
	stdtest.Write(t, filepath.Join(dir, ".claude", "skills", "three", "SKILL.md"), skillText("three"))
	stdtest.Write(t, filepath.Join(dir, "more", "four", "SKILL.md"), skillText("four"))
	stdtest.Write(t, filepath.Join(dir, ".ship", "skills", "five", "SKILL.md"), skillText("five"))
	stdtest.Write(t, filepath.Join(outside, "six", "SKILL.md"), skillText("six"))
	rel, err := filepath.Rel(dir, outside)
	stdtest.Must(t, err)
	for _, tt := range []struct {
		name     string
		settings config.Skills
		state    string
		want     []string // name and folder
		problems int
	}{
		{"no settings", config.Skills{}, state, []string{"same " + filepath.ToSlash(state) + "/skills/one", "three .claude/skills/three"}, 1},
		{"the usual state folder", config.Skills{}, filepath.Join(dir, ".ship"), []string{"five .ship/skills/five", "same .claude/skills/two", "three .claude/skills/three"}, 0},
		{"more folders", config.Skills{Paths: []string{"more", "./more/"}}, filepath.Join(dir, ".ship"), []string{
			"five .ship/skills/five", "four more/four", "same .claude/skills/two", "three .claude/skills/three",
		}, 0},
		{"folders outside", config.Skills{Paths: []string{outside, rel}}, filepath.Join(dir, ".ship"), []string{
			"five .ship/skills/five", "same .claude/skills/two", "three .claude/skills/three",
		}, 2},
		{"folders outside that are allowed", config.Skills{Paths: []string{outside, "more"}, AllowExternalPaths: true}, filepath.Join(dir, ".ship"), []string{
			"five .ship/skills/five", "four more/four", "same .claude/skills/two", "six " + filepath.ToSlash(outside) + "/six", "three .claude/skills/three",
		}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set := agentdir.SkillCatalog(dir, tt.state, tt.settings).Current()
			var got []string
			for _, s := range set.Skills {
				got = append(got, s.Name+" "+s.Folder)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || len(set.Problems) != tt.problems {
				t.Errorf("problems %v, want %d; skills (-want +got):\n%s", set.Problems, tt.problems, diff)
			}
		})
	}
}

func TestSkillsAreDocuments(t *testing.T) {
	dir := t.TempDir()
	state := filepath.Join(dir, ".ship")
	d := agentdir.NewDocuments(dir, state, slog.New(slog.DiscardHandler))
	stdtest.Write(t, filepath.Join(dir, "Agent.md"), "Be kind.")
	stdtest.Write(t, filepath.Join(state, "skills", "pdf", "SKILL.md"), skillText("pdf"))
	stdtest.Write(t, filepath.Join(state, "skills", "broken", "SKILL.md"), "no front matter")
	stdtest.Must(t, d.Load())
	var log bytes.Buffer
	h := &Host{opts: Options{State: state}, docs: d, skills: agentdir.SkillCatalog(dir, state, config.Skills{}), log: slog.New(slog.NewTextHandler(&log, nil))}
	docs := h.documentsOf("web-chat-1")
	stdtest.Diff(t, "skills that nobody agreed to", []messages.Skill{{Name: "pdf"}}, docs.Skills)
	agreedTo, _ := h.skills.Current().Find("pdf")
	stdtest.Must(t, agentdir.SkillStore(state).ApproveSkill(t.Context(), persistence.SkillApproval{Name: "pdf", Digest: agreedTo.Digest}))
	docs = h.documentsOf("web-chat-1")
	if diff := cmp.Diff([]messages.Skill{{Name: "pdf", Description: "what pdf does"}}, docs.Skills); diff != "" || docs.Agent != "Be kind." {
		t.Errorf("agent %q, skills (-want +got):\n%s", docs.Agent, diff)
	}
	found, _ := h.skills.Current().Find("pdf")
	pin := messages.SkillPin{Name: "pdf", Digest: found.Digest}
	if text, ok := docs.Skill(pin); !ok || text.Text != "Do pdf." {
		t.Errorf("text %+v, %v", text, ok)
	}
	stdtest.Write(t, filepath.Join(state, "skills", "pdf", "SKILL.md"), skillText("pdf")+"More.\n")
	var w skillWatch
	w.look(h)
	w.look(h)
	if n := strings.Count(log.String(), "a skill was refused"); n != 1 || !strings.Contains(log.String(), "line=1") || !strings.Contains(log.String(), "hint=") {
		t.Errorf("told %d times, want once:\n%s", n, log.String())
	}
	stdtest.Diff(t, "a skill that changed since", []messages.Skill{{Name: "pdf"}}, h.documentsOf("web-chat-1").Skills)
	if _, ok := h.documentsOf("web-chat-1").Skill(pin); ok {
		t.Error("the text of a changed skill is still there")
	}
	if _, ok := docs.Skill(pin); !ok {
		t.Error("documents that were handed out changed")
	}
	folders := h.skills.Folders()
	if len(folders) != 3 || folders[2] != filepath.Join(state, "skills", "pdf") {
		t.Errorf("folders to watch: %v", folders)
	}
	if _, err := agentdir.SkillStore(state).SkillApprovals(t.Context()); err != nil {
		t.Error(err)
	}
	if s := skill.StateOf(found, nil); s != skill.StateNew {
		t.Errorf("state %s", s)
	}
}
