package host

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/webfetch"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// changing is a chat with a host that runs commands, and whose ship.json is saved again while it runs.
type changing struct {
	*commandChat
	h     *Host
	flags map[string]string
}

func newChanging(t *testing.T, ship string, answer func(model.Request) []model.Event) *changing {
	t.Helper()
	return newChangingIn(t, "off", ship, answer)
}

func newChangingIn(t *testing.T, box, ship string, answer func(model.Request) []model.Event) *changing {
	t.Helper()
	c := &changing{commandChat: &commandChat{project: newProject(t), t: t, script: modeltest.NewFunc(answer)}}
	stdtest.Write(t, filepath.Join(c.dir, "ship.json"), ship)
	c.flags = telegramFlags(c.project)
	c.flags["adapters.telegram.egress"], c.flags["permissions.exec.sandbox"] = "direct", box
	c.h = c.start(t, Options{Model: c.script, Reload: func() (*config.Loaded, error) { return c.read(c.flags) }}, c.flags)
	return c
}

// execRules are settings with rules for commands. Whoever asks for a command may approve it.
func execRules(rules string) string {
	return `{"permissions": {"exec": {"approvers": ["initiator"], ` + rules + `}}}`
}

// save writes ship.json and waits until the host follows it. Nothing in it may need a restart.
func (c *changing) save(ship string) {
	c.t.Helper()
	stdtest.Write(c.t, filepath.Join(c.dir, "ship.json"), ship)
	want := c.load(c.t, c.flags).Settings
	faketest.Poll(c.t, "the new settings", func() bool { return reflect.DeepEqual(*c.h.settings(), want) })
	if keys := c.h.Status(c.t.Context()).Restart; len(keys) > 0 {
		c.t.Errorf("a restart is needed for %q", keys)
	}
}

// none fails if one of the files exists.
func (c *changing) none(when string, names ...string) {
	c.t.Helper()
	for _, name := range names {
		if c.there(name) {
			c.t.Fatalf("%s was made %s", name, when)
		}
	}
}

// A rule that is loosened lets the next command run, and does not approve the one that waits: that one still needs its
// person. A rule that is made stricter binds the next command, too.
func TestChangedRulesDoNotApproveWhatWaits(t *testing.T) {
	c := newChanging(t, execRules(`"allow": []`), runWhatIsSaid)
	c.say("run touch waits.txt", asks)
	c.save(execRules(`"allow": ["touch *"]`))
	c.none("by a rule that came later", "waits.txt")
	if got := c.say("run touch next.txt", "Came of it"); !c.there("next.txt") {
		t.Errorf("the next command: %s", got)
	}
	c.none("by a rule that came later", "waits.txt")
	c.save(execRules(`"allow": []`))
	c.say("run touch asked.txt", asks)
	c.none("without a rule", "waits.txt", "asked.txt")
	c.say("no to all", "")
	faketest.Poll(t, "the requests to be closed", func() bool { return len(c.outcomes("denied")) >= 2 })
	c.none("after a no", "waits.txt", "asked.txt")
}

// outcomes are the lines of the approval log with a result.
func (c *changing) outcomes(result string) []string {
	c.t.Helper()
	return c.audit(c.t, "approval", result)
}

// What is forbidden while a request waits does not run after a yes, and a timed grant does not help either. Once it is
// no longer forbidden, the grant is what it was: of one command, for its time.
func TestForbiddenWhileARequestWaits(t *testing.T) {
	c := newChanging(t, execRules(`"deny": []`), runWhatIsSaid)
	c.say("run touch waits.txt", asks)
	c.save(execRules(`"deny": ["touch *"]`))
	if got := c.say("yes", "Came of it"); !strings.Contains(got, "forbids") {
		t.Errorf("after yes: %s", got)
	}
	c.none("although it was forbidden", "waits.txt")
	c.say("run wc Agent.md", asks)
	c.say("allow wc Agent.md for 10 minutes", "Came of it")
	c.save(execRules(`"deny": ["wc *"]`))
	if got := c.say("run wc Agent.md", "Came of it"); !strings.Contains(got, "forbids") {
		t.Errorf("a granted command that is forbidden: %s", got)
	}
	c.save(execRules(`"deny": [], "allow": ["wc -l *"]`))
	if got := c.say("run wc Agent.md", "Came of it"); strings.Contains(got, "forbids") {
		t.Errorf("the grant: %s", got)
	}
	c.say("run wc ship.json", asks)
	c.save(execRules(`"deny": []`))
	c.say("run wc -l Agent.md", asks)
}

// So does what is forbidden after a yes, as long as the command has not started: another run is in progress, and the
// command waits for its next step.
func TestForbiddenBetweenAYesAndItsCommand(t *testing.T) {
	c := newChanging(t, execRules(`"allow": ["cat *"]`), runWhatIsSaid)
	c.say("run touch waits.txt", asks)
	pipe := c.blocked("run cat pipe")
	c.api.Say(1, 1, "/approve 1", nil)
	faketest.Poll(t, "the yes", func() bool { return len(c.outcomes("approved")) == 1 })
	c.none("during another run", "waits.txt")
	c.save(execRules(`"allow": ["cat *"], "deny": ["touch *"]`))
	stdtest.Must(t, pipe.Close())
	c.api.Await(t, "the refusal", func() bool { return strings.Contains(jsonOf(t, c.script.Requests()), "forbids") })
	c.none("although it was forbidden", "waits.txt")
}

// blocked has a command run that reads a pipe, and returns the pipe once it does.
func (c *changing) blocked(text string) *os.File {
	c.t.Helper()
	if err := syscall.Mkfifo(filepath.Join(c.dir, "pipe"), 0o600); err != nil {
		c.t.Skipf("there are no pipes with names: %v", err)
	}
	c.api.Say(1, 1, text, nil)
	pipe, err := os.OpenFile(filepath.Join(c.dir, "pipe"), os.O_WRONLY, 0) // waits for the reader
	stdtest.Must(c.t, err)
	return pipe
}

// Who may approve changes at once for requests that wait, both ways.
func TestChangedApproversDecideAboutWhatWaits(t *testing.T) {
	c := newChanging(t, execRules(`"allow": []`), runWhatIsSaid)
	c.say("run touch waits.txt", asks)
	c.save(`{"permissions": {"exec": {"approvers": ["77"]}}}`)
	c.say("/approve 1", "")
	c.none("by somebody who may no longer approve", "waits.txt")
	c.save(execRules(`"allow": []`))
	c.none("before anybody agreed again", "waits.txt")
	c.say("/approve 1", "Came of it")
	if !c.there("waits.txt") {
		t.Error("a yes of somebody who may approve again had no effect")
	}
}

// Rules bind the calls of a run in progress: those of later steps, and one that has arrived and waits for another.
func TestChangedRulesBindARunInProgress(t *testing.T) {
	for _, tt := range []struct{ name, rules, want string }{
		{"forbidden", `"allow": ["touch *", "cat *"], "deny": ["touch *"]`, "forbids"},
		{"no longer allowed", `"allow": ["cat *"]`, "not executed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			steps, told := 0, ""
			c := newChanging(t, execRules(`"allow": ["touch *", "cat *"]`), func(req model.Request) []model.Event {
				if len(req.Tools) == 0 {
					return append(modeltest.TextEvents("{}"), modeltest.Finish("stop"))
				}
				steps++
				for _, p := range req.Messages[len(req.Messages)-1].Parts {
					if r, ok := p.(modelmessage.ToolResult); ok {
						told += r.ToolCallID + ": " + r.Output.Text + string(r.Output.JSON) + "\n"
					}
				}
				call := func(id, command string) modeltest.Call {
					return modeltest.Call{ID: id, Name: "exec_shell", Input: `{"command":"` + command + `","why":"told to"}`}
				}
				switch steps {
				case 1: // the second is ready to start, and waits for the first
					return append(modeltest.CallEvents(call("c1", "cat pipe"), call("c2", "touch second.txt")), modeltest.Finish("tool-calls"))
				case 2:
					return append(modeltest.CallEvents(call("c3", "touch third.txt")), modeltest.Finish("tool-calls"))
				}
				return append(modeltest.TextEvents("Done."), modeltest.Finish("stop"))
			})
			pipe := c.blocked("go on")
			c.save(execRules(tt.rules))
			stdtest.Must(t, pipe.Close())
			c.api.Await(t, "the end of the run", func() bool {
				for _, s := range c.api.Sent(1) {
					if strings.Contains(s.Text, "Done.") || strings.Contains(s.Text, asks) {
						return true
					}
				}
				return false
			})
			c.none("against the new rules", "second.txt", "third.txt")
			if !strings.Contains(told, "c1: ") || !strings.Contains(told, "c2: ") || !strings.Contains(told, tt.want) {
				t.Errorf("the model was told:\n%swant %q of the second call", told, tt.want)
			}
		})
	}
}

// What is asked about changes with the rules for pages, too, and a page that was allowed when its call arrived is not
// fetched without that rule.
func TestChangedHostsOfPagesCountAtOnce(t *testing.T) {
	c := newChanging(t, `{"permissions": {"fetch": {"allow": ["example.org"]}}}`, runWhatIsSaid)
	fetch, _ := c.h.tools.Find(webfetch.Name)
	call := tool.Call{ID: "c", Name: webfetch.Name, Input: json.RawMessage(`{"url":"https://example.org/x"}`)}
	judged := func(want tool.Decision) {
		t.Helper()
		if v := tool.BySpec(fetch, call); v.Decision != want {
			t.Errorf("%v, want %v", v.Decision, want)
		}
	}
	judged(tool.Allow)
	c.save(`{"permissions": {"fetch": {"allow": []}}}`)
	judged(tool.Ask)
	if _, err := fetch.Invoke(t.Context(), call); err == nil || !strings.Contains(err.Error(), "nobody agreed") {
		t.Errorf("fetched without a rule or a person: %v", err)
	}
	c.save(`{"permissions": {"fetch": {"allow": ["*.example.org", "example.org"]}}}`)
	judged(tool.Allow)
}

// A file with faults changes nothing of what counts, and what comes after it counts again. Nor does one that is empty or
// gone, as a file is while it is written.
func TestFaultyRulesChangeNothing(t *testing.T) {
	c := newChanging(t, execRules(`"deny": ["touch *"]`), runWhatIsSaid)
	for _, faulty := range []string{"", `{"permissions": {"exec": {"deny": []`, execRules(`"deny": [], "network": "maybe"`), execRules(`"deny": [], "allow": 5`), "gone"} {
		before := strings.Count(c.log.String(), "the previous ones stay in effect")
		if faulty == "gone" {
			stdtest.Must(t, os.Remove(filepath.Join(c.dir, "ship.json")))
		} else {
			stdtest.Write(t, filepath.Join(c.dir, "ship.json"), faulty)
		}
		faketest.Poll(t, "a warning about "+faulty, func() bool { return strings.Count(c.log.String(), "the previous ones stay in effect") > before })
		if got := c.say("run touch made.txt", "Came of it"); !strings.Contains(got, "forbids") {
			t.Errorf("after %s: %s", faulty, got)
		}
	}
	c.none("by a faulty file", "made.txt")
	c.save(execRules(`"deny": [], "allow": ["touch *"]`))
	if got := c.say("run touch made.txt", "Came of it"); !c.there("made.txt") {
		t.Errorf("after a good file: %s", got)
	}
}

// No command changes the rules that count, even one that a person agreed to.
func TestCommandsDoNotChangeTheRules(t *testing.T) {
	inSandboxes(t, func(t *testing.T, box string) {
		t.Helper()
		const ship = `{"permissions": {"exec": {"approvers": ["initiator"], "deny": ["wc *"]}}}`
		c := newChangingIn(t, box, ship, runWhatIsSaid)
		for i, command := range []string{
			"rm -f ship.json", "mv ship.json other.json", "echo {} > ship.json", "echo {} > new.json && mv -f new.json ship.json", "ln -sf new.json ship.json",
			"truncate -s 0 ship.json", "mkdir -p d && mv ship.json d/", "rm -rf ship.json .env; touch .env",
		} {
			c.agreed(command + "; touch ran-" + strconv.Itoa(i))
			if !c.there("ran-" + strconv.Itoa(i)) {
				t.Errorf("%s did not run", command)
			}
		}
		if text, err := os.ReadFile(filepath.Join(c.dir, "ship.json")); err != nil || string(text) != ship {
			t.Fatalf("ship.json is %q, %v", text, err)
		}
		if got := c.say("run wc Agent.md", "Came of it"); !strings.Contains(got, "forbids") {
			t.Errorf("a forbidden command: %s", got)
		}
	})
}
