// Package skills holds the commands that list, show, approve and forget skills. They work on the files, which a running
// host follows.
package skills

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/adapters/tool/skill"
	"github.com/shipmyagent/shipmyagent/cmd/internal/agentdir"
	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/skilllock"
)

// Commands is the command skills with its subcommands. An approval is for a skill's folder as it is now: any later
// change in the folder asks again.
func Commands(a *console.Console) *cobra.Command {
	return console.Group(&cobra.Command{
		Use: "skills", Short: "List, show, approve and forget skills",
		Long: "A skill is a folder with a SKILL.md in .ship/skills, .claude/skills or one of skills.paths. Once you approve it, it\n" +
			"loads without asking, until anything in its folder changes. Works while the host is running.",
		Example: "  sma skills list\n  sma skills show pdf\n  sma skills approve pdf",
	}, listCmd(a), showCmd(a), approveCmd(a), forgetCmd(a))
}

// skills are the skills of a project, and their approvals.
type skills struct {
	set       *skill.Set
	store     *skilllock.Store
	approvals []persistence.SkillApproval
}

func openSkills(ctx context.Context, a *console.Console) (skills, error) {
	dir, state, err := a.Folders(nil)
	if err != nil {
		return skills{}, err
	}
	loaded, err := a.Load(dir, false)
	if err != nil {
		return skills{}, err
	}
	s := skills{set: agentdir.SkillCatalog(dir, state, loaded.Settings.Skills).Current(), store: agentdir.SkillStore(state)}
	s.approvals, err = s.store.SkillApprovals(ctx)
	return s, console.Failure{Code: console.CodeFailed, What: "what was agreed to cannot be read"}.Because(err)
}

// Names are the names of the skills, for completion. It is empty if they cannot be read.
func Names(ctx context.Context, a *console.Console) (out []string) {
	s, err := openSkills(ctx, a)
	if err != nil {
		return nil
	}
	for _, k := range s.set.Skills {
		out = append(out, k.Name)
	}
	return out
}

// skillLine is a skill as JSON. Members are only ever added.
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

// list is the JSON of skills list.
type list struct {
	Skills   []skillLine     `json:"skills"`
	Problems []skill.Problem `json:"problems,omitempty"`
}

func listed(ctx context.Context, a *console.Console) (list, error) {
	s, err := openSkills(ctx, a)
	if err != nil {
		return list{}, err
	}
	out := list{[]skillLine{}, s.set.Problems}
	for _, k := range s.set.Skills {
		out.Skills = append(out.Skills, s.line(k))
	}
	return out, nil
}

// Document is the JSON of skills show or, without a name, of skills list.
func Document(ctx context.Context, a *console.Console, name string) (any, error) {
	if name == "" {
		return listed(ctx, a)
	}
	s, k, err := namedSkill(ctx, a, []string{name})
	line := s.line(k)
	line.Text = k.Text
	return line, err
}

func listCmd(a *console.Console) *cobra.Command {
	return console.Command[list]{
		Run:  func(ctx context.Context, _ []string) (list, error) { return listed(ctx, a) },
		Text: func(l list) string { return listText(a, l.Skills, l.Problems) },
	}.On(a, &cobra.Command{
		Use: "list", Short: "List the skills, and those that were refused", Args: cobra.NoArgs, Example: "  sma skills list --json",
		Long: "pinned: approved, loads without asking. new, changed: a person is asked first. broken: refused, with the reason.",
	})
}

// namedSkill is the skill that the arguments name, and all skills.
func namedSkill(ctx context.Context, a *console.Console, args []string) (skills, skill.Skill, error) {
	s, err := openSkills(ctx, a)
	if err != nil {
		return s, skill.Skill{}, err
	}
	k, ok := s.set.Find(strings.ToLower(args[0]))
	if !ok {
		err = &console.Failure{Code: console.CodeUsage, What: fmt.Sprintf("there is no skill %q that can be loaded", args[0]), Help: "sma skills list"}
	}
	return s, k, err
}

func showCmd(a *console.Console) *cobra.Command {
	type shown struct {
		skill.Skill
		line skillLine
	}
	return console.Command[shown]{
		Run: func(ctx context.Context, args []string) (shown, error) {
			s, k, err := namedSkill(ctx, a, args)
			return shown{k, s.line(k)}, err
		},
		JSON: func(s shown) any {
			s.line.Text = s.Text
			return s.line
		},
		Text: func(s shown) string {
			text := s.Describe() + "state: " + string(s.line.State) + "\n"
			if len(s.Unknown) > 0 {
				text += "allowed tools that mean nothing here: " + checkup.OneLine(strings.Join(s.Unknown, ", "), 500) + "\n"
			}
			return text + "\n" + s.Text + "\n"
		},
	}.On(a, &cobra.Command{Use: "show NAME", Short: "Show a skill", Args: cobra.ExactArgs(1), Example: "  sma skills show pdf"})
}

func approveCmd(a *console.Console) *cobra.Command {
	return a.Prints(&cobra.Command{
		Use: "approve NAME", Short: "Approve a skill in its current version", Args: cobra.ExactArgs(1), Example: "  sma skills show pdf\n  sma skills approve pdf",
		Long: "Approves a skill: it loads in every chat without asking, until anything in its folder changes.",
	}, func(ctx context.Context, args []string) (string, error) {
		s, k, err := namedSkill(ctx, a, args)
		if err != nil {
			return "", err
		}
		return k.Name + " " + k.Digest + "\n", s.approve(ctx, k, "sma skills")
	})
}

// approve approves a skill as it is now.
func (s skills) approve(ctx context.Context, k skill.Skill, where string) error {
	if skill.StateOf(k, s.approvals) == skill.StatePinned {
		return nil
	}
	agreed := persistence.SkillApproval{Name: k.Name, Digest: k.Digest, Folder: k.Folder, At: time.Now().UTC().Truncate(time.Second), Where: where}
	return console.Failure{Code: console.CodeFailed, What: "the skill could not be approved"}.Because(s.store.ApproveSkill(ctx, agreed))
}

// Order carries out an order of the console: to approve a skill with the digest of what a person saw or, without a
// digest, to withdraw the approval.
func Order(ctx context.Context, a *console.Console, order []byte) (any, error) {
	var o struct{ Name, Digest string }
	if err := json.Unmarshal(order, &o); err != nil || o.Name == "" {
		return nil, &console.Failure{Code: console.CodeUsage, What: "the order cannot be read", Why: err}
	}
	s, k, err := namedSkill(ctx, a, []string{o.Name})
	if err != nil {
		return nil, err
	}
	switch {
	case o.Digest == "":
		if _, err := s.store.ForgetSkill(ctx, k.Name); err != nil {
			return nil, &console.Failure{Code: console.CodeFailed, What: "the skill could not be forgotten", Why: err}
		}
	case o.Digest != k.Digest:
		return nil, &console.Failure{Code: console.CodeFailed, What: "the skill has changed since it was shown; nothing was approved"}
	default:
		if err := s.approve(ctx, k, "console"); err != nil {
			return nil, err
		}
	}
	s.approvals, err = s.store.SkillApprovals(ctx)
	return s.line(k), console.Failure{Code: console.CodeFailed, What: "what was agreed to cannot be read"}.Because(err)
}

func forgetCmd(a *console.Console) *cobra.Command {
	return a.Prints(&cobra.Command{
		Use: "forget NAME", Short: "Ask again before a skill loads", Args: cobra.ExactArgs(1), Example: "  sma skills forget pdf",
		Long: "Withdraws the approval of a skill: a person is asked again before it loads. Its folder is not changed. Chats that\n" +
			"have loaded it keep it until they no longer need it.",
	}, func(ctx context.Context, args []string) (string, error) {
		s, err := openSkills(ctx, a)
		if err != nil {
			return "", err
		}
		switch gone, err := s.store.ForgetSkill(ctx, strings.ToLower(args[0])); {
		case err != nil:
			return "", &console.Failure{Code: console.CodeFailed, What: "the skill could not be forgotten", Why: err}
		case !gone:
			return a.Text("nobody has agreed to it\n", "没有人同意过这个技能\n"), nil
		}
		return a.Text("the next load asks again\n", "下次加载会再次询问\n"), nil
	})
}

func listText(a *console.Console, lines []skillLine, problems []skill.Problem) string {
	if len(lines)+len(problems) == 0 {
		return a.Text("there are no skills\n", "没有技能\n")
	}
	width := 0
	for _, l := range lines {
		width = max(width, len(l.Name))
	}
	var out strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&out, "%s  %-*s  %s\n", console.Column(a.Words(string(l.State)), 7), width, l.Name, checkup.OneLine(l.Description, 100))
	}
	for _, p := range problems {
		fmt.Fprintf(&out, "%s  %s\n", console.Column(a.Words("broken"), 7), checkup.OneLine(p.String(), 300))
	}
	return out.String()
}

// Check reports the skills that are left out, and warnings about others.
func Check(set *skill.Set) []checkup.Finding {
	var out []checkup.Finding
	for _, p := range set.Problems {
		out = append(out, checkup.New("skills", checkup.Warn, p.At()+": "+p.What, p.Hint))
	}
	for _, k := range set.Skills {
		if warning := k.Warning(); warning != "" {
			out = append(out, checkup.New("skills", checkup.Warn, k.Folder+": "+warning, "load it only where it is needed; its author can make it shorter, with the rest in files of its folder"))
		}
	}
	if len(out) == 0 && len(set.Skills) > 0 {
		out = append(out, checkup.New("skills", checkup.OK, fmt.Sprintf("%d skills", len(set.Skills)), ""))
	}
	return out
}
