package shell_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/shell"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestUsefulOnceAProcessRuns: what reads and stops processes is of use in a chat that has one.
func TestUsefulOnceAProcessRuns(t *testing.T) {
	everywhere(t, func(p place) {
		w := newWorld(p.t, p.in)
		useful := func(chat messages.ChatKey) (n int) {
			for _, t := range w.tools {
				if f, ok := t.(tool.FollowUp); ok && f.Useful(chat) {
					n++
				}
			}
			return n
		}
		before := useful("web-chat-a")
		w.launch("sleep 1000")
		if after, elsewhere := useful("web-chat-a"), useful("web-chat-b"); before != 0 || after != 4 || elsewhere != 0 {
			p.t.Errorf("%d tools are useful before, %d after, %d in another chat; want 0, 4 and 0", before, after, elsewhere)
		}
	})
}

// launch starts a process in the background.
func (w *world) launch(command string) string {
	w.t.Helper()
	out := w.answer(call(shell.ExecName, obj{"command": command, "background": true, "why": "a test"}))
	id, _ := out["id"].(string)
	if id == "" || out["state"] != "running" {
		w.t.Fatalf("launched: %v", out)
	}
	return id
}

func (w *world) state(id string) obj {
	w.t.Helper()
	for _, p := range w.processes() {
		if p["id"] == id {
			return p
		}
	}
	return nil
}

func (w *world) ended(id string) {
	w.t.Helper()
	faketest.Poll(w.t, id+" has ended", func() bool { return w.state(id) == nil || w.state(id)["state"] == "ended" })
}

func TestBackground(t *testing.T) {
	everywhere(t, func(p place) {
		t, in := p.t, p.in
		w := newWorld(t, in)
		id := w.launch("echo begun; while read line; do echo \"got $line\"; done; echo over; exit 4")
		var out obj
		faketest.Poll(t, "it has printed", func() bool {
			out = w.answer(call(shell.ReadName, obj{"id": id, "from": 0}))
			return out["output"] == "begun\n"
		})
		if out["state"] != "running" || out["next"] != 6.0 {
			t.Errorf("read: %v", out)
		}
		c := call(shell.WriteName, obj{"id": id, "text": "a line\n", "why": "to see"})
		e := w.explain(c)
		if e.Exact != "a line\n" || e.Bind == "" || !strings.Contains(e.What, id) || !strings.Contains(e.What, "while read line") || !strings.Contains(e.What, `“to see”`) {
			t.Errorf("explanation %+v", e)
		}
		for name, other := range map[string]obj{"text": {"id": id, "text": "b line\n"}, "end": {"id": id, "text": "a line\n", "eof": true}} {
			if got := w.explain(call(shell.WriteName, other)); got.Bind == e.Bind {
				t.Errorf("another %s has the same digest", name)
			}
		}
		c.Bind = "of something else"
		if _, err := w.invoke(c); err == nil {
			t.Error("what was not agreed to was typed")
		}
		c.Bind = e.Bind
		if out := w.answer(c); out["typedBytes"] != 7.0 {
			t.Errorf("typed: %v", out)
		}
		faketest.Poll(t, "it has answered", func() bool { return w.state(id)["unreadBytes"] == 11.0 })
		if out := w.answer(call(shell.ReadName, obj{"id": id})); out["output"] != "got a line\n" || out["from"] != 6.0 || out["next"] != 17.0 {
			t.Errorf("read on: %v", out)
		}
		w.answer(call(shell.WriteName, obj{"id": id, "text": "", "eof": true}))
		w.ended(id)
		e2 := <-w.notices
		if e2.ID != id || e2.Exit.Code != 4 || !strings.HasSuffix(e2.Tail, "over\n") || e2.Run.ChatKey != "web-chat-a" || e2.Run.RequestID != "q1" {
			t.Errorf("notice %+v", e2)
		}
		if _, err := w.invoke(call(shell.WriteName, obj{"id": id, "text": "x"})); err == nil || !strings.Contains(err.Error(), "ended") {
			t.Errorf("typed after the end: %v", err)
		}
		if out := w.answer(call(shell.ReadName, obj{"id": id})); out["output"] != "over\n" || out["state"] != "ended" || out["exitCode"] != 4.0 {
			t.Errorf("the rest: %v", out)
		}
		if s := w.state(id); s != nil {
			t.Errorf("it was read to the end and is still there: %v", s)
		}
	})
}

func TestStopEndsEverything(t *testing.T) {
	w := newWorld(t)
	id := w.launch("sleep 1000 & echo $!; sleep 1000")
	var pid string
	faketest.Poll(t, "the child is known", func() bool {
		pid = strings.TrimSpace(words(w.answer(call(shell.ReadName, obj{"id": id, "from": 0})), "output"))
		return pid != ""
	})
	out := w.answer(call(shell.StopName, obj{"id": id}))
	if out["state"] != "ended" || out["signal"] != "SIGKILL" {
		t.Errorf("stopped: %v", out)
	}
	faketest.Poll(t, "the child is gone", func() bool { return gone(pid) })
	if again := w.answer(call(shell.StopName, obj{"id": id})); again["state"] != "ended" {
		t.Errorf("stopped again: %v", again)
	}
	select {
	case e := <-w.notices:
		t.Errorf("a notice of what the chat stopped: %+v", e)
	default:
	}
}

// gone reports that a process does not run; it may be a zombie.
func gone(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err != nil || strings.Contains(string(stat), ") Z ")
}

// Processes of another chat are not visible to any tool.
func TestPI6ProcessesStayHome(t *testing.T) {
	w := newWorld(t)
	id := w.launch("echo canary; sleep 1000")
	faketest.Poll(t, "it has printed", func() bool { return w.state(id)["unreadBytes"] == 7.0 })
	for name, input := range map[string]obj{
		shell.ReadName: {"id": id}, shell.WriteName: {"id": id, "text": "x"}, shell.StopName: {"id": id},
	} {
		other := callIn("web-chat-b", name, input)
		_, err := w.invoke(other)
		nobodys := callIn("web-chat-b", name, obj{"id": "p0", "text": "x"})
		delete(input, "text")
		if name != shell.WriteName {
			nobodys = callIn("web-chat-b", name, obj{"id": "p0"})
		}
		_, none := w.invoke(nobodys)
		if err == nil || none == nil || err.Error() != none.Error() {
			t.Errorf("%s: %v for another chat's, %v for one that never was", name, err, none)
		}
		if it, ok := w.tools[name].(tool.Explainer); ok {
			if e, err := it.Explain(other); err == nil {
				t.Errorf("%s explains %+v", name, e)
			}
		}
	}
	r, err := w.invoke(callIn("web-chat-b", shell.StatusName, obj{}))
	if err != nil || string(r.Output) != `{"processes":[]}` {
		t.Errorf("list: %s, %v", r.Output, err)
	}
	if s := w.state(id); s["state"] != "running" {
		t.Errorf("the process: %v", s)
	}
}

func TestBackgroundIsBounded(t *testing.T) {
	w := newWorld(t)
	var wait sync.WaitGroup
	var mu sync.Mutex
	var ids []string
	refused := 0
	for i := range 24 {
		wait.Go(func() {
			c := callIn("web-chat-a", shell.ExecName, obj{"command": "sleep 1000", "background": true, "why": "x"})
			c.ID = fmt.Sprint(i)
			r, err := w.tools[shell.ExecName].Invoke(context.Background(), c)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				refused++
				if !strings.Contains(err.Error(), "shell_stop") {
					t.Errorf("refused: %v", err)
				}
				return
			}
			var out struct{ ID string }
			if err := json.Unmarshal(r.Output, &out); err != nil {
				t.Error(err)
			}
			ids = append(ids, out.ID)
		})
	}
	wait.Wait()
	if len(ids) != 16 || refused != 8 {
		t.Fatalf("%d began, %d were refused", len(ids), refused)
	}
	_, err := w.invoke(callIn("web-chat-b", shell.ExecName, obj{"command": "true", "background": true, "why": "x"}))
	if err == nil || !strings.Contains(err.Error(), "of this chat: none") {
		t.Errorf("another chat: %v", err)
	}
	w.answer(call(shell.StopName, obj{"id": ids[0]}))
	w.launch("sleep 1000")
}

// A program that prints without end keeps running; only a limited part of its output is kept.
func TestBackgroundOutputIsBounded(t *testing.T) {
	w := newWorld(t)
	id := w.launch("seq 1 300000; read x; echo end")
	faketest.Poll(t, "everything was printed", func() bool {
		out := w.answer(call(shell.ReadName, obj{"id": id, "from": 1988895 - 7}))
		return out["output"] == "300000\n"
	})
	out := w.answer(call(shell.ReadName, obj{"id": id, "from": 0}))
	missed, _ := out["missedBytes"].(float64)
	if missed < 1988895-256<<10 || out["more"] != true || out["from"] != missed || len(words(out, "output")) != 6<<10 {
		t.Errorf("from the beginning: missed %v, more %v, from %v, %d bytes", missed, out["more"], out["from"], len(words(out, "output")))
	}
	if out["whole"] != nil {
		t.Errorf("whole = %v, though more may be printed, and be withheld", out["whole"])
	}
	if info, err := os.Stat(w.kept + "/r1-c1"); err != nil || info.Size() != 1988895 {
		t.Errorf("the whole: %v, %v", info, err)
	}
	w.answer(call(shell.WriteName, obj{"id": id, "text": "x\n"}))
	w.ended(id)
	if out := w.answer(call(shell.ReadName, obj{"id": id, "from": 0})); out["whole"] != "results/r1-c1" {
		t.Errorf("after the end: whole = %v", out["whole"])
	}
}

func TestEndedAreForgotten(t *testing.T) {
	w := newWorld(t)
	id := w.launch("echo x")
	w.ended(id)
	w.later(59 * time.Minute)
	if w.state(id) == nil {
		t.Error("forgotten before the hour is over")
	}
	w.later(2 * time.Minute)
	if w.state(id) != nil {
		t.Error("remembered for longer than an hour")
	}
	var last string
	for range 70 {
		last = w.launch("echo x")
		w.ended(last)
	}
	if n := len(w.processes()); n != 64 || w.state(last) == nil {
		t.Errorf("%d are remembered, the last one: %v", n, w.state(last))
	}
}

// A host that stops leaves no process running and notifies nobody.
func TestCloseEndsProcesses(t *testing.T) {
	w := newWorld(t)
	id := w.launch("echo $$; sleep 1000")
	var pid string
	faketest.Poll(t, "it has printed", func() bool {
		pid = strings.TrimSpace(words(w.answer(call(shell.ReadName, obj{"id": id, "from": 0})), "output"))
		return pid != ""
	})
	stdtest.Must(t, w.shell.Close(t.Context()))
	if !gone(pid) {
		t.Error("the process runs on")
	}
	if len(w.notices) > 0 {
		t.Errorf("notice %+v", <-w.notices)
	}
	if _, err := w.invoke(call(shell.ExecName, obj{"command": "true", "background": true, "why": "x"})); err == nil {
		t.Error("something was begun after the end")
	}
}

func TestBackgroundThatCannotBegin(t *testing.T) {
	w := newWorld(t, func(o *shell.Options) { o.Sandbox = broken() })
	c := call(shell.ExecName, obj{"command": "true", "background": true, "why": "x"})
	for range 20 {
		if _, err := w.invoke(c); err == nil || strings.Contains(err.Error(), "the most") {
			t.Fatalf("error %v, want that it cannot begin", err)
		}
	}
	if list := w.processes(); len(list) != 0 {
		t.Errorf("list %v", list)
	}
}

func TestTypingToWhoDoesNotRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.launch("exec <&-; echo closed; sleep 1000")
	faketest.Poll(t, "it has closed its input", func() bool { return w.state(id)["unreadBytes"] == 7.0 })
	out := w.answer(call(shell.WriteName, obj{"id": id, "text": "x"}))
	if out["typedBytes"] != 1.0 { // into the pipe, which the host's end keeps open
		t.Errorf("typed: %v", out)
	}
	big := strings.Repeat("x", 4096)
	var err error
	for range 40 {
		if _, err = w.invoke(call(shell.WriteName, obj{"id": id, "text": big})); err != nil {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "does not read") || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want that it does not read", err)
	}
}

// Reading at a position after the end of the output does not count as reading: the rest can still be read when the
// process has ended.
func TestReadingBehindTheEndForgetsNothing(t *testing.T) {
	w := newWorld(t)
	id := w.launch("echo canary")
	w.ended(id)
	if out := w.answer(call(shell.ReadName, obj{"id": id, "from": 1000})); out["output"] != "" || out["from"] != 7.0 || out["state"] != "ended" {
		t.Errorf("behind the end: %v", out)
	}
	if out := w.answer(call(shell.ReadName, obj{"id": id})); out["output"] != "canary\n" {
		t.Errorf("read then: %v", out)
	}
}

// Without a sandbox there is no process to look at, type into or stop.
func TestWithoutASandboxThereIsOneTool(t *testing.T) {
	w := newWorld(t, func(o *shell.Options) { o.Sandbox, o.Why = nil, "there is none" })
	if len(w.tools) != 1 || w.tools[shell.ExecName] == nil {
		t.Errorf("tools: %v, want %s alone", w.tools, shell.ExecName)
	}
	if v := tool.BySpec(w.tools[shell.ExecName], call(shell.ExecName, obj{"command": "ls", "why": "to see"})); v.Decision != tool.Deny || !strings.Contains(v.Reason, "there is none") {
		t.Errorf("verdict %+v, want it refused with the reason", v)
	}
}
