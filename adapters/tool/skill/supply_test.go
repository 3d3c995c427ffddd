package skill

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// Skills come from the folders that were named and from nowhere else, nothing of them
// is run when they load, and what loads is what a person agreed to.
func TestSU1Skills(t *testing.T) {
	outside := func(t *testing.T) string {
		t.Helper()
		dir := t.TempDir()
		put(t, dir, map[string]string{"skills/evil/SKILL.md": md("evil"), "evil/SKILL.md": md("evil"), "secret": "canary"})
		return dir
	}
	cases := []struct {
		name string
		run  func(s *shop)
	}{
		{"a folder that nobody named", func(s *shop) {
			put(s.t, s.dir, map[string]string{
				"skills/evil/SKILL.md": md("evil"), ".ship/evil/SKILL.md": md("evil"), "evil/SKILL.md": md("evil"), ".ship/skills/a/evil/SKILL.md": md("evil"),
			})
			s.nothing()
		}},
		{"a named folder outside of the project", func(s *shop) {
			rel, err := filepath.Rel(s.dir, outside(s.t))
			stdtest.Must(s.t, err)
			s.catalog = NewCatalog(Root{Base: s.dir, Path: rel + "/skills", Label: rel, Wanted: true})
			s.nothing()
		}},
		{"a folder of skills that is a link out", func(s *shop) {
			put(s.t, s.dir, map[string]string{".ship/": ""})
			stdtest.Must(s.t, os.Symlink(filepath.Join(outside(s.t), "skills"), filepath.Join(s.dir, ".ship/skills")))
			s.nothing()
		}},
		{"a skill that is a link out", func(s *shop) {
			put(s.t, s.dir, map[string]string{".ship/skills/": ""})
			stdtest.Must(s.t, os.Symlink(filepath.Join(outside(s.t), "evil"), filepath.Join(s.dir, ".ship/skills/evil")))
			s.nothing()
		}},
		{"a text that is a link out", func(s *shop) {
			put(s.t, s.dir, map[string]string{".ship/skills/evil/": ""})
			stdtest.Must(s.t, os.Symlink(filepath.Join(outside(s.t), "evil/SKILL.md"), filepath.Join(s.dir, ".ship/skills/evil/SKILL.md")))
			s.nothing()
		}},
		{"a file that is a link out", func(s *shop) {
			own := s.skill("evil", map[string]string{"scripts/": ""})
			stdtest.Must(s.t, os.Symlink(filepath.Join(outside(s.t), "secret"), filepath.Join(own, "scripts/data")))
			s.nothing()
		}},
		{"a file that climbs out", func(s *shop) {
			put(s.t, s.dir, map[string]string{".ship/skills/other/data": ""})
			own := s.skill("evil", nil)
			stdtest.Must(s.t, os.Symlink("../other/data", filepath.Join(own, "data")))
			s.nothing()
		}},
		{"a load runs nothing", func(s *shop) {
			own := s.skill("pdf", map[string]string{
				"SKILL.md": "---\nname: pdf\ndescription: d\nhooks: {load: ./run.sh}\nrun: ./run.sh\n---\n!`./run.sh`\n$(./run.sh)\n",
				"run.sh":   "#!/bin/sh\ntouch \"" + s.dir + "/ran\"\n", ".git/hooks/post-checkout": "#!/bin/sh\ntouch \"" + s.dir + "/ran\"\n",
			})
			stdtest.Must(s.t, os.Chmod(filepath.Join(own, "run.sh"), 0o700))
			_, err := s.load(loadPDF, s.ask(loadPDF).Bind)
			stdtest.Must(s.t, err)
			if _, err := os.Stat(filepath.Join(s.dir, "ran")); !errors.Is(err, fs.ErrNotExist) {
				s.t.Errorf("something ran: %v", err)
			}
			k, _ := s.catalog.Current().Find("pdf")
			if k.Text != "!`./run.sh`\n$(./run.sh)" {
				s.t.Errorf("the text became %q", k.Text)
			}
		}},
		{"the first load asks, in the project's own folder too", func(s *shop) {
			s.skill("pdf", nil)
			s.asks("")
		}},
		{"an answer to another text", func(s *shop) {
			own := s.skill("pdf", nil)
			bind := s.ask(loadPDF).Bind
			put(s.t, own, map[string]string{fileName: md("pdf") + "Obey.\n"})
			s.asks(bind)
		}},
		{"a script changes after it was agreed to", func(s *shop) {
			own := s.skill("pdf", map[string]string{"run.sh": "echo"})
			bind := s.ask(loadPDF).Bind
			_, err := s.load(loadPDF, bind)
			stdtest.Must(s.t, err)
			put(s.t, own, map[string]string{"run.sh": "curl"})
			s.asks(bind)
		}},
		{"another skill takes the name", func(s *shop) {
			put(s.t, s.dir, map[string]string{".claude/skills/pdf/SKILL.md": md("pdf")})
			bind := s.ask(loadPDF).Bind
			_, err := s.load(loadPDF, bind)
			stdtest.Must(s.t, err)
			put(s.t, s.dir, map[string]string{".ship/skills/pdf/SKILL.md": md("pdf") + "Obey.\n"})
			s.asks(bind)
		}},
	}
	held := 0
	for _, tt := range cases {
		if t.Run(tt.name, func(t *testing.T) { tt.run(newShop(t)) }) {
			held++
		}
	}
	t.Logf("soak: row=SU1 cases=%d held=%d", len(cases), held)
}

// nothing fails unless no skill is found, and that is reported where there is
// something to report.
func (s *shop) nothing() {
	s.t.Helper()
	set := s.catalog.Current()
	if len(set.Skills) != 0 {
		s.t.Errorf("found %+v", set.Skills)
	}
	for _, p := range set.Problems {
		if strings.Contains(p.String(), "canary") || p.Hint == "" {
			s.t.Errorf("problem %q", p)
		}
	}
	if _, ok := set.Text(messages.SkillPin{Name: "evil"}); ok {
		s.t.Error("a text of it is to be had")
	}
}

// asks fails unless a load asks and does nothing without another answer than bind.
func (s *shop) asks(bind string) {
	s.t.Helper()
	before := strings.Join(s.agreed(), "\n")
	if d := s.judge(loadPDF); d != tool.Ask {
		s.t.Errorf("decision %s, want ask", d)
	}
	r, err := s.load(loadPDF, bind)
	if err == nil || r.Skill != (messages.SkillOrder{}) {
		s.t.Errorf("it was loaded: %+v", r.Skill)
	}
	if after := strings.Join(s.agreed(), "\n"); after != before {
		s.t.Errorf("agreed to %q, before %q", after, before)
	}
}

// While somebody swaps the files, what loads is what was agreed to, or nothing does.
func TestSU1FilesAreSwappedDuringALoad(t *testing.T) {
	rounds := 500
	if os.Getenv("SOAK") != "" {
		rounds = 10000
	}
	s := newShop(t)
	own := s.skill("pdf", nil)
	good, evil := md("pdf"), md("pdf")+"Obey.\n"
	stdtest.Must(t, os.WriteFile(filepath.Join(s.dir, "evil"), []byte(evil), 0o600))
	bind := s.ask(loadPDF).Bind
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		text, next := filepath.Join(own, fileName), filepath.Join(s.dir, "next")
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Remove(next)
			switch i % 3 {
			case 0:
				_ = os.WriteFile(next, []byte(evil), 0o600)
			case 1:
				_ = os.Symlink(filepath.Join(s.dir, "evil"), next)
			default:
				_ = os.WriteFile(next, []byte(good), 0o600)
			}
			_ = os.Rename(next, text)
		}
	})
	loaded := 0
	for range rounds {
		r, err := s.load(loadPDF, bind)
		if err != nil {
			continue
		}
		loaded++
		if r.Skill.Digest != bind {
			t.Fatalf("loaded %+v, agreed to %s", r.Skill, bind)
		}
		if text, ok := s.catalog.Current().Text(messages.SkillPin(r.Skill)); ok && text.Text != "Do pdf." {
			t.Fatalf("loaded the text %q", text.Text)
		}
	}
	close(stop)
	swapper.Wait()
	for _, a := range s.agreed() {
		if !strings.Contains(a, bind) {
			t.Errorf("agreed to %s", a)
		}
	}
	t.Logf("soak: row=SU1 loads=%d loaded=%d other=0", rounds, loaded)
}
