//go:build linux

package mcp

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox/bubblewrap"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/landlock"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/sandboxtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// inProject runs a test in both sandboxes, in a project with a version store, one in a folder below, and a server that
// may write all of it.
func inProject(t *testing.T, test func(t *testing.T, w *world, s Server, project string)) {
	t.Helper()
	for _, box := range []sandboxtest.Checker{bubblewrap.New(bubblewrap.Options{}), landlock.New(landlock.Options{})} {
		t.Run(box.Name(), func(t *testing.T) {
			sandboxtest.Need(t, box)
			project, err := filepath.EvalSymlinks(t.TempDir())
			stdtest.Must(t, err)
			for file, text := range map[string]string{"Agent.md": "good", "scripts/check": "good", "vendor/app/.vscode/tasks.json": "{}", "large/x": "x"} {
				stdtest.Write(t, filepath.Join(project, file), text)
			}
			for _, args := range [][]string{{"init", "-q", "."}, {"init", "-q", "vendor/lib"}} {
				cmd := exec.CommandContext(t.Context(), "git", args...) //nolint:gosec // the words above
				if cmd.Dir = project; cmd.Run() != nil {
					t.Fatalf("git %v failed", args)
				}
			}
			stdtest.Must(t, os.Symlink("../../scripts/check", filepath.Join(project, ".git/hooks/pre-commit")))
			w := newWorld(t, func(o *Options) {
				o.Sandbox, o.Project, o.ReadOnly, o.Exclude = box, project, []string{filepath.Join(project, "Agent.md")}, []string{filepath.Join(project, "large")}
			})
			s := w.server("s", plain("sh"))
			s.Write = []string{project, filepath.Join(w.dir, "script-s")}
			test(t, w, s, project)
		})
	}
}

func (w *world) sh(project, text string) (string, error) {
	input, err := json.Marshal(map[string]string{"text": text, "dir": project})
	stdtest.Must(w.t, err)
	return w.call("s:sh", string(input))
}

// A server that may write the whole project leaves nothing behind that programs of people, or the agent, obey.
func TestNothingOfAServerSteers(t *testing.T) {
	inProject(t, func(t *testing.T, w *world, s Server, project string) {
		t.Helper()
		w.apply(s)
		w.up("s")
		tries := map[string]string{
			"Agent.md": "echo evil >Agent.md", ".vscode/tasks.json": "mkdir .vscode; echo evil >.vscode/tasks.json", ".git/config": "echo evil >>.git/config",
			"vendor/lib/.git/config": "echo evil >>vendor/lib/.git/config", "vendor/lib/.git/hooks/post-checkout": "echo evil >vendor/lib/.git/hooks/post-checkout",
			"vendor/app/.vscode/tasks.json": "echo evil >vendor/app/.vscode/tasks.json", "scripts/check": "echo evil >scripts/check; rm -f scripts/check; echo evil >scripts/check",
			"vendor/lib/.git/hooks/pre-push": "mv vendor v; mkdir -p vendor/lib/.git/hooks; echo evil >vendor/lib/.git/hooks/pre-push", "large/.git/config": "mkdir large/.git; echo evil >large/.git/config",
		}
		for file, text := range tries {
			if _, err := w.sh(project, "("+text+") 2>/dev/null; echo x >>tried"); err != nil {
				t.Errorf("%s: %v", text, err)
			}
			if data, _ := os.ReadFile(filepath.Join(project, file)); strings.Contains(string(data), "evil") {
				t.Errorf("%s made %s", text, file)
			}
		}
		if data, _ := os.ReadFile(filepath.Join(project, "tried")); len(data) != 2*len(tries) {
			t.Errorf("%d bytes were written, want %d", len(data), 2*len(tries))
		}
		for i, file := range []string{".git/commondir", "vendor/lib/.git/commondir", "vendor/lib/.git/config.worktree"} {
			_, _ = w.sh(project, "echo ../evil >"+file+"; sleep 9") // it is ended
			w.until("the server to start again", func() bool { return w.marks("s", "started") > i+1 })
			w.up("s")
			if _, err := os.Lstat(filepath.Join(project, file)); err == nil {
				t.Errorf("%s was left", file)
			}
			if _, err := os.Lstat(filepath.Join(project, file+".put-aside")); err != nil {
				t.Errorf("%s was not put aside: %v", file, err)
			}
		}
		log, err := ReadLog(w.o.Logs, "s")
		if err != nil || !strings.Contains(log, "it was ended, because vendor/lib/.git/commondir appeared, which git would obey; that was renamed") {
			t.Errorf("the log: %v\n%s", err, log)
		}
	})
}

// A person who changes what a server must not change, as git config does, ends the server, however often. It starts anew.
func TestPeopleChangeWhatSteers(t *testing.T) {
	inProject(t, func(t *testing.T, w *world, s Server, project string) {
		t.Helper()
		w.apply(s)
		for i := range 8 {
			w.up("s")
			cmd := exec.CommandContext(t.Context(), "git", "config", "user.name", fmt.Sprint("n", i)) //nolint:gosec // the words above
			if cmd.Dir = project; cmd.Run() != nil {
				t.Fatal("git failed")
			}
			w.until("the server to start again", func() bool { return w.marks("s", "started") > i+1 })
		}
		w.up("s")
		if _, err := w.sh(project, "echo evil >>.git/config"); err != nil {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(filepath.Join(project, ".git/config")); err != nil || strings.Contains(string(data), "evil") {
			t.Errorf("the settings of git: %s, %v", data, err)
		}
	})
}

// A repository that appears while a server runs is kept from it, too: between two calls it is started anew.
func TestServersAreStartedAnewForNewRepositories(t *testing.T) {
	inProject(t, func(t *testing.T, w *world, s Server, project string) {
		t.Helper()
		w.apply(s)
		w.up("s")
		c, err := w.m.client("s")
		stdtest.Must(t, err)
		c.mu.Lock()
		l := c.link
		c.mu.Unlock()
		if why := c.outgrown(t.Context(), l.gone); why != "" {
			t.Errorf("without a change: %s", why)
		}
		stdtest.Write(t, filepath.Join(project, "new/.git/config"), "")
		c.calls <- struct{}{}
		if why := c.outgrown(t.Context(), l.gone); why != "" {
			t.Errorf("during a call: %s", why)
		}
		<-c.calls
		want := "it is started anew, because it must not change " + filepath.Join(project, "new/.git/config") + ", which is new"
		stdtest.Diff(t, "why it ends", want, c.outgrown(t.Context(), l.gone))
	})
}

// Links do not widen what a server may write, and do not hide from the host that it may write the project.
func TestLinksDoNotWidenWhatServersWrite(t *testing.T) {
	inProject(t, func(t *testing.T, w *world, s Server, project string) {
		t.Helper()
		link := func(target, name string) string {
			stdtest.Must(t, os.Symlink(target, name))
			return name
		}
		outside := t.TempDir()
		for name, x := range map[string]struct {
			write string
			want  string // "" if it starts
		}{
			"out of the project":     {link(outside, filepath.Join(project, "out")), "symbolic link that leads out of the project"},
			"behind one":             {filepath.Join(link(filepath.Dir(outside), filepath.Join(project, "up")), filepath.Base(outside)), "symbolic link that leads out of the project"},
			"in the project":         {link("scripts", filepath.Join(project, "in")), ""},
			"to the project":         {link(project, filepath.Join(outside, "p")), ""},
			"through another's link": {filepath.Join(outside, "p", "out"), "leads out of the folder"},
			"to a link that steers":  {link(project, filepath.Join(outside, "q")), ""},
		} {
			t.Run(name, func(t *testing.T) {
				s.Write = []string{x.write, filepath.Join(w.dir, "script-s")}
				w.apply(s)
				var got ServerStatus // a server that failed is started again
				w.until("it to start or fail", func() bool {
					got = w.status("s")
					return got.Condition == ConditionUp || got.Reason != ""
				})
				if x.want == "" && got.Condition != ConditionUp || !strings.Contains(got.Reason, x.want) {
					t.Errorf("%+v, want %q", got, x.want)
				}
				if x.want == "" {
					if _, err := w.sh(project, "echo evil >>.git/config"); err != nil {
						t.Error(err)
					}
				}
				w.apply()
			})
		}
		if data, err := os.ReadFile(filepath.Join(project, ".git/config")); err != nil || strings.Contains(string(data), "evil") {
			t.Errorf("the settings of git: %s, %v", data, err)
		}
		link("../scripts", filepath.Join(project, "vendor/x"))
		stdtest.Must(t, os.Rename(filepath.Join(project, ".git/hooks"), filepath.Join(project, "hooks")))
		link("../hooks", filepath.Join(project, ".git/hooks"))
		s.Write = []string{project}
		w.apply(s)
		w.until("it to fail", func() bool {
			return strings.Contains(w.status("s").Reason, ".git/hooks is a symbolic link in a folder that s may write")
		})
	})
}
