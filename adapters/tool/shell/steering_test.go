//go:build linux

package shell_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/steering"
	"github.com/shipmyagent/shipmyagent/adapters/tool/shell"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// steeringTries are ways to leave something behind that a person's program, or the agent,
// obeys later. "evil" is what it would obey.
func steeringTries() []struct{ name, text string } {
	return []struct{ name, text string }{
		{"a setting of git", "git config core.fsmonitor evil"},
		{"a setting of git, by hand", "printf '[core]\\n\\tfsmonitor = evil\\n' >>.git/config"},
		{"settings of git anew", "rm -f .git/config; printf '[core]\\n\\tfsmonitor = evil\\n' >.git/config"},
		{"settings of git renamed over", "echo evil >c; mv -f c .git/config"},
		{"a hook", "echo evil >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit"},
		{"hooks moved away", "mv .git/hooks .git/h; mkdir .git/hooks; echo evil >.git/hooks/post-checkout"},
		{"hooks as a link", "rm -rf .git/hooks; ln -s ../evil .git/hooks"},
		{"attributes", "mkdir -p .git/info; echo '* filter=evil' >.git/info/attributes"},
		{"the store moved", "mv .git old; git init -q .; git config core.fsmonitor evil"},
		{"the store copied", "cp -r .git new; echo evil >new/config; rm -rf .git; mv new .git"},
		{"the store exchanged", "cp -r .git new; echo evil >new/config; mv --exchange new .git"},
		{"the store as a link", "cp -r .git new; echo evil >new/config; rm -rf .git; ln -sfn new .git"},
		{"a pointer to other settings", "mkdir e; echo evil >e/config; echo ../e >.git/commondir"},
		{"a pointer, for a moment", "echo ../e >.git/x; mv .git/x .git/commondir; sleep 1"},
		{"a pointer as a link", "echo ../e >p; ln -s ../p .git/commondir"},
		{"settings of a working folder", "git config extensions.worktreeConfig true; printf '[core]\\n\\tfsmonitor = evil\\n' >.git/config.worktree"},
		{"a submodule's settings", "printf '[core]\\n\\tfsmonitor = evil\\n' >>.git/modules/sub/config"},
		{"a submodule's hooks", "echo evil >.git/modules/sub/hooks/post-checkout"},
		{"a submodule's pointer", "cp -r .git/modules/sub e; echo evil >e/config; echo 'gitdir: ../e' >sub/.git"},
		{"a submodule's folder", "mv sub s; mkdir sub; echo 'gitdir: ../e' >sub/.git; mkdir e; echo evil >e/config"},
		{"a nested store's settings", "printf '[core]\\n\\tfsmonitor = evil\\n' >>vendor/deep/lib/.git/config"},
		{"a nested store's hooks", "echo evil >vendor/deep/lib/.git/hooks/pre-commit"},
		{"a nested store moved with its folder", "mv vendor v; mkdir -p vendor/deep/lib/.git; echo evil >vendor/deep/lib/.git/config"},
		{"a hook in a folder of the project", "echo evil >.githooks/pre-commit"},
		{"a hook beside it", "echo evil >.githooks/post-checkout; chmod +x .githooks/post-checkout"},
		{"that folder moved", "mv .githooks h; mkdir .githooks; echo evil >.githooks/post-checkout"},
		{"settings that git includes", "printf '[core]\\n\\tfsmonitor = evil\\n' >>shared.gitconfig"},
		{"settings that git includes, by a rename", "printf '[core]\\n\\tfsmonitor = evil\\n' >c; mv -f c shared.gitconfig"},
		{"hooks of husky", "mkdir -p .husky; echo evil >.husky/pre-commit"},
		{"an editor's tasks", "mkdir .vscode; echo evil >.vscode/tasks.json"},
		{"an editor's folder as a link", "mkdir e; echo evil >e/tasks.json; ln -s e .vscode"},
		{"a nested editor's settings", "echo evil >app/.vscode/settings.json"},
		{"a nested editor's tasks", "echo evil >app/.vscode/tasks.json"},
		{"a shell's settings", "echo evil >.envrc"},
		{"MCP servers", "echo evil >.mcp.json"},
		{"hooks of an assistant", "mkdir -p .claude; echo evil >.claude/settings.json"},
		{"a skill", "mkdir -p .claude/skills/x; printf -- '---\\ndescription: evil\\n---\\n' >.claude/skills/x/SKILL.md"},
		{"a skill of the host", "mkdir -p .ship/skills/x; echo evil >.ship/skills/x/SKILL.md"},
		{"a task of the host", "mkdir -p .ship/tasks; echo evil >.ship/tasks/t.md"},
		{"the agent", "echo evil >Agent.md; echo evil >a; mv a Agent.md"},
		{"the settings of the host", "echo evil >ship.json"},
		{"a folder of skills that is not there", "mkdir -p more/skills/x; echo evil >more/skills/x/SKILL.md"},
		{"with its own namespace", "unshare -Urm sh -c 'umount .git/config; echo evil >.git/config'"},
		{"through its root", "echo evil >/proc/self/root$PWD/.git/config"},
	}
}

// No command leaves something behind that programs of people, or the agent, obey. Other uses of git work.
func TestNothingFromASandboxSteers(t *testing.T) {
	behindWalls(t, func(p place) {
		for _, try := range steeringTries() {
			p.t.Run(try.name, func(t *testing.T) {
				w := newWorld(t, p.in, func(o *shell.Options) { o.ReadOnly = append(o.ReadOnly, filepath.Join(o.Workspace, "more/skills")) })
				w.repositories()
				before := w.steering()
				r, err := w.invoke(call(shell.ExecName, obj{"command": "exec 2>&1; " + try.text + "; echo seen >seen.txt", "why": "x"}))
				ended := err != nil && strings.Contains(err.Error(), "the command was ended, because it made") // so it was tried
				if _, gone := os.Stat(filepath.Join(w.dir, "seen.txt")); gone != nil && !ended && !strings.Contains(try.name, "pointer") {
					t.Errorf("it was not tried: %s, %v", r.Output, err)
				}
				if diff := cmp.Diff(before, w.steering()); diff != "" {
					t.Errorf("what steers (-before +after):\n%s", diff)
				}
				for _, dir := range []string{".", "sub", "vendor/deep/lib"} {
					out, err := exec.CommandContext(t.Context(), "git", "-C", filepath.Join(w.dir, dir), "config", "--list").CombinedOutput()
					if err != nil || strings.Contains(string(out), "evil") {
						t.Errorf("git in %s reads %s, %v", dir, out, err)
					}
				}
			})
		}
	})
}

func TestGitWorksInASandbox(t *testing.T) { behindWalls(t, gitWorks) }

func gitWorks(in place) {
	w := newWorld(in.t, in.in)
	w.repositories()
	r, err := w.invoke(call(shell.ExecName, obj{"command": "echo x >new.txt && git add -A && git -c user.name=a -c user.email=a@b commit -qm one && git checkout -qb other && git status --porcelain && git show --name-only --format=%s", "why": "x"}))
	got := string(r.Output)
	if err != nil || !strings.Contains(got, "one\\n\\n.gitignore\\n.ship\\nAgent.md\\napp/.vscode/settings.json\\nnew.txt\\nship.json\\n") {
		in.t.Errorf("%s, %v", got, err)
	}
	left, err := os.ReadDir(w.dir)
	stdtest.Must(in.t, err)
	for _, e := range left {
		if steering.Named(e.Name()) && e.Name() != ".git" {
			in.t.Errorf("%s was left behind", e.Name())
		}
	}
}

// A workspace without a version store gets none from a command.
func TestNoStoreIsMade(t *testing.T) {
	behindWalls(t, func(p place) {
		w := newWorld(p.t, p.in)
		w.write("Agent.md", "x", 0o644)
		_, _ = w.invoke(call(shell.ExecName, obj{"command": "git init -q . ; mkdir .git; echo evil >.git/config; mkdir -p made && echo seen >made/seen", "why": "x"})) // it fails
		if _, err := os.Stat(filepath.Join(w.dir, "made/seen")); err != nil {
			p.t.Error("it was not tried")
		}
		if _, err := os.Stat(filepath.Join(w.dir, ".git")); !errors.Is(err, fs.ErrNotExist) {
			p.t.Errorf("there is a version store: %v", err)
		}
	})
}

// What steers and can be replaced by a command, because a symbolic link in a writable folder leads to it, lets none
// run. A nested repository does not stop the project's commands.
func TestLinkedSteeringRunsNothing(t *testing.T) {
	behindWalls(t, func(p place) {
		for name, x := range map[string]struct{ target, link, settings, want string }{
			"an editor's folder":        {target: "elsewhere", link: ".vscode", want: ".vscode is a symbolic link"},
			"the folder of hooks":       {target: "../githooks", link: ".git/hooks", want: ".git/hooks is a symbolic link"},
			"settings of git":           {target: "../shared.gitconfig", link: ".git/config.worktree", want: ".git/config.worktree is a symbolic link"},
			"a folder with hooks in it": {target: "tools", link: "t", settings: "t/hooks", want: "t is a symbolic link"},
			"a hook's target":           {target: "scripts", link: "s", settings: "hooks", want: "s is a symbolic link"},
			"a nested store's hooks":    {target: "../../hooks", link: "vendor/lib/.git/hooks"},
		} {
			p.t.Run(name, func(t *testing.T) {
				w := newWorld(t, p.in)
				w.repositories()
				for _, file := range []string{"elsewhere/settings.json", "githooks/pre-commit", "tools/hooks/pre-commit", "scripts/pre-commit"} {
					w.write(file, "good", 0o755)
				}
				w.link(os.Symlink, "../s/pre-commit", "hooks/pre-commit") // a link that leads through a link
				stdtest.Must(t, os.RemoveAll(filepath.Join(w.dir, x.link)))
				w.link(os.Symlink, x.target, x.link)
				if x.settings != "" {
					w.write(".git/config", "[core]\n\thooksPath = "+x.settings+"\n", 0o644)
				}
				_, err := w.invoke(call(shell.ExecName, obj{"command": "echo x >ran", "why": "x"}))
				_, ran := os.Stat(filepath.Join(w.dir, "ran"))
				if x.want == "" && (err != nil || ran != nil) || x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want) || ran == nil) {
					t.Errorf("got %v, ran: %v", err, ran == nil)
				}
			})
		}
	})
}

// What links in steering folders lead to is kept like the folders, whether it exists or not.
func TestTargetsOfSteeringLinksStay(t *testing.T) {
	behindWalls(t, func(p place) {
		w := newWorld(p.t, p.in)
		w.repositories()
		for link, target := range map[string]string{
			".git/hooks/pre-commit": "../../scripts/pre-commit", ".git/hooks/pre-push": "../../scripts/absent", ".githooks/post-checkout": "../scripts/shared",
			".vscode/deep/tasks.json": "../../scripts/tasks.json", ".git/info/attributes": "../../scripts/attributes", ".claude/skills": "../scripts/skills",
			".husky/pre-commit": "../.githooks/pre-commit", ".idea/out": "/usr/share", ".idea/gone": "/nowhere", ".idea/circle": "circle",
		} {
			w.link(os.Symlink, target, link)
		}
		for _, name := range []string{"pre-commit", "shared", "tasks.json", "attributes", "skills/x/SKILL.md"} {
			w.write("scripts/"+name, "good", 0o755)
		}
		out, code := w.run("for f in scripts/* scripts/absent scripts/skills/x/SKILL.md scripts/skills/x/new .git/hooks/*; do echo evil >$f; cp /bin/true n; mv -f n $f; done 2>/dev/null; " +
			"mv scripts s; rm -rf scripts; mkdir -p scripts; echo evil >scripts/pre-commit; echo free >scripts/free; cat .git/hooks/pre-commit")
		if code != 0 || !strings.HasSuffix(out, "good") {
			p.t.Errorf("exit code %d, output %q", code, out)
		}
		got := map[string]string{}
		for _, name := range []string{"pre-commit", "shared", "tasks.json", "attributes", "skills/x/SKILL.md", "skills/x/new", "absent", "free"} {
			data, _ := os.ReadFile(filepath.Join(w.dir, "scripts", name)) // absent files are empty
			got[name] = string(data)
		}
		want := map[string]string{"pre-commit": "good", "shared": "good", "tasks.json": "good", "attributes": "good", "skills/x/SKILL.md": "good", "skills/x/new": "", "absent": "", "free": "free\n"}
		stdtest.Diff(p.t, "what links lead to", want, got)
	})
}

// repositories makes a version store with a submodule, and one in a folder below.
func (w *world) repositories() {
	w.t.Helper()
	w.write("Agent.md", "good", 0o644)
	w.write("app/.vscode/settings.json", "{}", 0o644)
	w.write("sub/.git", "gitdir: ../.git/modules/sub\n", 0o644)
	w.write(".gitignore", "sub\nvendor\n.githooks\nshared.gitconfig\n", 0o644)
	w.write(".githooks/pre-commit", "good", 0o755)
	w.write("shared.gitconfig", "[user]\n\tname = good\n", 0o644)
	for _, args := range [][]string{
		{"init", "-q", "."},
		{"init", "-q", "vendor/deep/lib"},
		{"init", "-q", "--bare", ".git/modules/sub"},
		{"--git-dir", ".git/modules/sub", "config", "core.bare", "false"},
		{"config", "core.hooksPath", ".githooks"},
		{"config", "include.path", "../shared.gitconfig"},
	} {
		cmd := exec.CommandContext(w.t.Context(), "git", args...) //nolint:gosec // the words above
		cmd.Dir, cmd.Env = w.dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.kept}
		if out, err := cmd.CombinedOutput(); err != nil {
			w.t.Fatalf("git %v: %s, %v", args, out, err)
		}
	}
}

// steering is all that steers, with what is in it.
func (w *world) steering() []string {
	w.t.Helper()
	within := func(names ...string) (out []string) {
		for _, name := range names {
			out = append(out, filepath.Join(w.dir, name))
		}
		return out
	}
	files := steering.In(w.dir, within(".git", "sub/.git", "vendor/deep/lib/.git", "app/.vscode"),
		within("Agent.md", "ship.json", ".ship/skills", ".ship/tasks", "more/skills", ".githooks", "shared.gitconfig", ".husky", ".vscode", ".envrc", ".mcp.json", ".claude"))
	var out []string
	for _, path := range slices.Concat(files.Kept, files.Absent) {
		err := filepath.WalkDir(path, func(at string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || e.IsDir() {
				return err
			}
			data, err := os.ReadFile(at) //nolint:gosec // a test's own file
			out = append(out, fmt.Sprintf("%s %s %x", strings.TrimPrefix(at, w.dir), e.Type(), data))
			return err
		})
		if err != nil {
			w.t.Error(err)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
