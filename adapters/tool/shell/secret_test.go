//go:build linux

package shell_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/shell"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// token is what no command may print.
const token = "TOKEN-7f3a"

// link makes a symbolic or a hard link in the workspace.
func (w *world) link(put func(from, to string) error, target, name string) {
	w.t.Helper()
	at := filepath.Join(w.dir, name)
	stdtest.Must(w.t, os.MkdirAll(filepath.Dir(at), 0o755))
	stdtest.Must(w.t, put(target, at))
}

// secretTries are ways to reach a secret. Each prints "seen" at its end, which proves that it ran.
func secretTries() []struct{ name, file, text string } {
	deep := strings.Repeat("d/", 300)
	return []struct{ name, file, text string }{
		{"by its name, deep", "a/b/c/d/e/f/g/.env", "cat a/b/c/d/e/f/g/.env"},
		{"by a glob", "a/b/c/d/e/.env.local", "cat a/b/c/d/e/.e*"},
		{"by find", "x/y/z/u/v/w/.npmrc", "find . -name '.n*' -exec cat {} +"},
		{"by a recursive grep", "x/y/z/u/v/w/.netrc", "grep -rIs TOKEN . "},
		{"in node_modules", "node_modules/a/b/.env", "cat node_modules/a/b/.env"},
		{"in vendor", "vendor/a/b/c/d/server.key", "cat vendor/a/b/c/d/server.key"},
		{"in .git", ".git/a/b/id_rsa", "cat .git/a/b/id_rsa"},
		{"300 folders deep", deep + ".env", "cat " + deep + ".env"},
		{"300 folders deep, step by step", deep + ".env", "for i in $(seq 300); do cd d; done; cat .env"},
		{"in capitals", "a/b/c/d/e/.ENV", "cat a/b/c/d/e/.ENV"},
		{"in full width", "a/b/c/d/e/.\uff45nv", "cat a/b/c/d/e/.*nv"},
		{"with an invisible character", "a/b/c/d/e/.e\u200bnv", "cat a/b/c/d/e/.*nv"},
		{"with a newline in its folder", "a/b/c/d/e/new\nline/.env", "cat a/b/c/d/e/new*/.env"},
		{"with a newline behind it", "a/b/c/d/e/.env\n", "cat a/b/c/d/e/.env*"},
		{"beside an option", "a/b/c/d/-rf/.env", "cat -- a/b/c/d/-rf/.env"},
		{"a whole folder", "a/b/c/d/e/.ssh/config", "cat a/b/c/d/e/.ssh/config; ls -la a/b/c/d/e/.ssh"},
		{"a cloud's folder", "a/b/c/d/e/.aws/credentials", "tar cf - a/b/c/d/e"},
		{"a cloud's key", "a/b/c/d/e/my-service-account.json", "cat a/b/c/d/e/*.json"},
		{"a state file", "infra/a/b/c/d/terraform.tfstate", "cat infra/a/b/c/d/terraform.tfstate"},
		{"a vault's token", "a/b/c/d/e/.vault-token", "cat a/b/c/d/e/.vault-token"},
		{"another project's settings", "a/b/c/d/e/ship.json", "cat a/b/c/d/e/ship.json"},
		{"another project's state", "a/b/c/d/e/.ship/access.json", "cat a/b/c/d/e/.ship/access.json"},
		{"copied", "a/b/c/d/e/.env", "cp -r a/b/c copy; cat copy/d/e/.env"},
		{"moved with its folder", "a/b/c/d/e/.env", "mv a/b/c/d/e moved 2>&1; cat moved/.env"},
		{"by a link made inside", "a/b/c/d/e/.env", "ln -s a/b/c/d/e/.env plain; cat plain"},
		{"by a hard link made inside", "a/b/c/d/e/.env", "ln a/b/c/d/e/.env plain; cat plain"},
		{"by the program's own root", "a/b/c/d/e/.env", "cat /proc/self/root$PWD/a/b/c/d/e/.env /proc/self/cwd/a/b/c/d/e/.env"},
		{"through dots", "a/b/c/d/e/.env", "cat a/../a/b/c/./d/e/../e/.env"},
		{"made readable", "a/b/c/d/e/.env", "chmod 777 a/b/c/d/e/.env; cat a/b/c/d/e/.env"},
		{"unmounted", "a/b/c/d/e/.env", "umount a/b/c/d/e/.env; cat a/b/c/d/e/.env"},
		{"removed from above", "a/b/c/d/e/.env", "rm -f a/b/c/d/e/.env; cat a/b/c/d/e/.env"},
		{"in a namespace of its own", "a/b/c/d/e/.env", "unshare -Urm sh -c 'umount a/b/c/d/e/.env; cat a/b/c/d/e/.env'"},
		{"by another program", "a/b/c/d/e/.env", "head -c 100 a/b/c/d/e/.env; dd if=a/b/c/d/e/.env status=none; od -c a/b/c/d/e/.env; while read l; do echo $l; done <a/b/c/d/e/.env"},
		{"in the background of a shell", "a/b/c/d/e/.env", "(cat a/b/c/d/e/.env & wait)"},
	}
}

// No command finds a file whose name looks like a secret, wherever it is and however the command
// asks for it.
func TestSecretsAreHiddenAtAnyDepth(t *testing.T) {
	behindWalls(t, func(p place) {
		for _, try := range secretTries() {
			p.t.Run(try.name, func(t *testing.T) {
				w := newWorld(t, p.in)
				w.write(try.file, token+"\n", 0o644)
				w.write("seen.txt", "x", 0o644)
				r, err := w.invoke(call(shell.ExecName, obj{"command": "exec 2>&1; " + try.text + "; cd " + w.dir + "; ls seen.txt", "why": "x"}))
				got := string(r.Output) + fmt.Sprint(err)
				// Who moves what is hidden may be ended for it, without output.
				ended := err != nil && strings.HasPrefix(try.name, "moved") && (strings.Contains(got, "moved/.env appeared") || strings.Contains(got, "was killed"))
				if strings.Contains(got, token) || !ended && (err != nil || !strings.Contains(got, "seen.txt")) {
					t.Errorf("%.2000s", got)
				}
			})
		}
	})
}

// Links that were made before lead to nothing either, and what is linked out of the
// workspace is not there.
func TestSecretsBehindLinks(t *testing.T) {
	behindWalls(t, func(p place) {
		w := newWorld(p.t, p.in)
		w.write("a/b/c/d/e/.env", token, 0o644)
		w.write("a/b/c/d/e/.ssh/config", token, 0o644)
		w.write("config/real.txt", token, 0o644)
		outside := writeFile(p.t, filepath.Join(p.t.TempDir(), ".env"), token, 0o644)
		w.link(os.Symlink, "a/b/c/d/e/.env", "one")
		w.link(os.Symlink, "one", "two")
		w.link(os.Symlink, "a/b/c/d/e", "folder")
		w.link(os.Symlink, "../../a/b/c/d/e/.ssh", "x/y/keys")
		w.link(os.Symlink, "config/real.txt", ".env")
		w.link(os.Symlink, outside, "out")
		w.link(os.Symlink, filepath.Dir(outside), "outside")
		w.link(os.Symlink, ".env", "x/.env") // a link to itself
		out := fmt.Sprint(w.answer(call(shell.ExecName, obj{"command": "cat one two folder/.env x/y/keys/config .env config/real.txt out outside/.env x/.env 2>&1; echo seen", "why": "x"})))
		if strings.Contains(out, token) || !strings.Contains(out, "seen") {
			p.t.Error(out)
		}
	})
}

// A secret whose path is longer than the kernel accepts is hidden together with a parent folder.
func TestSecretsBeyondPaths(t *testing.T) {
	behindWalls(t, func(p place) {
		w := newWorld(p.t, p.in)
		name := strings.Repeat("d", 200)
		at, err := unix.Open(w.dir, unix.O_DIRECTORY|unix.O_RDONLY, 0)
		for i := 0; i < 40 && err == nil; i++ {
			if err = unix.Mkdirat(at, name, 0o755); err == nil {
				var next int
				next, err = unix.Openat(at, name, unix.O_DIRECTORY|unix.O_RDONLY, 0)
				_ = unix.Close(at)
				at = next
			}
		}
		stdtest.Must(p.t, err)
		fd, err := unix.Openat(at, ".env", unix.O_CREAT|unix.O_WRONLY, 0o600)
		stdtest.Must(p.t, err)
		_, err = unix.Write(fd, []byte(token))
		_, _ = unix.Close(fd), unix.Close(at)
		stdtest.Must(p.t, err)
		out := fmt.Sprint(w.answer(call(shell.ExecName, obj{"command": "for i in $(seq 40); do cd -P ddd* 2>/dev/null; done; cat .env 2>&1; echo seen", "why": "x"})))
		if strings.Contains(out, token) || !strings.Contains(out, "seen") {
			p.t.Error(out)
		}
	})
}

// If the files to hide cannot be determined, or are too many, nothing runs. Hiding a whole folder
// helps.
func TestTooManySecretsAreRefused(t *testing.T) {
	behindWalls(t, func(p place) {
		exclude := func(*shell.Options) {}
		w := newWorld(p.t, p.in, func(o *shell.Options) { exclude(o) })
		for i := range 1001 {
			w.write("data/customers/c"+strconv.Itoa(i)+"/.env", token, 0o600)
		}
		_, err := w.invoke(call(shell.ExecName, obj{"command": "echo seen; cat data/customers/c1/.env", "why": "x"}))
		if err == nil || !strings.Contains(err.Error(), `"data/customers"`) || !strings.Contains(err.Error(), "permissions.exec.exclude") {
			p.t.Errorf("err = %v", err)
		}
		again := newWorld(p.t, p.in, func(o *shell.Options) {
			o.Workspace, o.State, o.Exclude = w.dir, filepath.Join(w.dir, ".ship"), []string{filepath.Join(w.dir, "data/customers")}
		})
		out := fmt.Sprint(again.answer(call(shell.ExecName, obj{"command": "ls data; ls data/customers | wc -l; cat data/customers/c1/.env; echo seen", "why": "x"})))
		if strings.Contains(out, token) || !strings.Contains(out, "seen") || !strings.Contains(out, `customers\n0`) && !strings.Contains(out, "customers\n0") {
			p.t.Error(out)
		}
		if _, err := again.invoke(call(shell.ExecName, obj{"command": "true", "why": "x", "cwd": "data/customers"})); err == nil {
			p.t.Error("a command began in a folder that is hidden")
		}
	})
}

// Both sandboxes hide the maximum number of secrets.
func TestManySecretsAreHidden(t *testing.T) {
	behindWalls(t, func(p place) {
		w := newWorld(p.t, p.in)
		for i := range soak(998, 300) {
			w.write("data/c"+strconv.Itoa(i)+"/.env", token, 0o600)
		}
		out := fmt.Sprint(w.answer(call(shell.ExecName, obj{"command": "grep -rs TOKEN .; echo seen", "why": "x"})))
		if strings.Contains(out, token) || !strings.Contains(out, "seen") {
			p.t.Errorf("%.2000s", out)
		}
	})
}

// appearances are ways in which a secret can appear while a program runs.
func appearances(w *world) map[string]func() {
	elsewhere := w.t.TempDir()
	return map[string]func(){
		"made": func() { w.write("sub/.env", token, 0o644) },
		"renamed": func() {
			w.write("sub/x.tmp", token, 0o644)
			w.move("sub/x.tmp", "sub/.env")
		},
		"in a new folder": func() { w.write("sub/new/a/b/.env", token, 0o644) },
		"moved in with its folder": func() {
			writeFile(w.t, filepath.Join(elsewhere, "in/.env"), token, 0o644)
			if err := os.Rename(filepath.Join(elsewhere, "in"), filepath.Join(w.dir, "sub/in")); err != nil {
				w.t.Error(err)
			}
		},
		"linked": func() {
			w.write("sub/plain", token, 0o644)
			w.link(os.Link, filepath.Join(w.dir, "sub/plain"), "sub/id_rsa")
		},
		"a folder": func() { w.write("sub/.aws/credentials", token, 0o644) },
		"a key":    func() { w.write("sub/server.key", token, 0o644) },
	}
}

func (w *world) move(from, to string) {
	if err := os.Rename(filepath.Join(w.dir, from), filepath.Join(w.dir, to)); err != nil {
		w.t.Error(err)
	}
}

// A program that is running when a secret appears is ended, and its output shows nothing of it.
func TestSecretsThatAppearEndPrograms(t *testing.T) {
	const reads = "while :; do cat sub/.env sub/*/.env sub/*/*/*/.env sub/id_rsa sub/.aws/credentials sub/server.key 2>/dev/null; echo round; sleep 0.01; done"
	behindWalls(t, func(p place) {
		for how := range appearances(newWorld(p.t)) {
			p.t.Run(how, func(t *testing.T) {
				w := newWorld(t, p.in)
				w.write("sub/other", "x", 0o644)
				id := words(w.answer(call(shell.ExecName, obj{"command": reads, "background": true, "why": "x"})), "id")
				read := func() obj { return w.answer(call(shell.ReadName, obj{"id": id, "from": 0})) }
				faketest.Poll(t, "it printed", func() bool { return strings.Contains(words(read(), "output"), "round") })
				began := time.Now()
				appearances(w)[how]()
				e := <-w.notices
				t.Logf("ended %s after it had appeared", time.Since(began).Round(time.Millisecond))
				if !strings.Contains(e.Failure, "sub/") || !strings.Contains(e.Failure, "appeared") || strings.Contains(e.Tail, token) {
					t.Errorf("notice: %+v", e)
				}
				got := read()
				if words(got, "state") != "ended" || words(got, "error") == "" || strings.Contains(fmt.Sprint(got), token) {
					t.Errorf("after its end: %v", got)
				}
				kept, _ := os.ReadDir(w.kept)
				for _, f := range kept {
					if data, err := os.ReadFile(filepath.Join(w.kept, f.Name())); err != nil || strings.Contains(string(data), token) {
						t.Errorf("kept in %s: %v", f.Name(), err)
					}
				}
			})
		}
	})
}

// So is a command in the foreground, however short: its output is withheld.
func TestSecretsThatAppearEndCommands(t *testing.T) {
	behindWalls(t, func(p place) {
		for name, text := range map[string]string{
			"long":  "touch began; while :; do cat sub/.env 2>/dev/null; sleep 0.01; done",
			"short": "touch began; until cat sub/.env 2>/dev/null; do sleep 0.001; done",
		} {
			p.t.Run(name, func(t *testing.T) {
				w := newWorld(t, p.in)
				w.write("sub/other", "x", 0o644)
				done := make(chan struct{})
				go func() {
					defer close(done)
					faketest.Poll(t, "it began", func() bool { _, err := os.Stat(filepath.Join(w.dir, "began")); return err == nil })
					w.write("sub/x.tmp", token, 0o644)
					w.move("sub/x.tmp", "sub/.env")
				}()
				r, err := w.invoke(call(shell.ExecName, obj{"command": text, "why": "x"}))
				<-done
				if err == nil || !strings.Contains(err.Error(), "sub/.env appeared") || strings.Contains(err.Error()+string(r.Output), token) {
					t.Errorf("got %s, %v", r.Output, err)
				}
			})
		}
	})
}

// A command may create certificates and package settings in its own folders, as installations do. The next command does
// not see them.
func TestInstallationsAreNotEnded(t *testing.T) {
	behindWalls(t, func(p place) {
		w := newWorld(p.t, p.in)
		out, code := w.run("mkdir -p node_modules/x/test && echo pem > node_modules/x/test/a.pem && echo rc > node_modules/x/.npmrc && sleep 0.3 && cat node_modules/x/.npmrc")
		if code != 0 || out != "rc\n" {
			p.t.Errorf("exit code %d, output %q", code, out)
		}
		if out, _ := w.run("cat node_modules/x/.npmrc node_modules/x/test/a.pem; echo seen"); out != "seen\n" {
			p.t.Errorf("the next command found %q", out)
		}
	})
}

// The shell tool sees which files a pattern matches and where links lead, which the rules cannot: without a sandbox
// these files would be read.
func TestDoubt(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"server.key", "ship.json", "src/main.go", "keys/id_rsa", "plain.txt", ".ship/access.json", "data/credentials.json", "a/.env"} {
		w.write(name, "x", 0o600)
	}
	w.link(os.Symlink, "server.key", "notes")
	w.link(os.Symlink, "notes", "more")
	w.link(os.Symlink, "../keys/id_rsa", "docs/readme")
	w.link(os.Symlink, ".ship", "state")
	doubts := func(input obj) string {
		t.Helper()
		d, ok := w.tools[shell.ExecName].(tool.Doubter)
		if !ok {
			t.Fatal("exec_shell has no doubts")
		}
		return d.Doubt(call(shell.ExecName, input))
	}
	for _, text := range []string{
		"cat ./*", "cat s*", "cat ./s*.json", "cat ./?hip.json", "cat keys/*", "cat notes", "cat more", "cat docs/readme", "cat state/access.json", "cat state/*", "cat */id*",
		"cat data/c*", "cat data/*.json", "cat ./* # server.key", "cat a/.*", "cat a/.e*", "cat src/../notes", "cat -- n*", "cat {notes,plain.txt}",
	} {
		if doubts(obj{"command": text, "why": "x"}) == "" {
			t.Errorf("no doubt about %q", text)
		}
	}
	for _, text := range []string{"cat src/*", "cat p*", "cat plain.txt", "ls", "cat src/main.go", "grep -n x *.txt", "cat server.key", "cat '*'"} {
		if why := doubts(obj{"command": text, "why": "x"}); why != "" {
			t.Errorf("doubt about %q: %s", text, why)
		}
	}
	if doubts(obj{"argv": []string{"cat", "notes"}, "why": "x"}) == "" || doubts(obj{"argv": []string{"cat", "*"}, "why": "x"}) != "" {
		t.Error("doubts about words are wrong")
	}
}

// Of the host's own folder commands see the skills alone, also of what appears while they run, and what the host does
// there does not end them.
func TestOwnFolderIsHiddenAndQuiet(t *testing.T) {
	behindWalls(t, func(p place) {
		w := newWorld(p.t, p.in)
		w.write(".ship/skills/x/SKILL.md", "a skill", 0o644)
		w.write(".ship/skills/x/.env", token, 0o644)
		w.write(".ship/tasks/bob.md", token, 0o644)
		w.write(".ship/access.json", token, 0o600)
		id := words(w.answer(call(shell.ExecName, obj{"command": "echo began; until test -e go; do sleep 0.01; done; cat .ship/tasks/* .ship/schedule/* .ship/access.json .ship/skills/x/.env; ls -A .ship; cat .ship/skills/x/SKILL.md", "background": true, "why": "x"})), "id")
		read := func() string { return words(w.answer(call(shell.ReadName, obj{"id": id, "from": 0})), "output") }
		faketest.Poll(p.t, "it began", func() bool { return strings.Contains(read(), "began") })
		w.write(".ship/access.json.tmp", token, 0o600)
		w.move(".ship/access.json.tmp", ".ship/access.json")
		w.write(".ship/schedule/fires.jsonl", token, 0o600)
		w.write("go", "", 0o600)
		e := <-w.notices
		if got := read(); e.Failure != "" || strings.Contains(got, token) || !strings.HasSuffix(got, "skills\na skill") {
			p.t.Errorf("%q, %+v", got, e)
		}
	})
}
