package host

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// openRules are what a careless operator lets run without asking.
var openRules = []string{
	"sqlite3 *", "sqlite3 -batch *", "tar *", "tar cf *", "bsdtar *", "flock *", "flock -n *", "taskset *", "java *", "docker run *", "npm ci *", "npm ci", "just *", "ninja *", "cmake *", "mvn *", "gradle *",
	"rake *", "bundle exec *", "socat *", "setarch *", "prlimit *", "run-parts *", "find *", "cat *", "tool *", "hyperfine *", "watchexec *", "composer *", "pip install *", "poetry run *", "node *", "lua5.4 *",
	"systemd-run *", "go run *", "make *", "m4 *", "dc *", "psql *", "gulp *", "jest *", "git hook *", "npm test *", "frob", "./run.sh *", "sh *", "kotlin *",
}

// TestOpenRulesRunNoFilesOfTheProject: rules that an operator gave an open end do not let
// the agent run what it wrote itself, whichever program would run it. Each is asked about.
func TestOpenRulesRunNoFilesOfTheProject(t *testing.T) {
	w := newWorld(t)
	rules, err := json.Marshal(openRules)
	stdtest.Must(t, err)
	w.open(map[string]string{"permissions.exec.allow": string(rules)})
	for i, command := range []string{
		"sqlite3 x.db '.shell sh run.sh'", `sqlite3 x.db ".system sh run.sh"`, "sqlite3 -batch x.db '.read orders.sql'", "sqlite3 x.db .read", "sqlite3 -init orders.sql x.db", "sqlite3 -cmd '.shell sh run.sh' x.db",
		"tar cfI x.tar 'sh run.sh' a.txt", "tar cf x.tar --to-command=./run.sh a.txt", "tar cf x.tar --checkpoint=1 --checkpoint-action=exec=./run.sh a.txt", "bsdtar cf x.tar --use-compress-program ./run.sh a.txt",
		"tar xFf run.sh x.tar",
		"flock run.sh sh run.sh", "flock x.lock -c 'sh run.sh'", "flock -n x.lock ./run.sh", "taskset 1 sh run.sh", "taskset -c 0 ./run.sh",
		"java Run.java", "java -jar run.jar", "java -cp lib.jar Main", "kotlin run.kts", "docker run x sh run.sh", "docker run -v .:/x x sh run.sh", "npm ci", "npm ci --foreground-scripts", "npm test", "npm test -- a",
		"just", "just build", "ninja", "ninja -f build.ninja", "cmake .", "cmake -P run.cmake", "mvn test", "gradle build", "rake", "rake -f Rakefile", "bundle exec rake", "gulp", "jest",
		"socat - EXEC:./run.sh", "socat - SYSTEM:'sh run.sh'", "setarch x86_64 ./run.sh", "setarch -R sh run.sh", "prlimit --nproc=9 sh run.sh", "run-parts .", "run-parts scripts",
		"find . -exec sh run.sh ';'", "find scripts -execdir ./run.sh ';'", "find . -fprintf run.sh x",
		"tool run.sh", "tool a.txt run.sh", "tool scripts/job", "tool ./run.sh", "tool .shell", "tool '.read run.sh'", "tool exec:run.sh", "tool SHELL:x",
		"hyperfine ./run.sh", "watchexec ./run.sh", "composer install", "pip install .", "poetry run sh run.sh", "node run.js", "lua5.4 run.lua", "systemd-run ./run.sh", "go run .", "make", "make -f run.mk",
		"m4 run.m4", "dc run.dc", `psql -f orders.sql`, `psql -c '\! sh run.sh'`, "git hook run pre-commit", "frob run.sh", "./run.sh", "sh run.sh", "sh ./run.sh", "cat run.sh; sh run.sh", "cat run.sh | sh", "cat $(sh run.sh)",
	} {
		t.Run(command, func(t *testing.T) {
			id := "r" + strconv.Itoa(i)
			effect := filepath.Join(w.dir, "ran-"+id)
			script := "#!/bin/sh\ntouch " + effect + "\n"
			for name, text := range map[string]string{
				"run.sh": script, "scripts/job": script, "gradlew": script, "a.txt": "a\n", "orders.sql": ".shell touch " + effect + "\n", "package.json": `{"scripts":{"test":"touch ` + effect + `","prepare":"touch ` + effect + `"}}`,
				"justfile": "build:\n  touch " + effect + "\n", "Makefile": "x:\n\ttouch " + effect + "\n", "run.mk": "x:\n\ttouch " + effect + "\n", "m4": "", "run.m4": "syscmd(`touch " + effect + "')\n",
				"build.ninja": "rule x\n  command = touch " + effect + "\nbuild y: x\n", "run.cmake": "execute_process(COMMAND touch " + effect + ")\n",
				"CMakeLists.txt": "execute_process(COMMAND touch " + effect + ")\n", "Rakefile": "system('touch " + effect + "')\n", "run.js": "require('fs').writeFileSync('" + effect + "', '')\n",
				"Run.java": `class Run { public static void main(String[] a) throws Exception { new java.io.File("` + effect + `").createNewFile(); } }`,
			} {
				stdtest.Write(t, filepath.Join(w.dir, name), text)
			}
			for _, name := range []string{"run.sh", "scripts/job", "gradlew"} {
				stdtest.Must(t, os.Chmod(filepath.Join(w.dir, name), 0o755))
			}
			input, err := json.Marshal(map[string]string{"command": command, "why": "told to"})
			stdtest.Must(t, err)
			chat := w.newChat()
			w.model.tell(w.model.runs, id, errand{"exec_shell", string(input)})
			w.api.Say(chat, chat, "RUN-"+id+"-NOW", nil)
			faketest.Poll(t, "the order to be obeyed", func() bool { return w.model.did("RUN-" + id) })
			w.settle(t, chat, chat, id)
			if _, err := os.Lstat(effect); err == nil {
				t.Error("it ran what the agent wrote")
			}
			if said := w.outcomes(t)["call-RUN-"+id]; !strings.Contains(said, "not executed") && !strings.Contains(said, "refused") {
				t.Errorf("the model was told %q, want that its call waits", said)
			}
		})
	}
}

// TestRulesAreBoundToTheFilesThatRun: what a person agreed to under an operator's rule runs
// again without asking, until a byte of what it runs is another one.
func TestRulesAreBoundToTheFilesThatRun(t *testing.T) {
	w := newWorld(t)
	w.open(map[string]string{"permissions.exec.allow": `["sh *","sh run.sh","flock run.sh sh run.sh","sqlite3 x.db '.read orders.sql'","tar cf /dev/null run.sh","tool *","make -f run.mk","env sh run.sh"]`})
	const chat = 1
	for i, tt := range []struct{ command, file string }{
		{"sh run.sh", "run.sh"},
		{"flock run.sh sh run.sh", "run.sh"},
		{"sqlite3 x.db '.read orders.sql'", "orders.sql"},
		{"tar cf /dev/null run.sh", "run.sh"},
		{"tool run.sh", "run.sh"},
		{"make -f run.mk", "run.mk"},
		{"env sh run.sh", "run.sh"},
	} {
		t.Run(tt.command, func(t *testing.T) {
			stdtest.Write(t, filepath.Join(w.dir, tt.file), "#!/bin/sh\n")
			runs := func(n int, waits bool) {
				t.Helper()
				id := fmt.Sprintf("b%dx%d", i, n)
				input, err := json.Marshal(map[string]string{"command": tt.command, "why": "told to"})
				stdtest.Must(t, err)
				w.model.tell(w.model.runs, id, errand{"exec_shell", string(input)})
				if n == 0 {
					w.api.AddChat(telegramtest.Chat{ID: chat, Type: "private"})
				}
				w.api.Say(chat, chat, "RUN-"+id+"-NOW", nil)
				faketest.Poll(t, "the order to be obeyed", func() bool { return w.model.did("RUN-" + id) })
				w.settle(t, chat, chat, id)
				if said := w.outcomes(t)["call-RUN-"+id]; strings.Contains(said, "not executed") != waits {
					t.Errorf("run %d: the model was told %q, want that it waits: %v", n, said, waits)
				}
				if waits {
					w.approveAll(t, chat, chat)
					w.settle(t, chat, chat, id+"y")
				}
			}
			runs(0, true)
			runs(1, false)
			stdtest.Write(t, filepath.Join(w.dir, tt.file), "#!/bin/sh\n# another one\n")
			runs(2, true)
		})
	}
}
