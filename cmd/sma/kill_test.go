package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// project is the binary as a process of its own.
type project struct {
	cmd *exec.Cmd
	log *os.File
}

// sma prepares a command of the binary, which this test binary is when it is
// called by that name.
func sma(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path)
	cmd.Args = append([]string{"sma"}, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir(), "GORACE=atexit_sleep_ms=0 " + os.Getenv("GORACE")}
	return cmd
}

// startProject runs a project in a process of its own, writing its log to a file. heard,
// if not nil, gets the log too.
func startProject(t *testing.T, dir string, heard ...io.Writer) *project {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(dir, "sma.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	p := &project{cmd: sma(t, "run", dir), log: log}
	p.cmd.Stderr = io.MultiWriter(append(heard, log)...)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// end sends a signal and waits for the end of the process.
func (p *project) end(t *testing.T, sig os.Signal) int {
	t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		t.Fatalf("signal %v: %v", sig, err)
	}
	_ = p.cmd.Wait() // the exit code is what counts
	if err := p.log.Close(); err != nil {
		t.Error(err)
	}
	return p.cmd.ProcessState.ExitCode()
}

// telegramWorld is a project with a fake Telegram and a fake model.
type telegramWorld struct {
	dir   string
	api   *telegramtest.API
	model *modeltest.Server
	say   sync.Mutex // updates get their ids one after the other
}

// write makes somebody write into their chat.
func (w *telegramWorld) write(chat int64, text string) {
	w.say.Lock()
	defer w.say.Unlock()
	w.api.Say(chat, chat, text, nil)
}

func newTelegramWorld(t *testing.T, chats int, egress string, m model.Model) *telegramWorld {
	t.Helper()
	w := &telegramWorld{dir: t.TempDir(), api: telegramtest.NewAPI(t), model: modeltest.NewServer(m, modeltest.ServerOptions{Key: "sk-test"})}
	t.Cleanup(w.model.Close)
	for chat := range int64(chats) {
		w.api.AddChat(telegramtest.Chat{ID: chat + 1, Type: "private"})
	}
	settings, err := json.Marshal(map[string]any{
		"llm": map[string]any{"provider": "custom", "model": "fake", "baseUrl": w.model.URL, "apiKey": "sk-test"},
		"adapters": map[string]any{
			"telegram": map[string]any{
				"botToken": w.api.Token(), "baseUrl": w.api.URL(), "access": "open", "rateLimit": "off", "egress": egress, "drafts": "off",
			},
			"web": map[string]any{"enabled": false},
		},
		"metrics": map[string]any{"listen": "off"},
		// The tests count what the model is asked; notes for the memory would be asked beside it.
		"context": map[string]any{"memory": map[string]any{"autoExtractEnabled": false}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"ship.json": string(settings), "Agent.md": "# Test\n\nBe kind."} {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(w.dir, "sma.log"))
			t.Logf("log of the processes:\n%s", log)
		}
	})
	return w
}

// configure sets a part of the settings, before a host starts.
func (w *telegramWorld) configure(t *testing.T, block string, value any) {
	t.Helper()
	name := filepath.Join(w.dir, "ship.json")
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var settings map[string]any
	if err := json.Unmarshal(raw, &settings); err != nil {
		t.Fatal(err)
	}
	settings[block] = value
	if raw, err = json.Marshal(settings); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

var token = regexp.MustCompile(`m-\d+-\d+`)

// wanted is the token of the newest message of a person, and what tools answered since.
func wanted(req model.Request) (want, answers string) {
	for _, m := range req.Messages {
		raw, err := json.Marshal(m)
		if err != nil {
			return "", ""
		}
		switch m.Role {
		case modelmessage.RoleUser:
			if found := token.FindAllString(string(raw), -1); len(found) > 0 {
				want, answers = found[len(found)-1], ""
			}
		case modelmessage.RoleTool:
			answers += string(raw)
		case modelmessage.RoleAssistant, modelmessage.RoleSystem:
		}
	}
	return want, answers
}

// acknowledge answers with the tokens of all user turns since the last answer.
func acknowledge(req model.Request) []model.Event {
	var found []string
	for _, m := range req.Messages {
		raw, err := json.Marshal(m)
		if err != nil {
			return nil
		}
		switch m.Role {
		case modelmessage.RoleAssistant:
			found = nil
		case modelmessage.RoleUser:
			found = append(found, token.FindAllString(string(raw), -1)...)
		case modelmessage.RoleSystem, modelmessage.RoleTool:
		}
	}
	return append(modeltest.TextEvents("got ", strings.Join(found, " "), "."), modeltest.Finish("stop"))
}

// copies counts how often each token was answered in a chat.
func (w *telegramWorld) copies(chat int64) map[string]int {
	out := map[string]int{}
	for _, s := range w.api.Sent(chat) {
		for _, found := range token.FindAllString(s.Text, -1) {
			out[found]++
		}
	}
	return out
}

// TestKillsLoseNothing kills the process at arbitrary calls while people write in
// many chats. Every message is answered; only a send that the kill interrupted
// may show twice, and every model request is one that a strict provider takes.
func TestKillsLoseNothing(t *testing.T) {
	const chats, perChat, kills = 6, 24, 6
	w := newTelegramWorld(t, chats, "direct", modeltest.NewFunc(acknowledge))
	p := startProject(t, w.dir)
	var people sync.WaitGroup
	for chat := int64(1); chat <= chats; chat++ {
		people.Go(func() {
			for n := range perChat {
				want := fmt.Sprintf("m-%d-%d", chat, n)
				w.write(chat, "please "+want)
				if n%3 == 2 { // the others arrive while a run may be under way
					w.api.Await(t, "an answer to "+want, func() bool { return w.copies(chat)[want] > 0 })
				}
			}
		})
	}
	for range kills {
		before := map[int64]int{}
		for chat := int64(1); chat <= chats; chat++ {
			before[chat] = len(w.copies(chat))
		}
		// Every chat gets on between two kills: a run that is interrupted three
		// times is given up, with a notice.
		w.api.Await(t, "an answer in every chat", func() bool {
			for chat, n := range before {
				if now := len(w.copies(chat)); now == n && now < perChat {
					return false
				}
			}
			return true
		})
		calls := len(w.api.Calls("")) + rand.IntN(12)
		w.api.Await(t, "more calls", func() bool { return len(w.api.Calls("")) >= calls || w.answered(chats) == chats*perChat })
		p.end(t, syscall.SIGKILL)
		p = startProject(t, w.dir)
	}
	people.Wait()
	w.api.Await(t, "everything answered", func() bool { return w.answered(chats) == chats*perChat })
	w.api.AwaitPoller(t)
	if code := p.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code after SIGTERM = %d, want 0", code)
	}
	extra := 0
	for chat := int64(1); chat <= chats; chat++ {
		for id, n := range w.copies(chat) {
			extra += n - 1
			if n > 1+kills {
				t.Errorf("%s was answered %d times", id, n)
			}
		}
		w.conserved(t, chat, perChat)
	}
	// A kill can interrupt one send in each chat, which may then show twice; such
	// a send may answer several messages at once.
	if extra > kills*chats*3 {
		t.Errorf("%d answers too many after %d kills", extra, kills)
	}
	if faults := w.model.Faults(); len(faults) > 0 {
		t.Errorf("the model was asked wrongly: %v", faults)
	}
}

// answered counts the messages that were answered.
func (w *telegramWorld) answered(chats int) int {
	n := 0
	for chat := int64(1); chat <= int64(chats); chat++ {
		n += len(w.copies(chat))
	}
	return n
}

// conserved asks the binary what became of a chat's messages.
func (w *telegramWorld) conserved(t *testing.T, chat int64, want int) {
	t.Helper()
	out, err := sma(t, "chats", "show", "--dir", w.dir, "--json", fmt.Sprintf("telegram-chat-%d", chat)).Output()
	if err != nil {
		t.Fatalf("chats show: %v", err)
	}
	var shown struct {
		Running bool
		Counts  struct {
			Accepted, Open int
			Fates          map[string]int
			OutboxPending  int
		}
	}
	if err := json.Unmarshal(out, &shown); err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, n := range shown.Counts.Fates {
		sum += n
	}
	if c := shown.Counts; c.Accepted != want || c.Open != 0 || sum != want || c.OutboxPending != 0 || shown.Running {
		t.Errorf("chat %d: %+v, want %d accepted and all of them settled", chat, shown, want)
	}
}

// TestStopLetsRunsEnd: SIGTERM takes nothing more in, lets the run under way end
// and its answer go out.
func TestStopLetsRunsEnd(t *testing.T) {
	hold := make(chan struct{})
	script := modeltest.NewScript(modeltest.Held(hold, modeltest.Say("done")))
	w := newTelegramWorld(t, 1, "tool", script)
	p := startProject(t, w.dir)
	w.write(1, "go on")
	if err := script.WaitAsked(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	close(hold)
	w.api.Await(t, "the answer", func() bool { return len(w.api.Sent(1)) == 1 })
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("after SIGTERM: %v, want exit code 0", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the process did not end")
	}
	if got := w.api.Sent(1)[0].Text; got != "done" {
		t.Errorf("answer = %q, want the whole one", got)
	}
}

// TestSecondSignalForces: who asks twice does not wait for the run.
func TestSecondSignalForces(t *testing.T) {
	hold := make(chan struct{})
	defer close(hold)
	script := modeltest.NewScript(modeltest.Held(hold, modeltest.Say("never")))
	w := newTelegramWorld(t, 1, "direct", script)
	heard := &listener{word: "stopping", heard: make(chan struct{})}
	p := startProject(t, w.dir, heard)
	w.write(1, "go on")
	if err := script.WaitAsked(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for _, wait := range []<-chan struct{}{nil, heard.heard} { // two signals at once may count as one
		if wait != nil {
			<-wait
		}
		if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
	}
	_ = p.cmd.Wait() // the exit code is what counts
	if code := p.cmd.ProcessState.ExitCode(); code != 130 || time.Since(began) > 4*time.Second {
		t.Errorf("exit code %d after %v, want 130 at once", code, time.Since(began))
	}
}

// listener waits for a word in a log.
type listener struct {
	word  string
	once  sync.Once
	heard chan struct{}
}

func (l *listener) Write(line []byte) (int, error) {
	if strings.Contains(string(line), l.word) {
		l.once.Do(func() { close(l.heard) })
	}
	return len(line), nil
}
