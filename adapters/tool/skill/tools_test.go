package skill

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/skilllock"
)

// shop is a project with the skill tools.
type shop struct {
	t       *testing.T
	dir     string
	catalog *Catalog
	store   *skilllock.Store
	set     *tool.Set
}

func newShop(t *testing.T) *shop {
	t.Helper()
	dir, c := project(t)
	s := &shop{t: t, dir: dir, catalog: c, store: skilllock.New(filepath.Join(dir, ".ship"))}
	set, err := tool.NewSet(Tools(Options{Catalog: c, Store: s.store})...)
	stdtest.Must(t, err)
	stdtest.Must(t, set.Check())
	s.set = set
	return s
}

func (s *shop) skill(name string, more map[string]string) string {
	s.t.Helper()
	own := filepath.Join(s.dir, ".ship/skills", name)
	put(s.t, own, map[string]string{fileName: md(name)})
	put(s.t, own, more)
	return own
}

func call(input string) tool.Call {
	return tool.Call{ID: "c1", Name: LoadName, Input: json.RawMessage(input), Run: tool.Run{ChatKey: "telegram-chat-1"}}
}

func (s *shop) tool(name string) tool.Tool {
	s.t.Helper()
	t, ok := s.set.Lookup(name)
	if !ok {
		s.t.Fatalf("no tool %s", name)
	}
	return t
}

func (s *shop) judge(input string) tool.Decision {
	s.t.Helper()
	stdtest.Must(s.t, s.set.Validate(LoadName, json.RawMessage(input)))
	return tool.BySpec(s.tool(LoadName), call(input)).Decision
}

func (s *shop) ask(input string) tool.Explanation {
	s.t.Helper()
	e, ok := s.tool(LoadName).(tool.Explainer)
	if !ok {
		s.t.Fatal("the tool explains nothing")
	}
	out, err := e.Explain(call(input))
	stdtest.Must(s.t, err)
	return out
}

// load invokes the tool with a person's answer. An empty answer means that nobody was asked.
func (s *shop) load(input, bind string) (tool.Result, error) {
	s.t.Helper()
	c := call(input)
	c.Bind = bind
	return s.tool(LoadName).Invoke(s.t.Context(), c)
}

func (s *shop) agreed() []string {
	s.t.Helper()
	list, err := s.store.SkillApprovals(s.t.Context())
	stdtest.Must(s.t, err)
	var out []string
	for _, a := range list {
		out = append(out, a.Name+" "+a.Digest+" "+a.Folder+" "+a.Where)
	}
	return out
}

const loadPDF = `{"name":"pdf"}`

func TestLoadAsksOnceForADigest(t *testing.T) {
	s := newShop(t)
	s.skill("pdf", map[string]string{"run.sh": "echo"})
	if d := s.judge(loadPDF); d != tool.Ask {
		t.Errorf("the first load: %s, want ask", d)
	}
	if _, err := s.load(loadPDF, ""); err == nil || !strings.Contains(err.Error(), "nobody agreed") {
		t.Errorf("a load that nobody agreed to: %v", err)
	}
	asked := s.ask(loadPDF)
	skill, _ := s.catalog.Current().Find("pdf")
	const want = "what pdf does"
	if diff := cmp.Diff(want, asked.Exact); diff != "" || asked.Bind != skill.Digest || asked.What == "" || asked.Risk == "" {
		t.Errorf("asked %+v (-want +got):\n%s", asked, diff)
	}
	r, err := s.load(loadPDF, asked.Bind)
	stdtest.Must(t, err)
	stdtest.Diff(t, "order", messages.SkillOrder{Name: "pdf", Digest: skill.Digest}, r.Skill)
	stdtest.Diff(t, "agreed", []string{"pdf " + skill.Digest + " .ship/skills/pdf telegram-chat-1"}, s.agreed())
	if !strings.Contains(string(r.Output), `"loaded":"pdf"`) || r.Summary != "loaded pdf" {
		t.Errorf("result %s, %q", r.Output, r.Summary)
	}
	if d := s.judge(`{"name":" PDF "}`); d != tool.Allow {
		t.Errorf("the next load: %s, want allow", d)
	}
	again, err := s.load(loadPDF, "")
	if err != nil || again.Skill != r.Skill {
		t.Errorf("the next load: %+v, %v", again.Skill, err)
	}
}

func TestLoadPutsAway(t *testing.T) {
	s := newShop(t)
	if d := s.judge(`{"name":"gone","unload":true}`); d != tool.Allow {
		t.Errorf("to put away: %s, want allow", d)
	}
	r, err := s.load(`{"name":"gone","unload":true}`, "")
	if want := (messages.SkillOrder{Name: "gone"}); err != nil || r.Skill != want {
		t.Errorf("order %+v, %v, want %+v", r.Skill, err, want)
	}
	if _, err := s.load(`{"name":"a@b","unload":true}`, ""); !errors.Is(err, tool.ErrInput) {
		t.Errorf("a name that there cannot be: %v", err)
	}
}

func TestLoadUnknown(t *testing.T) {
	s := newShop(t)
	if _, err := s.load(loadPDF, ""); !errors.Is(err, tool.ErrInput) || !strings.Contains(err.Error(), "there are no skills here") {
		t.Errorf("without skills: %v", err)
	}
	s.skill("a", nil)
	s.skill("b", nil)
	s.catalog.Refresh()
	if d := s.judge(loadPDF); d != tool.Allow {
		t.Errorf("a call that can load nothing: %s, want allow", d)
	}
	if _, err := s.load(loadPDF, "sha256:x"); !errors.Is(err, tool.ErrInput) || !strings.HasSuffix(err.Error(), `no skill is named "pdf"; there are: a, b`) {
		t.Errorf("an unknown one: %v", err)
	}
}

// Agreements that cannot be read count as none, and their file is not overwritten.
func TestDamagedLockAsks(t *testing.T) {
	s := newShop(t)
	s.skill("pdf", nil)
	bind := s.ask(loadPDF).Bind
	_, err := s.load(loadPDF, bind)
	stdtest.Must(t, err)
	put(t, s.dir, map[string]string{".ship/skills.lock": `{"v":1,"skills":[`})
	if d := s.judge(loadPDF); d != tool.Ask {
		t.Errorf("with a damaged file: %s, want ask", d)
	}
	if _, err := s.load(loadPDF, bind); !errors.Is(err, persistence.ErrSkillLock) {
		t.Errorf("a load: %v", err)
	}
	raw, err := os.ReadFile(s.store.Path())
	if err != nil || string(raw) != `{"v":1,"skills":[` {
		t.Errorf("the file became %q, %v", raw, err)
	}
}

func TestListShowsStates(t *testing.T) {
	s := newShop(t)
	s.skill("agreed", nil)
	changed := s.skill("changed", nil)
	put(t, s.dir, map[string]string{
		".ship/skills/new/SKILL.md":    "---\ndescription: d\nallowed-tools: Read\n---\nt",
		".ship/skills/broken/SKILL.md": "x",
	})
	for _, name := range []string{"agreed", "changed"} {
		input := `{"name":"` + name + `"}`
		_, err := s.load(input, s.ask(input).Bind)
		stdtest.Must(t, err)
	}
	put(t, changed, map[string]string{"run.sh": "rm"})
	r, err := s.tool(ListName).Invoke(t.Context(), tool.Call{Input: json.RawMessage(`{}`)})
	stdtest.Must(t, err)
	want := `{"skills":[` +
		`{"name":"agreed","description":"what agreed does","folder":".ship/skills/agreed","state":"pinned"},` +
		`{"name":"changed","description":"what changed does","folder":".ship/skills/changed","state":"changed"},` +
		`{"name":"new","description":"d","folder":".ship/skills/new","state":"new","allowedTools":["read_file"]}],` +
		`"leftOut":[".ship/skills/broken/SKILL.md:1: there is no front matter; begin the file with a line ---, then name and description, then a line ---"]}`
	stdtest.Diff(t, "result", want, string(r.Output))
	if risk := s.ask(`{"name":"changed"}`).Risk; !strings.HasPrefix(risk, "It has changed since somebody agreed to it.") {
		t.Errorf("risk of a changed one: %q", risk)
	}
}
