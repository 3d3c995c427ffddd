package skill

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
)

// The names of the tools.
const (
	ListName = "skills_list"
	LoadName = "skills_load"
)

// maxNamed is how many skills an error lists, and maxProblems how many problems a result lists.
const (
	maxNamed    = 20
	maxProblems = 30
)

//go:embed *.md *.schema.json
var docs embed.FS

// State says what loading a skill would do.
type State string

// The states of skills.
const (
	StatePinned  State = "pinned"  // loads without approval: a person agreed to this digest
	StateNew     State = "new"     // needs approval: nobody has agreed to it yet
	StateChanged State = "changed" // needs approval: it differs from what was agreed to
)

// StateOf is the state of a skill, given the approvals.
func StateOf(s Skill, approvals []persistence.SkillApproval) State {
	i := slices.IndexFunc(approvals, func(a persistence.SkillApproval) bool { return a.Name == s.Name })
	switch {
	case i < 0:
		return StateNew
	case approvals[i].Digest != s.Digest:
		return StateChanged
	}
	return StatePinned
}

// Options configure the tools. Catalog and Store are required.
type Options struct {
	Catalog *Catalog
	Store   persistence.SkillStore
}

// Tools returns the tools of this package, in a fixed order. Loading a skill again has no effect, so a call may be
// repeated.
func Tools(o Options) []tool.Tool {
	return []tool.Tool{
		&list{tool.DescribedBy(docs, "list", &tool.Spec{
			Name: ListName, Title: "List skills", ReadOnly: true, Repeatable: true, Deadline: time.Minute,
		}), o},
		&load{tool.DescribedBy(docs, "load", &tool.Spec{
			Name: LoadName, Title: "Load a skill", Ordered: true, Repeatable: true, Deadline: time.Minute,
		}), o},
	}
}

// list is skills_list.
type list struct {
	tool.Described
	Options
}

// line is a skill as shown to the model.
type line struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Folder      string   `json:"folder"`
	State       State    `json:"state"`
	Tools       []string `json:"allowedTools,omitempty"`
	Warning     string   `json:"warning,omitempty"`
}

func (t *list) Invoke(ctx context.Context, _ tool.Call) (tool.Result, error) {
	set := t.Catalog.Refresh()
	approvals, err := t.Store.SkillApprovals(ctx)
	if err != nil {
		approvals = nil // nothing counts as approved
	}
	out := struct {
		Skills   []line   `json:"skills"`
		LeftOut  []string `json:"leftOut,omitempty"`
		Problems string   `json:"problem,omitempty"`
	}{Skills: []line{}}
	for _, s := range set.Skills {
		out.Skills = append(out.Skills, line{s.Name, s.Description, s.Folder, StateOf(s, approvals), s.Tools, s.Warning()})
	}
	for _, p := range set.Problems[:min(maxProblems, len(set.Problems))] {
		out.LeftOut = append(out.LeftOut, p.String())
	}
	if more := len(set.Problems) - maxProblems; more > 0 {
		out.LeftOut = append(out.LeftOut, fmt.Sprintf("and %d more", more))
	}
	if err != nil {
		out.Problems = persistence.ErrSkillLock.Error()
	}
	return tool.Answer(out, fmt.Sprintf("%d skills", len(out.Skills)))
}

// load is skills_load.
type load struct {
	tool.Described
	Options
}

// order is the input of a call.
type order struct {
	Name   string `json:"name"`
	Unload bool   `json:"unload"`
}

func read(call tool.Call) (order, error) {
	var in order
	if err := call.Read(&in); err != nil {
		return in, err
	}
	in.Name = strings.ToLower(strings.TrimSpace(in.Name))
	return in, nil
}

// CheckCall implements [tool.Checker]. A skill needs approval unless a person agreed to its current content. A call that
// cannot load anything needs none.
func (t *load) CheckCall(call tool.Call) tool.Verdict {
	in, err := read(call)
	if err != nil || in.Unload {
		return tool.Verdict{Decision: tool.Allow}
	}
	s, ok := t.Catalog.Fresh(in.Name)
	if !ok {
		return tool.Verdict{Decision: tool.Allow}
	}
	approvals, err := t.Store.SkillApprovals(context.Background())
	if err != nil {
		return tool.Verdict{Decision: tool.Ask, Reason: err.Error()}
	}
	switch StateOf(s, approvals) {
	case StatePinned:
		return tool.Verdict{Decision: tool.Allow}
	case StateChanged:
		return tool.Verdict{Decision: tool.Ask, Reason: "the skill has changed since somebody agreed to it"}
	default:
		return tool.Verdict{Decision: tool.Ask, Reason: "nobody has agreed to this skill yet"}
	}
}

func (t *load) Explain(call tool.Call) (tool.Explanation, error) {
	in, err := read(call)
	if err != nil {
		return tool.Explanation{}, err
	}
	s, ok := t.Catalog.Fresh(in.Name)
	if !ok {
		return tool.Explanation{}, t.unknown(in.Name)
	}
	approvals, err := t.Store.SkillApprovals(context.Background())
	out, askErr := tool.Describe(LoadName, struct {
		Changed      bool
		Name, Folder string
		Files        int
		TextBytes    int64
		Tools        []string
		Tokens       int // set only if the text is large
	}{err == nil && StateOf(s, approvals) == StateChanged, s.Name, s.Folder, s.Files, int64(s.TextBytes), s.Tools, s.manyTokens()})
	out.Exact, out.Bind = s.Description, s.Digest
	return out, askErr
}

// Describe describes the skill that a person agrees to.
func (s Skill) Describe() string {
	tools := "all"
	if len(s.Tools) > 0 {
		tools = strings.Join(s.Tools, ", ")
	}
	return fmt.Sprintf("skill: %s\ndescription: %s\nfolder: %s\nSKILL.md: %d bytes\nfiles: %d, %d bytes\nallowed tools: %s\ndigest: %s\n",
		s.Name, s.Description, s.Folder, s.TextBytes, s.Files, s.Bytes, tools, s.Digest)
}

// Invoke implements [tool.Tool]. It loads the content that it reads now, if a person has agreed to that content in
// this call or before.
func (t *load) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	in, err := read(call)
	if err != nil {
		return tool.Result{}, err
	}
	if in.Unload {
		return t.unload(in.Name)
	}
	s, ok := t.Catalog.Fresh(in.Name)
	if !ok {
		return tool.Result{}, t.unknown(in.Name)
	}
	approvals, err := t.Store.SkillApprovals(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	if StateOf(s, approvals) != StatePinned {
		if call.Bind != s.Digest {
			return tool.Result{}, fmt.Errorf("nothing was loaded: nobody agreed to the skill %s as it is now; call again, so that a person is asked", s.Name)
		}
		agreed := persistence.SkillApproval{Name: s.Name, Digest: s.Digest, Folder: s.Folder, At: time.Now().UTC().Truncate(time.Second), Where: string(call.Run.ChatKey)}
		if err := t.Store.ApproveSkill(ctx, agreed); err != nil {
			return tool.Result{}, fmt.Errorf("nothing was loaded: %w", err)
		}
	}
	out := struct {
		Loaded string   `json:"loaded"`
		Digest string   `json:"digest"`
		Folder string   `json:"folder"`
		Tools  []string `json:"allowedTools,omitempty"`
		Note   string   `json:"note"`
		Warn   string   `json:"warning,omitempty"`
	}{s.Name, s.Digest, s.Folder, s.Tools, "Its text is in your instructions now, in a section skill. Work by it; its files are in the folder.", s.Warning()}
	r, err := tool.Answer(out, "loaded "+s.Name)
	r.Skill = messages.SkillOrder{Name: s.Name, Digest: s.Digest}
	return r, err
}

// unload unloads a skill, even if it no longer exists.
func (t *load) unload(name string) (tool.Result, error) {
	if !validName(name) {
		return tool.Result{}, t.unknown(name)
	}
	out := struct {
		Unloaded string `json:"unloaded"`
		Note     string `json:"note"`
	}{name, "Its text is no longer in your instructions, and it limits no tools."}
	r, err := tool.Answer(out, "put away "+name)
	r.Skill = messages.SkillOrder{Name: name}
	return r, err
}

// unknown is the error for a skill that does not exist; it lists those that do.
func (t *load) unknown(name string) error {
	set := t.Catalog.Current()
	if p, ok := set.Refused(name); ok {
		return fmt.Errorf("%w: /name: the skill %q cannot be loaded: %s", tool.ErrInput, tool.Shorten(name, 2*maxName), p)
	}
	if len(set.Skills) == 0 {
		return fmt.Errorf("%w: /name: there are no skills here", tool.ErrInput)
	}
	var names []string
	for _, s := range set.Skills[:min(maxNamed, len(set.Skills))] {
		names = append(names, s.Name)
	}
	return fmt.Errorf("%w: /name: no skill is named %q; there are: %s", tool.ErrInput, tool.Shorten(name, 2*maxName), strings.Join(names, ", "))
}
