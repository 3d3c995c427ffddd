package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/adapters/tool/skill"
	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/skilllock"
)

func (a *app) skillsCmd() *cobra.Command {
	return group(&cobra.Command{
		Use: "skills", Short: "List, show, approve and forget skills",
		Long: "A skill is a folder with a SKILL.md in .ship/skills, .claude/skills or one of skills.paths. It loads without a\n" +
			"question once a person has agreed to its folder as it is; after any change in there it asks again. A host may\n" +
			"run meanwhile.",
		Example: "  sma skills list\n  sma skills show pdf\n  sma skills approve pdf",
	}, a.skillsListCmd(), a.skillsShowCmd(), a.skillsApproveCmd(), a.skillsForgetCmd())
}

// skills are what a project has, and what people agreed to.
type skills struct {
	set       *skill.Set
	store     *skilllock.Store
	approvals []persistence.SkillApproval
}

func (a *app) openSkills(ctx context.Context) (skills, error) {
	dir, state, err := a.folders(nil)
	if err != nil {
		return skills{}, err
	}
	loaded, err := a.load(dir, false)
	if err != nil {
		return skills{}, err
	}
	s := skills{set: host.SkillCatalog(dir, state, loaded.Settings.Skills).Current(), store: host.SkillStore(state)}
	if s.approvals, err = s.store.SkillApprovals(ctx); err != nil {
		return s, &Failure{Code: CodeFailed, What: "what was agreed to cannot be read", Why: err}
	}
	return s, nil
}

func (s skills) find(name string) (skill.Skill, error) {
	found, ok := s.set.Find(strings.ToLower(name))
	if !ok {
		return found, &Failure{Code: CodeUsage, What: fmt.Sprintf("there is no skill %q that can be loaded", name), Help: "sma skills list"}
	}
	return found, nil
}

// skillLine is a skill as JSON. Members are only added.
type skillLine struct {
	Name         string      `json:"name"`
	Description  string      `json:"description"`
	State        skill.State `json:"state"`
	Folder       string      `json:"folder"`
	Digest       string      `json:"digest"`
	Files        int         `json:"files"`
	Bytes        int64       `json:"bytes"`
	AllowedTools []string    `json:"allowedTools,omitempty"`
	UnknownTools []string    `json:"unknownTools,omitempty"`
	ApprovedAt   *time.Time  `json:"approvedAt,omitempty"`
	Text         string      `json:"text,omitempty"`
}

func (s skills) line(k skill.Skill) skillLine {
	out := skillLine{
		Name: k.Name, Description: k.Description, State: skill.StateOf(k, s.approvals), Folder: k.Folder, Digest: k.Digest, Files: k.Files, Bytes: k.Bytes,
		AllowedTools: k.Tools, UnknownTools: k.Unknown,
	}
	for _, approval := range s.approvals {
		if approval.Name == k.Name && approval.Digest == k.Digest {
			out.ApprovedAt = &approval.At
		}
	}
	return out
}

func (a *app) skillsListCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the skills, and what was left out", Args: cobra.NoArgs, Example: "  sma skills list --json",
		Long: "pinned: loads without a question. new, changed: a person is asked first. broken: left out, with the reason.",
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.openSkills(c.Context())
			if err != nil {
				return err
			}
			lines := []skillLine{}
			for _, k := range s.set.Skills {
				lines = append(lines, s.line(k))
			}
			if asJSON {
				return a.printJSON(struct {
					Skills   []skillLine     `json:"skills"`
					Problems []skill.Problem `json:"problems,omitempty"`
				}{lines, s.set.Problems})
			}
			return a.print(a.skillWords().table(lines, s.set.Problems))
		},
	}
	addJSON(cmd, &asJSON)
	return cmd
}

func (a *app) skillsShowCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show NAME", Short: "Show a skill whole", Args: cobra.ExactArgs(1), Example: "  sma skills show pdf",
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.openSkills(c.Context())
			if err != nil {
				return err
			}
			k, err := s.find(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				line := s.line(k)
				line.Text = k.Text
				return a.printJSON(line)
			}
			text := k.Describe() + "state: " + string(skill.StateOf(k, s.approvals)) + "\n"
			if len(k.Unknown) > 0 {
				text += "allowed tools that mean nothing here: " + oneLine(strings.Join(k.Unknown, ", "), 500) + "\n"
			}
			return a.print(text + "\n" + k.Text + "\n")
		},
	}
	addJSON(cmd, &asJSON)
	return cmd
}

func (a *app) skillsApproveCmd() *cobra.Command {
	return &cobra.Command{
		Use: "approve NAME", Short: "Agree to a skill as it is now", Args: cobra.ExactArgs(1), Example: "  sma skills show pdf\n  sma skills approve pdf",
		Long: "From then on it loads in every chat without a question, until something in its folder changes.",
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.openSkills(c.Context())
			if err != nil {
				return err
			}
			k, err := s.find(args[0])
			if err != nil {
				return err
			}
			if skill.StateOf(k, s.approvals) != skill.StatePinned {
				agreed := persistence.SkillApproval{Name: k.Name, Digest: k.Digest, Folder: k.Folder, At: time.Now().UTC().Truncate(time.Second), Where: "sma skills"}
				if err := s.store.ApproveSkill(c.Context(), agreed); err != nil {
					return &Failure{Code: CodeFailed, What: "the skill could not be approved", Why: err}
				}
			}
			return a.print(k.Name + " " + k.Digest + "\n")
		},
	}
}

func (a *app) skillsForgetCmd() *cobra.Command {
	return &cobra.Command{
		Use: "forget NAME", Short: "Ask again before a skill loads", Args: cobra.ExactArgs(1), Example: "  sma skills forget pdf",
		Long: "Its folder stays as it is. Chats that have loaded it keep it until they no longer need it.",
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.openSkills(c.Context())
			if err != nil {
				return err
			}
			gone, err := s.store.ForgetSkill(c.Context(), strings.ToLower(args[0]))
			switch {
			case err != nil:
				return &Failure{Code: CodeFailed, What: "the skill could not be forgotten", Why: err}
			case !gone:
				return a.print(a.skillWords().none)
			}
			return a.print(a.skillWords().forgotten)
		},
	}
}

// skillWords are what the commands say to people, in one language.
type skillWords struct{ empty, none, forgotten string }

func (a *app) skillWords() skillWords {
	if strings.HasPrefix(a.env("LC_ALL", "LC_MESSAGES", "LANG"), "zh") {
		return skillWords{"没有技能\n", "没有人同意过这个技能\n", "下次加载会再次询问\n"}
	}
	return skillWords{"there are no skills\n", "nobody had agreed to it\n", "the next load asks again\n"}
}

func (w skillWords) table(lines []skillLine, problems []skill.Problem) string {
	if len(lines)+len(problems) == 0 {
		return w.empty
	}
	width := 0
	for _, l := range lines {
		width = max(width, len(l.Name))
	}
	var out strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&out, "%-7s  %-*s  %s\n", l.State, width, l.Name, oneLine(l.Description, 100))
	}
	for _, p := range problems {
		fmt.Fprintf(&out, "%-7s  %s\n", "broken", oneLine(p.String(), 300))
	}
	return out.String()
}

// checkSkills reports the skills that are left out.
func checkSkills(set *skill.Set) []finding {
	var out []finding
	for _, p := range set.Problems {
		out = append(out, finding{"skills", markWarn, p.At() + ": " + p.What, p.Hint})
	}
	for _, k := range set.Skills {
		if warning := k.Warning(); warning != "" {
			out = append(out, finding{"skills", markWarn, k.Folder + ": " + warning, "load it only where it is needed; its author can make it shorter, with the rest in files of its folder"})
		}
	}
	if len(out) == 0 && len(set.Skills) > 0 {
		out = append(out, finding{"skills", markOK, fmt.Sprintf("%d skills", len(set.Skills)), ""})
	}
	return out
}
