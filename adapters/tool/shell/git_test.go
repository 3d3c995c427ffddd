package shell_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/machinetest"
	"github.com/shipmyagent/shipmyagent/adapters/tool/shell"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// hostile is a repository whose settings name a program that leaves a marker, for every way in
// which git can be made to start a program.
type hostile struct {
	t       *testing.T
	dir     string // of the repository
	markers string
}

// evil is a program that leaves a marker named after what started it, and then
// behaves as git wants it to.
func (h *hostile) evil(name, then string) string {
	h.t.Helper()
	path := filepath.Join(h.markers, "bin", name)
	writeFile(h.t, path, fmt.Sprintf("#!/bin/sh\ntouch '%s/%s'\n%s\n", h.markers, name, then), 0o755)
	return path
}

// git runs git as the author of the hostile repository.
func (h *hostile) git(dir string, args ...string) string {
	h.t.Helper()
	cmd := exec.CommandContext(h.t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "GIT_ALLOW_PROTOCOL=file",
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		h.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func newHostile(t *testing.T, dir string) *hostile {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		machinetest.Missing(t, "git is not there")
	}
	h := &hostile{t: t, dir: dir, markers: filepath.Join(dir, "markers")}
	stdtest.Must(t, os.MkdirAll(h.markers, 0o777))
	h.git(dir, "init", "-q", "-b", "main")
	writeFile(t, filepath.Join(dir, ".git", "info", "exclude"), "/markers\n", 0o644)
	writeFile(t, filepath.Join(dir, "a.txt"), "one\n", 0o644)
	writeFile(t, filepath.Join(dir, "b.bin"), "two\n", 0o644)
	writeFile(t, filepath.Join(dir, "notes.md"), "three\n", 0o644)
	writeFile(t, filepath.Join(dir, "c.dat"), "four\n", 0o644)
	writeFile(t, filepath.Join(dir, ".gitattributes"), "*.txt diff=evil\n*.bin diff=conv\n*.md filter=evil\n*.dat diff=Evil.x\n", 0o644)
	h.git(dir, "add", ".")
	h.git(dir, "commit", "-qm", "one")
	writeFile(t, filepath.Join(dir, "a.txt"), "one\nmore\n", 0o644)
	writeFile(t, filepath.Join(dir, "b.bin"), "two\nmore\n", 0o644)
	h.git(dir, "commit", "-qam", "two")
	h.submodules(t)
	for _, name := range []string{"a.txt", "b.bin", "notes.md", "c.dat"} {
		writeFile(t, filepath.Join(dir, name), name+" changed\n", 0o644)
	}
	h.poison(dir, "")
	return h
}

// submodules adds one that is known and one that is only there, both poisoned.
func (h *hostile) submodules(t *testing.T) {
	t.Helper()
	for i, name := range []string{"known", "stray"} {
		sub := filepath.Join(h.dir, name)
		stdtest.Must(t, os.MkdirAll(sub, 0o755))
		h.git(sub, "init", "-q", "-b", "main")
		writeFile(t, filepath.Join(sub, "s.md"), "x\n", 0o644)
		writeFile(t, filepath.Join(sub, ".gitattributes"), "* filter=evil\n", 0o644)
		h.git(sub, "add", ".")
		h.git(sub, "commit", "-qm", "sub")
		if i == 0 {
			writeFile(t, filepath.Join(h.dir, ".gitmodules"), "[submodule \"k.n\"]\n\tpath = known\n\turl = ./x\n\tignore = none\n", 0o644)
			h.git(h.dir, "config", "submodule.k.n.url", "./x")
			h.git(h.dir, "config", "submodule.k.n.active", "true")
			h.git(h.dir, "config", "submodule.k.n.ignore", "none")
			h.git(h.dir, "add", ".gitmodules")
		}
		h.git(h.dir, "add", name)
	}
	h.git(h.dir, "commit", "-qm", "subs")
	for _, name := range []string{"known", "stray"} {
		sub := filepath.Join(h.dir, name)
		h.poison(sub, "sub-")
		writeFile(t, filepath.Join(sub, "s.md"), "y\n", 0o644)
	}
}

// poison makes the settings name programs that leave markers.
func (h *hostile) poison(dir, prefix string) {
	h.t.Helper()
	set := func(key, value string) { h.git(dir, "config", key, value) }
	for _, hook := range []string{"post-index-change", "pre-commit", "post-checkout", "reference-transaction", "fsmonitor-watchman", "post-merge"} {
		writeFile(h.t, filepath.Join(dir, ".git", "hooks", hook), "#!/bin/sh\ntouch '"+h.markers+"/"+prefix+"hook'\n", 0o755)
	}
	set("core.hooksPath", filepath.Join(dir, ".git", "hooks"))
	set("core.pager", h.evil(prefix+"pager", "cat"))
	set("pager.status", h.evil(prefix+"pager-status", "cat"))
	set("pager.log", h.evil(prefix+"pager-log", "cat"))
	set("core.editor", h.evil(prefix+"editor", ""))
	set("core.sshCommand", h.evil(prefix+"ssh", "exit 1"))
	set("core.askPass", h.evil(prefix+"askpass", "exit 1"))
	set("credential.helper", "!"+h.evil(prefix+"credential", "exit 1"))
	set("diff.external", h.evil(prefix+"external", ""))
	set("diff.evil.command", h.evil(prefix+"driver", ""))
	set("diff.Evil.x.command", h.evil(prefix+"driver-dotted", ""))
	set("diff.conv.textconv", h.evil(prefix+"textconv", `cat "$1"`))
	set("filter.evil.clean", h.evil(prefix+"clean", "cat"))
	set("filter.evil.smudge", h.evil(prefix+"smudge", "cat"))
	set("filter.evil.required", "true")
	set("log.showSignature", "true")
	set("gpg.program", h.evil(prefix+"gpg", "exit 1"))
	set("status.submoduleSummary", "true")
	set("diff.submodule", "diff")
	set("diff.ignoreSubmodules", "none")
	set("submodule.recurse", "true")
	set("interactive.diffFilter", h.evil(prefix+"filter", "cat"))
	set("alias.status", "!"+h.evil(prefix+"alias", ""))
	set("protocol.ext.allow", "always")
	set("core.fsmonitor", h.evil(prefix+"fsmonitor", "exit 1")) // last: git itself would run it
}

// marked returns the markers that exist.
func (h *hostile) marked() []string {
	h.t.Helper()
	entries, err := os.ReadDir(h.markers)
	stdtest.Must(h.t, err)
	var out []string
	for _, e := range entries {
		if !e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out
}

func (h *hostile) wipe() {
	h.t.Helper()
	for _, name := range h.marked() {
		stdtest.Must(h.t, os.Remove(filepath.Join(h.markers, name)))
	}
}

// A reading git command runs no program that a repository names.
func TestSB9NothingOfARepositoryRuns(t *testing.T) {
	behindWalls(t, func(p place) {
		t, in := p.t, p.in
		dir := filepath.Join(t.TempDir(), "project")
		stdtest.Must(t, os.MkdirAll(dir, 0o755))
		w := newWorld(t, in, func(o *shell.Options) { o.Workspace = dir })
		h := newHostile(t, dir)
		h.wipe()
		t.Run("the traps are armed", func(t *testing.T) {
			for _, text := range []string{"git status", "git diff", "git log -p", "git -c core.fsmonitor=false diff HEAD~1"} {
				cmd := exec.CommandContext(t.Context(), "sh", "-c", text)
				cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent"}
				_ = cmd.Run() // some of them fail
			}
			got := strings.Join(h.marked(), " ")
			for _, want := range []string{"fsmonitor", "driver", "textconv", "clean", "hook", "sub-clean", "sub-fsmonitor"} {
				if !strings.Contains(got, want) {
					t.Errorf("%s does not work; markers: %s", want, got)
				}
			}
		})
		reads := []string{
			"git status", "git status -sb", "git status --porcelain=v2", "git status 2>&1", "git status --untracked-files=all 2>/dev/null", "git log", "git log -p",
			"git log --stat -n 3", "git log --oneline --graph", "git log --format=%G?%GS", "git diff", "git diff --stat", "git diff --cached",
			"git diff HEAD~1", "git diff HEAD~2 HEAD -- a.txt", "git show", "git show HEAD~1", "git show HEAD:a.txt", "git show --stat", "git blame b.bin",
			"git branch -a", "git ls-files -m", "git ls-files -o", "git rev-parse HEAD", "git remote -v", "g'it' status", "git \\\nstatus ;",
		}
		for _, text := range reads {
			t.Run(text, func(t *testing.T) {
				h.wipe()
				out, code := w.run(text)
				if got := h.marked(); len(got) > 0 {
					t.Errorf("markers: %v", got)
				}
				if code != 0 && !strings.Contains(text, "-p") {
					t.Errorf("exit code %d: %s", code, out)
				}
			})
			if strings.ContainsAny(text, "<>;'\\") {
				continue
			}
			t.Run("words of "+text, func(t *testing.T) {
				h.wipe()
				w.answer(call(shell.ExecName, obj{"argv": strings.Fields(text), "why": "x"}))
				if got := h.marked(); len(got) > 0 {
					t.Errorf("markers: %v", got)
				}
			})
		}
		if out, _ := w.run("git diff -- a.txt"); !strings.Contains(out, "+a.txt changed") || !strings.Contains(out, "-one") {
			t.Errorf("git diff shows %q", out)
		}
		if out, _ := w.run("git diff -- b.bin"); !strings.Contains(out, "+b.bin changed") {
			t.Errorf("git diff shows %q", out)
		}
		if out, _ := w.run("git status -s"); !strings.Contains(out, " M a.txt") || !strings.Contains(out, " M notes.md") {
			t.Errorf("git status shows %q", out)
		}
	})
}

// Looking at a repository does not fetch its missing objects.
func TestSB9NothingIsFetched(t *testing.T) {
	top := t.TempDir()
	dir, origin := filepath.Join(top, "project"), filepath.Join(top, "origin")
	stdtest.Must(t, os.MkdirAll(origin, 0o755))
	h := newHostile(t, origin)
	h.git(origin, "config", "--unset", "core.fsmonitor")
	h.git(origin, "config", "uploadpack.allowFilter", "true")
	h.git(top, "-c", "protocol.file.allow=always", "clone", "-q", "--no-checkout", "--filter=blob:none", "file://"+origin, dir)
	h.git(dir, "config", "remote.origin.uploadpack", h.evil("uploadpack", "exit 1"))
	w := newWorld(t, func(o *shell.Options) { o.Workspace = dir })
	h.wipe()
	cmd := exec.CommandContext(t.Context(), "git", "show", "HEAD~1:a.txt")
	cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent"}
	_ = cmd.Run()
	if got := h.marked(); len(got) != 1 || got[0] != "uploadpack" {
		t.Fatalf("the trap is not armed: %v", got)
	}
	for _, text := range []string{"git show HEAD~1:a.txt", "git log -p", "git diff HEAD~1 HEAD", "git status", "git blame HEAD -- b.bin"} {
		h.wipe()
		w.answer(call(shell.ExecName, obj{"command": text, "why": "x"}))
		if got := h.marked(); len(got) > 0 {
			t.Errorf("%s: markers %v", text, got)
		}
	}
}

// Nor do hooks, fsmonitor, pagers and ssh commands run in what a person approved:
// who approved git commit did not approve what the repository adds to it.
func TestGitHooksNeverRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "project")
	stdtest.Must(t, os.MkdirAll(dir, 0o755))
	w := newWorld(t, func(o *shell.Options) { o.Workspace = dir })
	h := newHostile(t, dir)
	h.wipe()
	out, code := w.run("git add a.txt && git -c user.name=a -c user.email=a@b commit -qm three && git checkout -q -b other && git log --oneline -1; git fetch ssh://localhost/x 2>&1 | head -3")
	if code != 0 || !strings.Contains(out, "three") {
		t.Errorf("exit code %d: %s", code, out)
	}
	for _, m := range h.marked() {
		switch m {
		case "clean", "smudge", "sub-clean": // a filter is part of what add and checkout mean
		default:
			t.Errorf("marker %s", m)
		}
	}
}
