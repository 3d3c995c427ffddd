package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// prey is the built binary on a project, with a model that obeys: it runs the command that
// stands behind the words of the newest message.
type prey struct {
	*killWorld
	mu       sync.Mutex
	commands map[string]string // by the words that people say
	told     map[string]string // what the model was told of them
}

func newPrey(t *testing.T, permissions map[string]any) *prey {
	t.Helper()
	w := &prey{commands: map[string]string{}, told: map[string]string{}}
	w.killWorld = newKillWorld(t, binary(t), 1, "direct", modeltest.NewFunc(w.obey), rand.New(rand.NewPCG(1, 2)))
	w.configure(t, "permissions", map[string]any{"exec": permissions})
	stdtest.Must(t, w.command(t, "trust", w.victim.dir, "--yes").Run()) // commands that run unasked
	return w
}

func (w *prey) obey(req model.Request) []model.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	want, answers := wanted(req)
	w.told[want] += answers
	command := w.commands[want]
	if command == "" || answers != "" {
		return append(modeltest.TextEvents("got ", want, "."), modeltest.Finish("stop"))
	}
	input, err := json.Marshal(map[string]string{"command": command, "why": "it was asked for"})
	if err != nil {
		return nil
	}
	return append(modeltest.CallEvents(modeltest.Call{ID: "call-" + want, Name: "exec_shell", Input: string(input)}), modeltest.Finish("tool-calls"))
}

// run has the model run a command; the words are returned.
func (w *prey) run(command string) string {
	want := w.next(1)
	w.mu.Lock()
	w.commands[want] = command
	w.mu.Unlock()
	w.say(1, "please "+want)
	return want
}

var numberOf = regexp.MustCompile(`#(\d+): May I run this command`)

// number is the number of the request that asks about a text.
func (w *prey) number(t *testing.T, text string) string {
	t.Helper()
	n := ""
	w.api.Await(t, "the request", func() bool {
		for _, s := range slices.Backward(w.api.Sent(1)) {
			if found := numberOf.FindStringSubmatch(s.Text); found != nil && strings.Contains(s.Text, text) {
				n = found[1]
				return true
			}
		}
		return false
	})
	return n
}

// hears waits until the bot has said a text.
func (w *prey) hears(t *testing.T, text string) {
	t.Helper()
	w.api.Await(t, "the words "+text, func() bool {
		return slices.ContainsFunc(w.api.Sent(1), func(s telegramtest.Sent) bool { return strings.Contains(s.Text, text) })
	})
}

func (w *prey) write(t *testing.T, name, text string) {
	t.Helper()
	full := filepath.Join(w.victim.dir, name)
	stdtest.Must(t, os.MkdirAll(filepath.Dir(full), 0o750))
	stdtest.Must(t, os.WriteFile(full, []byte(text), 0o600))
}

func (w *prey) read(name string) string {
	raw, _ := os.ReadFile(filepath.Join(w.victim.dir, name)) // not there: empty
	return string(raw)
}

// TestAttacksOnTheBinary: what was approved is what runs, and nothing else.
func TestAttacksOnTheBinary(t *testing.T) {
	w := newPrey(t, map[string]any{"sandbox": "off", "approvers": []string{"initiator"}, "deny": []string{"rm *"}, "allow": []string{"flock *", "tool *", "sqlite3 *"}})
	w.write(t, "keep.txt", "KEEP")
	w.write(t, "run.sh", "touch ran-by-script\n")
	w.start(t)
	w.ready(t)
	defer w.stop(t)

	// Words that came after other words of the bot.
	w.run("touch ran-late")
	n := w.number(t, "ran-late")
	hello := w.next(1)
	w.say(1, "hello "+hello)
	w.hears(t, "got "+hello)
	w.say(1, "yes")
	w.hears(t, "This request waits for a decision.")
	if _, err := os.Stat(filepath.Join(w.victim.dir, "ran-late")); err == nil {
		t.Error("a yes ran what was asked before other words of the bot")
	}
	w.say(1, "/approve "+n)
	faketest.Poll(t, "the command", func() bool { _, err := os.Stat(filepath.Join(w.victim.dir, "ran-late")); return err == nil })

	// A request that nobody saw.
	w.api.Fail(telegramtest.Fault{Method: "sendMessage", Kind: faketest.Refuse, Code: 400, Text: "Bad Request: no", N: -1})
	want := w.run("touch ran-unseen")
	var open struct{ Approvals []query.ApprovalLine }
	faketest.Poll(t, "the request to be put aside", func() bool {
		w.query(t, &open, "approvals", "list", "--json")
		return len(open.Approvals) == 1 && open.Approvals[0].Unseen != nil && open.Approvals[0].Unseen.Parked
	})
	w.say(1, "yes")
	w.say(1, "approve all")
	faketest.Poll(t, "the words to be taken", func() bool { return w.api.Pending() == 0 })
	if w.query(t, &open, "approvals", "list", "--json"); len(open.Approvals) != 1 {
		t.Errorf("%d requests are open, want one", len(open.Approvals))
	}
	if _, err := os.Stat(filepath.Join(w.victim.dir, "ran-unseen")); err == nil {
		t.Error("what nobody saw ran")
	}
	w.api.Heal()
	w.say(1, "no")
	w.hears(t, "could not be shown here yet")
	w.say(1, "/deny 2")
	w.hears(t, "got "+want)

	// What the operator forbids, in other words; and what an open rule would run.
	want = w.run("env sh -c 'cd . && ./../../../../../../bin/rm -f keep.txt'")
	w.hears(t, "got "+want)
	if w.read("keep.txt") != "KEEP" {
		t.Error("a forbidden program ran")
	}
	for _, command := range []string{"flock x.lock sh run.sh", "sqlite3 x.db '.shell sh run.sh'", "tool exec:run.sh"} {
		w.run(command)
		n := w.number(t, command[:5])
		w.say(1, "/deny "+n)
		w.hears(t, "got ")
	}
	if _, err := os.Stat(filepath.Join(w.victim.dir, "ran-by-script")); err == nil {
		t.Error("a script of the project ran without asking")
	}
}

// TestAttacksFromTheSandbox: a command that was approved finds no secrets, and leaves
// nothing that the agent or programs of people obey.
func TestAttacksFromTheSandbox(t *testing.T) {
	for _, sandbox := range []string{"bubblewrap", "landlock"} {
		t.Run(sandbox, func(t *testing.T) {
			w := newPrey(t, map[string]any{"sandbox": sandbox, "approvers": []string{"initiator"}})
			const deep = "a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/id_rsa"
			w.write(t, deep, "DEEPSECRET")
			w.write(t, ".git/config", "[core]\n")
			w.write(t, ".git/HEAD", "ref: refs/heads/main\n")
			w.write(t, ".ship/skills/own/SKILL.md", "---\nname: own\ndescription: x\n---\nx\n")
			w.start(t)
			w.ready(t)
			defer w.stop(t)
			attack := strings.Join([]string{
				"cat " + deep + " > out.txt", "find . -name id_rsa -exec cat {} + >> out.txt",
				"echo EVIL >> Agent.md", "echo EVIL >> .git/config", "mkdir -p .git/hooks; echo EVIL > .git/hooks/pre-commit", "mv .git git2; mkdir .git; echo EVIL > .git/config",
				"mkdir -p .vscode; echo EVIL > .vscode/tasks.json", "echo EVIL > .envrc", "mkdir -p .claude/skills/x; echo EVIL > .claude/skills/x/SKILL.md", "mkdir -p .ship/skills/x .ship/tasks .ship/config",
				"echo EVIL > .ship/skills/x/SKILL.md; echo EVIL > .ship/tasks/x.md; echo EVIL > .ship/config/mcp.json; echo EVIL >> ship.json", "ln -s /etc/passwd .mcp.json", "echo end > end.txt",
			}, "\n")
			want := w.run(attack)
			w.say(1, "/approve "+w.number(t, "end.txt"))
			w.hears(t, "got "+want)
			if !strings.Contains(w.read("end.txt"), "end") {
				t.Errorf("the command did not come to its end: %s", w.told[want])
			}
			if strings.Contains(w.read("out.txt"), "DEEPSECRET") {
				t.Error("the command found the secret")
			}
			for _, name := range []string{
				"Agent.md", ".git/config", ".git/hooks/pre-commit", ".vscode/tasks.json", ".envrc", ".claude/skills/x/SKILL.md", ".ship/skills/x/SKILL.md", ".ship/tasks/x.md",
				".ship/config/mcp.json", "ship.json",
			} {
				if strings.Contains(w.read(name), "EVIL") {
					t.Errorf("%s was changed", name)
				}
			}
			// One that moves the secret is ended, and has found nothing either.
			want = w.run("mv a/b a/b2; cat a/b2/c/d/e/f/g/h/i/j/k/l/m/n/o/p/id_rsa | tee out.txt; sleep 5")
			w.say(1, "/approve "+w.number(t, "tee out.txt"))
			w.hears(t, "got "+want)
			if strings.Contains(w.read("out.txt")+w.told[want], "DEEPSECRET") {
				t.Error("a command that moved the secret found it")
			}
			for _, name := range []string{".vscode", ".envrc", ".claude", ".mcp.json", "git2"} {
				if _, err := os.Lstat(filepath.Join(w.victim.dir, name)); err == nil {
					t.Errorf("%s is there", name)
				}
			}
		})
	}
}
