//go:build linux

package mcp

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/bubblewrap"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/landlock"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/sandboxtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// fakeRunner is a package runner that records its environment when it fetches packages. Otherwise it
// runs the scripted server.
const fakeRunner = `#!/bin/sh
case "$*" in
*--call=true*)
  [ -e "$npm_config_cache/fail" ] || [ "$npm_config_fail" != 1 ] || { echo "npm error 404 no such package" >&2; exit 1; }
  mkdir -p "$npm_config_cache"
  env > "$npm_config_cache/env"
  ls -A "$HOME" > "$npm_config_cache/list"
  cat "$PLANTED" /proc/net/route > "$npm_config_cache/route" 2>/dev/null
  exit 0;;
esac
[ -e "$npm_config_cache/env" ] || exit 9
exec "$SELF"
`

// runner is a server that a package runner starts.
func (w *world) runner(name, tools string) Server {
	w.t.Helper()
	file := filepath.Join(w.dir, "runner/bin/npx")
	stdtest.Must(w.t, os.MkdirAll(filepath.Dir(file), 0o700))
	stdtest.Must(w.t, os.WriteFile(file, []byte(fakeRunner), 0o700)) //nolint:gosec // it is a program
	s := w.server(name, tools)
	s.Env = append(s.Env, "SELF="+s.Command, "API_TOKEN=topsecret-token", "npm_config_registry=http://127.0.0.1:1")
	s.Read, s.Write = []string{s.Command}, []string{filepath.Join(w.dir, "script-"+name)}
	s.Command, s.Args, s.Fetch = file, []string{"-y", "pkg"}, []string{"--yes", "--package=pkg", "--call=true"}
	return s
}

// TestPackagesAreFetchedApart: packages are fetched once, with the network and without anything of
// the server's, into a folder that contains nothing written by the server.
func TestPackagesAreFetchedApart(t *testing.T) {
	w := newWorld(t, nil)
	s := w.runner("s", plain("echo"))
	w.apply(s)
	w.up("s")
	w.box.mu.Lock()
	specs := slices.Clone(w.box.specs)
	w.box.mu.Unlock()
	if len(specs) != 2 {
		t.Fatalf("%d programs were started, want one that fetches and the server", len(specs))
	}
	fetching, server := specs[0], specs[1]
	files := filepath.Join(w.o.State, "packages/s/files")
	if !fetching.Network || !slices.Equal(fetching.Own, []string{files}) || len(fetching.Writable) != 0 || fetching.Limits.Wall == 0 || fetching.Dir != files {
		t.Errorf("what fetches: %+v", fetching)
	}
	if slices.ContainsFunc(fetching.Readable, func(p string) bool { return slices.Contains(s.Read, p) || slices.Contains(s.Write, p) }) {
		t.Errorf("what fetches may read %q, with what the server may", fetching.Readable)
	}
	env := strings.Join(fetching.Env, "\n")
	if strings.Contains(env, "topsecret") || strings.Contains(env, scriptVar) || !strings.Contains(env, "npm_config_registry=") || strings.Contains(env, "offline=true") || !strings.Contains(env, "HOME="+files) {
		t.Errorf("what fetches has the variables\n%s", env)
	}
	if server.Network || !slices.Contains(server.Env, "npm_config_offline=true") || !slices.Contains(server.Own, files) {
		t.Errorf("the server: %+v", server)
	}

	planted := filepath.Join(files, ".npmrc") // as the server could
	stdtest.Must(t, os.WriteFile(planted, []byte("script-shell=evil"), 0o600))
	w.box.kill(t)
	w.until("the server to be back", func() bool { return w.box.begun() == 3 && w.status("s").Condition == ConditionUp })
	s.Args, s.Fetch = []string{"-y", "pkg@2"}, []string{"--yes", "--package=pkg@2", "--call=true"}
	w.apply(s)
	w.up("s")
	if n := w.box.begun(); n != 5 {
		t.Errorf("%d programs were started, want five: other packages are fetched", n)
	}
	if list, err := os.ReadFile(filepath.Join(files, "npm/list")); err != nil || strings.Contains(string(list), ".npmrc") {
		t.Errorf("what fetched found %q, %v; want nothing that the server wrote", list, err)
	}
	if _, err := os.Stat(planted); err == nil {
		t.Error("what the server wrote is still there")
	}
	s.Env, s.Fetch = append(s.Env, "npm_config_fail=1"), []string{"--yes", "--package=pkg@3", "--call=true"}
	w.apply(s)
	w.until("it to fail", func() bool { return w.status("s").Reason != "" && w.status("s").Condition == ConditionDown })
	if got := w.status("s").Reason; got != "its packages cannot be fetched: it ended with code 1; its last words: “npm error 404 no such package”" {
		t.Errorf("reason = %q", got)
	}
}

// TestRunnersInSandboxes runs one in the sandboxes that hosts have.
func TestRunnersInSandboxes(t *testing.T) {
	for _, box := range []sandboxtest.Checker{bubblewrap.New(bubblewrap.Options{}), landlock.New(landlock.Options{})} {
		t.Run(box.Name(), func(t *testing.T) {
			sandboxtest.Need(t, box)
			w := newWorld(t, func(o *Options) {
				o.Sandbox = box
				o.Project = filepath.Dir(o.State)
				o.Hidden = []string{o.State}
			})
			s := w.runner("s", plain("reach"))
			s.Env = append(s.Env, "PLANTED="+filepath.Join(w.dir, "script-s/tools.json"))
			s.Write = append(s.Write, w.dir) // which covers the state
			w.apply(s)
			w.up("s")
			files := filepath.Join(w.o.State, "packages/s/files")
			route, err := os.ReadFile(filepath.Join(files, "npm/route"))
			if err != nil || strings.Contains(string(route), "does reach") {
				t.Errorf("what fetches read the server's files: %q, %v", route, err)
			}
			reach := func(read, write string) string {
				return w.mustCall("s:reach", fmt.Sprintf(`{"read":%q,"write":%q,"dial":"127.0.0.1:1"}`, read, write))
			}
			home := filepath.Join(w.o.State, "home/s")
			if got := reach(filepath.Join(files, "npm/env"), filepath.Join(home, "notes")); got != `"read: true, write: true, dial: false"` {
				t.Errorf("its packages and its home: %s", got)
			}
			other := filepath.Join(w.o.State, "packages/other/files")
			stdtest.Must(t, os.MkdirAll(other, 0o700))
			for _, path := range []string{filepath.Join(w.o.State, "tools.json"), filepath.Join(w.o.State, "packages/s/fetched"), filepath.Join(other, "x"), filepath.Join(w.o.State, "home/other")} {
				if got := reach(path, path); got != `"read: false, write: false, dial: false"` {
					t.Errorf("%s: %s", path, got)
				}
			}
		})
	}
}

// shellServer is a program that prints something and ends.
func shellServer(text string) Server {
	return Server{Name: "s", Command: "/bin/sh", Args: []string{"-c", text}, Shown: "sh", Timeout: time.Minute}
}

// If a program does not start, its last output is reported, and the operator is told what the sandbox denied it.
func TestLastWords(t *testing.T) {
	dir := t.TempDir()
	outside, hidden, readable := filepath.Join(dir, "outside"), filepath.Join(dir, "hidden"), filepath.Join(dir, "readable")
	for _, path := range []string{outside, hidden, readable} {
		stdtest.Must(t, os.WriteFile(path, []byte("x"), 0o600))
	}
	tests := []struct {
		name, text, why, help string
		network               bool
	}{
		{"an error", `echo "starting" >&2; echo "Error: no key" >&2; exit 3`, "it ended with code 3 before it answered; its last words: “starting / Error: no key”", "", false},
		{"a stack", `printf 'node:internal/x:1\n  throw err;\n  ^\n\nError: Cannot find module y\n    at a (b:1)\n    at c (d:2) {\n}\n\nNode.js v20.0.0\n' >&2; exit 1`, "“throw err; / Error: Cannot find module y”", "", false},
		{"words of another kind", `echo "Server listening"; cat >/dev/null`, "its output holds something else than MCP: “Server listening”", "", false},
		{"words of another kind at its end", `echo "usage: s"; echo "no such option" >&2; exit 2`, "its output holds something else than MCP: “usage: s”; its last words: “no such option”", "", false},
		{"nothing", `exit 4`, "it ended with code 4 before it answered", "", false},
		{"a line without an end", `printf 'nearly' >&2; exit 1`, "“nearly”", "", false},
		{"a secret", `echo "bad key topsecret-token" >&2; exit 1`, "“bad key ********”", "", false},
		{"signs", `printf '\033[31mred\033[0m \342\200\256evil\n' >&2; exit 1`, "“[31mred[0m evil”", "", false},
		{"a file", "echo \"ENOENT: no such file, open '" + outside + "'\" >&2; exit 1", "ENOENT", "it wanted " + outside + ", which it may not read; if it may, name that in \"read\" of the server, or in \"write\"", false},
		{"a file to write", "echo \"EACCES: permission denied: " + readable + ".\" >&2; exit 1", "EACCES", "it wanted to change " + readable, false},
		{"a file that it has", "echo \"cannot parse " + readable + "\" >&2; exit 1", "cannot parse", "", false},
		{"a hidden file", "echo \"open " + hidden + ": not found\" >&2; exit 1", "not found", "it wanted " + hidden + ", which no server may see", false},
		{"a file that there is not", "echo \"open " + outside + "2: not found\" >&2; exit 1", "not found", "", false},
		{"the network", `echo "Error: getaddrinfo EAI_AGAIN example.com" >&2; exit 1`, "EAI_AGAIN", `it wanted the network, which it has not; if it may, write "network": true`, false},
		{"a network that it has", `echo "Error: getaddrinfo EAI_AGAIN example.com" >&2; exit 1`, "EAI_AGAIN", "", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, func(o *Options) { o.Hidden, o.Limits.Pause, o.Limits.MaxPause = []string{hidden}, time.Hour, time.Hour })
			s := shellServer(tt.text)
			s.Hidden, s.Read, s.Network = []string{"topsecret-token"}, []string{readable}, tt.network
			w.apply(s)
			w.until("it to fail", func() bool { return w.status("s").Condition == ConditionDown })
			got := w.status("s")
			if !strings.Contains(got.Reason, tt.why) || !strings.HasPrefix(got.Help, tt.help) || tt.help == "" && got.Help != "" {
				t.Errorf("reason = %q, help = %q; want %q and %q", got.Reason, got.Help, tt.why, tt.help)
			}
			if log, err := ReadLog(w.o.Logs, "s"); err != nil || strings.Contains(log, "topsecret") {
				t.Errorf("the log: %q, %v", log, err)
			}
		})
	}
	w := newWorld(t, nil)
	c := newClient(w.o, &Server{Name: "s"}, func() {})
	why, _ := c.explain(&startError{what: "it ended", words: []string{strings.Repeat("长", 5000)}})
	if len(why) > maxWords+maxLine+100 {
		t.Errorf("a reason of %d bytes", len(why))
	}
	if got := ended(sandbox.Exit{Limit: sandbox.LimitMemory}, nil); got != "it was stopped at its limit of memory, 2048 MiB" {
		t.Errorf("a limit: %q", got)
	}
}

// TestRelativePathsAreTheProjects: relative paths in arguments refer to files of the project, in both
// sandboxes, and to nothing outside it.
func TestRelativePathsAreTheProjects(t *testing.T) {
	for _, box := range []sandboxtest.Checker{bubblewrap.New(bubblewrap.Options{}), landlock.New(landlock.Options{})} {
		t.Run(box.Name(), func(t *testing.T) {
			sandboxtest.Need(t, box)
			project := filepath.Join(sandboxtest.Outside(t), "p")
			put := func(name, text string, mode os.FileMode) {
				t.Helper()
				file := filepath.Join(project, name)
				stdtest.Must(t, os.MkdirAll(filepath.Dir(file), 0o700))
				stdtest.Must(t, os.WriteFile(file, []byte(text), mode))
			}
			put("tools/server.sh", `echo "dir $(pwd)" >&2; cat conf/a.json >&2; cat "$1" "${2#*=}" private.txt >&2; ls -A >&2; exit 1`, 0o600)
			put("conf/a.json", "in a folder that is not granted", 0o600)
			put("conf/b.json", "granted by name", 0o600)
			put("conf/c.json", "granted by option", 0o600)
			put("private.txt", "private", 0o600)
			put("node_modules/pkg/index.sh", "#!/bin/sh\n. \"$(dirname \"$(readlink -f \"$0\")\")/lib.sh\"\n", 0o700)
			put("node_modules/pkg/lib.sh", "echo from the package >&2; exit 1\n", 0o600)
			put("../secret", "canary", 0o600)
			put(".venv/pyvenv.cfg", "home = /usr/bin", 0o600)
			put(".venv/bin/tool", "#!"+filepath.Join(project, ".venv/bin/python")+"\n. "+filepath.Join(project, ".venv/lib/part")+"\n", 0o700)
			put(".venv/lib/part", "echo from the environment >&2; exit 1\n", 0o600)
			for from, to := range map[string]string{"node_modules/.bin/pkg": "../pkg/index.sh", "conf/link": "../../secret", ".venv/bin/python": "/bin/sh", "conf/program": "../../secret"} {
				stdtest.Must(t, os.MkdirAll(filepath.Dir(filepath.Join(project, from)), 0o700))
				stdtest.Must(t, os.Symlink(to, filepath.Join(project, from)))
			}
			words := func(s Server) string {
				t.Helper()
				w := newWorld(t, func(o *Options) {
					o.Sandbox, o.Project, o.Limits.Pause, o.Limits.MaxPause = box, project, time.Hour, time.Hour
					o.State, o.Logs = filepath.Join(project, ".ship/mcp"), filepath.Join(project, ".ship/logs")
					o.Hidden = []string{filepath.Join(project, ".ship")}
				})
				s.Name, s.Timeout = "s", time.Minute
				w.apply(s)
				w.until("it to fail", func() bool { return w.status("s").Condition == ConditionDown })
				log, err := ReadLog(w.o.Logs, "s")
				stdtest.Must(t, err)
				return log[strings.LastIndex(log, "-- starting"):]
			}
			got := words(Server{Command: "/bin/sh", Args: []string{"tools/server.sh", "./conf/b.json", "--config=conf/c.json"}})
			for _, want := range []string{"dir " + project + "\n", "granted by name", "granted by option", ".ship", "tools"} {
				if !strings.Contains(got, want) {
					t.Errorf("the server says %s, want %q", got, want)
				}
			}
			if strings.Contains(got, "not granted") || strings.Contains(got, " private\n") || strings.Contains(got, " private.txt\n") {
				t.Errorf("the server says %s, and saw what it was not granted", got)
			}
			if got := words(Server{Command: "/bin/sh", Args: []string{"tools/server.sh", "conf/link", "x=conf/link"}}); strings.Contains(got, "canary") {
				t.Errorf("a link of the project leads out: %s", got)
			}
			if got := words(Server{Command: filepath.Join(project, "node_modules/.bin/pkg")}); !strings.Contains(got, "from the package") {
				t.Errorf("a program of node_modules says %s", got)
			}
			if got := words(Server{Command: filepath.Join(project, ".venv/bin/tool")}); !strings.Contains(got, "from the environment") {
				t.Errorf("a program of a virtual environment says %s", got)
			}
			if got := words(Server{Command: filepath.Join(project, ".venv/bin/python"), Args: []string{"-c", "cat " + filepath.Join(project, "conf/program") + " >&2; exit 1", "conf/program"}}); strings.Contains(got, "canary") {
				t.Errorf("a link of the project leads out: %s", got)
			}
			if got := words(shellServer(`pwd >&2; exit 1`)); !strings.Contains(got, filepath.Join(project, ".ship/mcp/home/s")) {
				t.Errorf("without such an argument it starts at %s, want its home", got)
			}
		})
	}
}

// If a log is removed while its server runs, as old logs are, the next line starts a new file.
func TestALogThatWasRemovedGoesOn(t *testing.T) {
	dir := t.TempDir()
	l := newLogFile(dir, &Server{Name: "s"})
	l.say("before")
	stdtest.Must(t, os.Remove(LogFile(dir, "s")))
	l.say("behind")
	if log, err := ReadLog(dir, "s"); err != nil || !strings.HasSuffix(log, " -- behind\n") || strings.Contains(log, "before") {
		t.Errorf("the log: %q, %v", log, err)
	}
}
