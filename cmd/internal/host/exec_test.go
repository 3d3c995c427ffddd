package host

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/machinetest"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/tool/shell"
	"github.com/shipmyagent/shipmyagent/cmd/internal/agentdir"
	"github.com/shipmyagent/shipmyagent/cmd/internal/sandboxes"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence"
)

// The way of a command through a whole host: a model asks for it, a person sees and
// decides it in Telegram, a real sandbox runs it.

// inSandboxes tests with each sandbox of this machine that isolates something.
func inSandboxes(t *testing.T, do func(t *testing.T, box string)) {
	t.Helper()
	for _, box := range []string{"bubblewrap", "landlock"} {
		switch _, _, err := sandboxes.New(box).Check(t.Context()); {
		case err == nil:
			t.Run(box, func(t *testing.T) { do(t, box) })
		case machinetest.Required():
			t.Fatalf("%s is required: %v", box, err)
		default:
			t.Logf("not with %s: %v", box, err)
		}
	}
}

// runWhatIsSaid is a model that runs the command, or loads the skill, that the message names, and
// reports the result.
func runWhatIsSaid(req model.Request) []model.Event {
	say := func(text string) []model.Event { return append(modeltest.TextEvents(text), modeltest.Finish("stop")) }
	last := req.Messages[len(req.Messages)-1]
	if len(req.Tools) == 0 || len(last.Parts) == 0 {
		return say("{}")
	}
	switch p := last.Parts[len(last.Parts)-1].(type) {
	case modelmessage.Text:
		verb, rest, _ := strings.Cut(p.Text, " ")
		var name string
		var input any
		switch verb {
		case "run":
			name, input = shell.ExecName, map[string]string{"command": rest, "why": "it was asked for"}
		case "load":
			name, input = "skills_load", map[string]string{"name": rest}
		default:
			return say("nothing to do")
		}
		doc, err := json.Marshal(input)
		if err != nil {
			return say(err.Error())
		}
		call := modeltest.Call{ID: fmt.Sprintf("call_%d", len(req.Messages)), Name: name, Input: string(doc)}
		return append(modeltest.CallEvents(call), modeltest.Finish("tool-calls"))
	case modelmessage.ToolResult:
		text := p.Output.Text + string(p.Output.JSON) + p.Output.Reason.Value
		return say("Came of it: " + text)
	case modelmessage.ToolCall, modelmessage.Reasoning, modelmessage.File, modelmessage.Image, modelmessage.ApprovalRequest, modelmessage.ApprovalResponse:
	}
	return say("nothing to do")
}

// commandChat is a private chat with a host that runs commands in a sandbox.
type commandChat struct {
	*project
	t      *testing.T
	script *modeltest.Script
}

// newCommandChat creates a project and starts its host. Person 1 decides.
func newCommandChat(t *testing.T, box string, layout func(p *project)) *commandChat {
	t.Helper()
	c := &commandChat{project: newProject(t), t: t, script: modeltest.NewFunc(runWhatIsSaid)}
	layout(c.project)
	flags := telegramFlags(c.project)
	flags["adapters.telegram.egress"], flags["permissions.exec.approvers"], flags["permissions.exec.sandbox"] = "direct", "initiator", box
	c.start(t, Options{Model: c.script}, flags)
	return c
}

// say sends a message and returns the first answer that contains the wanted words.
func (c *commandChat) say(text, want string) string {
	c.t.Helper()
	before, got := len(c.api.Sent(1)), ""
	c.api.Say(1, 1, text, nil)
	c.api.Await(c.t, "an answer to "+text+" with "+want, func() bool {
		for _, s := range c.api.Sent(1)[before:] {
			if strings.Contains(s.Text, want) {
				got = s.Text
				return true
			}
		}
		return false
	})
	return got
}

// asks are the words with which a person is asked about a command.
const asks = "Without an answer it expires in 30 minutes"

// agreed runs a command that a person agrees to, and returns its result.
func (c *commandChat) agreed(command string) string {
	c.t.Helper()
	c.say("run "+command, asks)
	return c.say("yes", "Came of it")
}

// there reports whether a file of the project exists.
func (c *commandChat) there(name string) bool {
	_, err := os.Lstat(filepath.Join(c.dir, name))
	return err == nil
}

// holds reports whether a file of the project contains a text.
func (c *commandChat) holds(name, text string) bool {
	raw, err := os.ReadFile(filepath.Join(c.dir, name))
	return err == nil && strings.Contains(string(raw), text)
}

// audited counts the executions in the log of approvals.
func (c *commandChat) audited() int {
	c.t.Helper()
	return len(c.audit(c.t, "execution", "begun"))
}

// audit returns the lines of the log of approvals with an event and its result.
func (p *project) audit(t *testing.T, event, result string) (out []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(p.dir, ".ship", "approvals", "audit-*.jsonl"))
	stdtest.Must(t, err)
	for _, f := range files {
		text := stdtest.Read(t, f)
		for line := range strings.Lines(string(text)) {
			var e struct{ Event, Result string }
			if json.Unmarshal([]byte(line), &e) == nil && e.Event == event && e.Result == result { // the last line may be incomplete
				out = append(out, line)
			}
		}
	}
	return out
}

// A command runs only after a person agreed to what they were shown. It runs in the sandbox, and the
// model and people get its result.
func TestAP3CommandsInAHost(t *testing.T) { inSandboxes(t, commandsIn) }

func commandsIn(t *testing.T, box string) {
	t.Helper()
	c := newCommandChat(t, box, func(*project) {})
	command := "printf %s 'héllo & <b>' > made.txt; cat made.txt; cat .ship/access.json ship.json"
	if shown := c.say("run "+command, asks); !strings.Contains(shown, command) {
		t.Errorf("shown %q, want the whole command", shown)
	}
	if c.there("made.txt") {
		t.Fatal("it ran before anybody agreed")
	}
	got := c.say("yes", "Came of it")
	if !strings.Contains(got, "héllo & <b>") || !c.holds("made.txt", "héllo & <b>") {
		t.Errorf("after yes: %s", got)
	}
	c.say("run touch refused.txt", asks)
	if got := c.say("no", "Came of it"); got != "Came of it: no" || c.there("refused.txt") {
		t.Errorf("after no: %s, there: %v", got, c.there("refused.txt"))
	}
	if got := c.agreed("touch ../outside.txt .ship/made.txt Agent.md; echo x >> Agent.md; touch inside.txt"); !c.there("inside.txt") || c.there("../outside.txt") || c.there(".ship/made.txt") || !c.holds("Agent.md", "Kind.") || c.holds("Agent.md", "x\n") {
		t.Errorf("outside of the sandbox: %s", got)
	}
	if n := c.audited(); n != 2 {
		t.Errorf("%d executions in the log of approvals, want 2", n)
	}
	if faults := c.script.Faults(); len(faults) > 0 {
		t.Errorf("faults: %v", faults)
	}
}

// A command that the operator forbids does not run, however it is written, and nobody is asked.
func TestForbiddenCommandsInAHost(t *testing.T) { inSandboxes(t, forbiddenIn) }

func forbiddenIn(t *testing.T, box string) {
	t.Helper()
	c := newCommandChat(t, box, func(p *project) {
		settings := `{"permissions": {"exec": {"deny": ["touch *", "git push *"], "allow": ["touch made.txt", "ls *"]}}}`
		stdtest.Must(t, os.WriteFile(filepath.Join(p.dir, "ship.json"), []byte(settings), 0o600))
	})
	for _, command := range []string{
		"touch made.txt", "ls; touch made.txt", "/usr/bin/touch made.txt", "env touch made.txt", "sh -c 'touch made.txt'", "echo touch made.txt | sh",
		"ls | xargs touch", "find . -exec touch made.txt {} +", "t''ouch made.txt", "t=touch; $t made.txt", "$(echo touch) made.txt", "/usr/bin/touc? made.txt", "eval touch made.txt",
		"bash <<< 'touch made.txt'", "timeout 9 touch made.txt", "nohup touch made.txt &", "x() { touch made.txt; }; x", "python3 -c \"import os; os.system('touch made.txt')\"",
		"{touch,made.txt}", "git -c alias.x='!touch made.txt' x", "cd . && git push", "true | (touch made.txt)", "echo dG91Y2ggbWFkZS50eHQ= | base64 -d | sh",
	} {
		if got := c.say("run "+command, "Came of it"); !strings.Contains(got, "the operator") || !strings.Contains(got, "forbids") {
			t.Errorf("%s: %s", command, got)
		}
	}
	if c.there("made.txt") || c.audited() != 0 {
		t.Errorf("%d commands ran, file made: %v", c.audited(), c.there("made.txt"))
	}
	for _, s := range c.api.Sent(1) {
		if strings.Contains(s.Text, asks) {
			t.Errorf("a person was asked: %s", s.Text)
		}
	}
	if got := c.say("run ls -a", "Came of it"); !strings.Contains(got, "Agent.md") {
		t.Errorf("an allowed command: %s", got)
	}
}

// A temporary grant covers its own command and no other.
func TestAP8GrantsInAHost(t *testing.T) { inSandboxes(t, grantsIn) }

func grantsIn(t *testing.T, box string) {
	t.Helper()
	c := newCommandChat(t, box, func(p *project) {
		init := exec.CommandContext(t.Context(), "git", "init", "-q", p.dir)
		if out, err := init.CombinedOutput(); err != nil {
			t.Skipf("there is no git: %v: %s", err, out)
		}
	})
	c.say("run git status", asks)
	if got := c.say("10分钟内允许 git status", "Came of it"); !strings.Contains(got, "Agent.md") {
		t.Errorf("the command that was asked about: %s", got)
	}
	stdtest.Write(t, filepath.Join(c.dir, "later.txt"), "x")
	before := len(c.api.Sent(1))
	if got := c.say("run git status", "Came of it"); !strings.Contains(got, "later.txt") {
		t.Errorf("the granted command: %s", got)
	}
	for _, s := range c.api.Sent(1)[before:] {
		if strings.Contains(s.Text, asks) {
			t.Errorf("asked about a granted command: %s", s.Text)
		}
	}
	for _, other := range []string{"git status; touch evil.txt", "git -c core.fsmonitor=./x status", "git stash"} {
		c.say("run "+other, asks)
		if got := c.say("no", "Came of it"); got != "Came of it: no" {
			t.Errorf("%s: %s", other, got)
		}
	}
	if c.there("evil.txt") || c.audited() != 2 {
		t.Errorf("%d executions, evil.txt: %v; want the 2 of git status", c.audited(), c.there("evil.txt"))
	}
}

// A command that changes between the question and the answer does not run.
func TestAP7ChangedScriptsInAHost(t *testing.T) { inSandboxes(t, changedScriptsIn) }

func changedScriptsIn(t *testing.T, box string) {
	t.Helper()
	c := newCommandChat(t, box, func(p *project) { stdtest.Write(t, filepath.Join(p.dir, "build.sh"), "echo built\n") })
	if shown := c.say("run sh build.sh", asks); !strings.Contains(shown, "It runs these files of the project: build.sh.") {
		t.Errorf("shown %q, want the file that it runs", shown)
	}
	stdtest.Write(t, filepath.Join(c.dir, "build.sh"), "touch evil.txt; echo built\n")
	if got := c.say("yes", "Came of it"); !strings.Contains(got, "has changed since a person agreed") || c.there("evil.txt") {
		t.Errorf("a changed script: %s", got)
	}
	stdtest.Write(t, filepath.Join(c.dir, "build.sh"), "echo again\n")
	if got := c.agreed("sh build.sh"); !strings.Contains(got, "again") || c.there("evil.txt") {
		t.Errorf("asked once more: %s", got)
	}
}

// A script of a loaded skill runs as a command, and no command changes the script.
func TestSU1ScriptsOfSkillsInAHost(t *testing.T) { inSandboxes(t, scriptsOfSkillsIn) }

func scriptsOfSkillsIn(t *testing.T, box string) {
	t.Helper()
	outside := t.TempDir()
	names, scripts := []string{"own", "other", "far"}, map[string]string{}
	c := newCommandChat(t, box, func(p *project) {
		state := filepath.Join(p.dir, ".ship")
		folders := map[string]string{"own": filepath.Join(state, "skills"), "other": filepath.Join(p.dir, ".claude", "skills"), "far": outside}
		stdtest.Write(t, filepath.Join(p.dir, "ship.json"), fmt.Sprintf(`{"skills": {"paths": [%q], "allowExternalPaths": true}}`, outside))
		for _, name := range names {
			folder := filepath.Join(folders[name], name)
			stdtest.Write(t, filepath.Join(folder, "SKILL.md"), skillText(name))
			scripts[name] = filepath.Join(folder, "scripts", "say.sh")
			stdtest.Write(t, scripts[name], "echo this is "+name+"\n")
		}
		set := agentdir.SkillCatalog(p.dir, state, p.load(t, nil).Settings.Skills).Current()
		for _, name := range names {
			found, ok := set.Find(name)
			if !ok {
				t.Fatalf("no skill %s: %v", name, set.Problems)
			}
			stdtest.Must(t, agentdir.SkillStore(state).ApproveSkill(t.Context(), persistence.SkillApproval{Name: name, Digest: found.Digest}))
		}
	})
	for _, name := range names {
		script := scripts[name]
		c.say("load "+name, "Came of it")
		if rel, err := filepath.Rel(c.dir, script); err == nil && filepath.IsLocal(rel) {
			script = rel
		}
		if got := c.agreed("sh " + script); !strings.Contains(got, "this is "+name) {
			t.Errorf("the script of %s: %s", name, got)
		}
		dir := filepath.Dir(filepath.Dir(script))
		c.agreed(strings.NewReplacer("{script}", script, "{dir}", dir).Replace(
			"echo evil > {script}; rm -f {script}; mv {dir} moved; chmod 777 {script}; echo evil > {dir}/SKILL.md; mkdir -p {dir}/../more; ln -s /etc {dir}/link; cp /bin/true {dir}/true"))
		if text, err := os.ReadFile(scripts[name]); err != nil || string(text) != "echo this is "+name+"\n" {
			t.Errorf("%s changed: %q, %v", scripts[name], text, err)
		}
		if info, err := os.Stat(scripts[name]); err != nil || info.Mode().Perm()&0o011 != 0 {
			t.Errorf("the rights of %s changed: %v, %v", scripts[name], info.Mode(), err)
		}
		if entries, err := os.ReadDir(filepath.Join(filepath.Dir(scripts[name]), "..", "..")); err != nil || len(entries) != 1 {
			t.Errorf("the folder of %s has %v, %v; want it alone", name, entries, err)
		}
		if entries, err := os.ReadDir(filepath.Join(filepath.Dir(scripts[name]), "..")); err != nil || len(entries) != 2 {
			t.Errorf("the folder %s has %v, %v; want SKILL.md and scripts", name, entries, err)
		}
	}
	got := c.agreed("ls .ship/skills .ship/chat .ship/approvals/grants; cat .ship/skills.lock .ship/approvals/audit*; echo end")
	if strings.Contains(got, "telegram-chat-1") || strings.Contains(got, "digest") || !strings.Contains(got, "own") || !strings.Contains(got, "end") {
		t.Errorf("of the state folder commands see %s, want the skills", got)
	}
}

// A folder of skills outside the project is available to commands only if the settings allow such
// folders.
func TestSU1FoldersOutsideStayClosed(t *testing.T) {
	inSandboxes(t, func(t *testing.T, box string) {
		t.Helper()
		for _, allowed := range []bool{false, true} {
			t.Run(fmt.Sprintf("allowed: %v", allowed), func(t *testing.T) {
				outside := t.TempDir()
				stdtest.Write(t, filepath.Join(outside, "far", "notes.txt"), "far away\n")
				c := newCommandChat(t, box, func(p *project) {
					stdtest.Write(t, filepath.Join(p.dir, "ship.json"), fmt.Sprintf(`{"skills": {"paths": [%q], "allowExternalPaths": %v}}`, outside, allowed))
				})
				if got := c.agreed("cat " + filepath.Join(outside, "far", "notes.txt")); strings.Contains(got, "far away") != allowed {
					t.Errorf("it was read: %s", got)
				}
			})
		}
	})
}
