package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	terminal "github.com/shipmyagent/shipmyagent/adapters/platform/cli"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
)

// TestRL10KillsInEachState kills the process in each state of a run that calls a tool with a side effect: while the
// model writes, while the call waits for a person, after the approval, while the tool works, and while the model
// reports. The tool writes its note at most once for a call, a call with an unknown outcome says so, every chat comes
// to rest, and the next message is answered.
func TestRL10KillsInEachState(t *testing.T) {
	var sum tally
	inWorlds(t, worlds(2, 6), few(4, 120), func(t *testing.T, path string, random *rand.Rand, kills int) {
		t.Helper()
		w := newNoteWorld(t, path, random)
		w.start(t)
		for chat := 0; w.kills < kills; chat++ {
			w.killTwice(t, fmt.Sprintf("k%d", chat), &sum)
		}
		w.stop(t)
		sum.add("kills", w.kills)
	})
	sum.report(t, "RL10")
	if sum.counts["lost"]+sum.counts["doubled"] > 0 {
		t.Errorf("%d calls without an outcome, %d notes too many", sum.counts["lost"], sum.counts["doubled"])
	}
}

// noteWorld is a project with the built-in model and its tool that writes notes.
type noteWorld struct {
	*victim
	random *rand.Rand
	client *terminal.Client
	next   int // message
}

func newNoteWorld(t *testing.T, path string, random *rand.Rand) *noteWorld {
	t.Helper()
	dir := t.TempDir()
	writeProject(t, dir, map[string]any{
		"llm": map[string]any{"provider": "demo"}, "adapters": map[string]any{"web": map[string]any{"enabled": false}}, "metrics": map[string]any{"listen": "off"},
	})
	client := terminal.NewClient(host.SocketPath(filepath.Join(dir, ".ship")))
	t.Cleanup(client.Close)
	return &noteWorld{victim: newVictim(t, dir, path), random: random, client: client}
}

// killTwice plays a chat to the end of its call, with a kill before a person's approval and one after it.
func (w *noteWorld) killTwice(t *testing.T, chat string, sum *tally) {
	t.Helper()
	before := w.notes(t)
	w.say(t, chat, "ask first")
	if w.random.IntN(2) == 0 {
		w.die(t, time.Duration(w.random.Int64N(int64(time.Second))), "writing", sum)
	} else {
		w.await(t, "cli-chat-"+chat, waits)
		w.die(t, 0, "waiting", sum)
	}
	w.await(t, "cli-chat-"+chat, waits)
	w.say(t, chat, "approve")
	sum.add("acknowledged", 1)
	if w.random.IntN(4) > 0 {
		w.die(t, time.Duration(w.random.Int64N(int64(8*time.Millisecond))), "calling", sum)
	} else {
		w.die(t, time.Duration(w.random.Int64N(int64(400*time.Millisecond))), "reporting", sum)
	}
	end := w.await(t, "cli-chat-"+chat, atRest)
	w.judge(t, chat, end, w.notes(t)-before, sum)
}

// judge compares the end of a call with the notes that it wrote.
func (w *noteWorld) judge(t *testing.T, chat string, end chatView, notes int, sum *tally) {
	t.Helper()
	sum.add("doubled", max(0, notes-1))
	states := notesOf(end)
	if len(states) != 1 {
		t.Errorf("%s has the calls %v, want one", chat, states)
		return
	}
	switch state := states[0]; {
	case state == "output-available" && notes == 1:
		sum.add("done", 1)
	case state == "output-error: interrupted, outcome unknown":
		sum.add("excused", 1)
		sum.add("unknown_and_written", notes)
	default:
		sum.add("lost", 1)
		t.Errorf("%s: the call ended as %q with %d notes", chat, state, notes)
	}
}

// notes counts what the tool has written.
func (w *noteWorld) notes(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, "notes.md"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

// say sends a message until the host has taken it.
func (w *noteWorld) say(t *testing.T, chat, words string) {
	t.Helper()
	w.next++
	faketest.Poll(t, "the host to take a message", func() bool {
		_, _, err := w.client.Send(t.Context(), chat, fmt.Sprintf("m%d", w.next), words)
		return err == nil
	})
}

// notesOf are the states of the calls of the tool.
func notesOf(v chatView) []string {
	return v.calls(func(p callPart) bool { return p.Type == "tool-remember_note" || p.Type == "dynamic-tool" })
}

func waits(v chatView) bool {
	states := notesOf(v)
	return !v.Running && len(states) > 0 && states[len(states)-1] == "approval-requested"
}

// atRest: the call has its end, and the model has spoken about it.
func atRest(v chatView) bool {
	states := notesOf(v)
	return !v.Running && len(states) > 0 && strings.HasPrefix(states[len(states)-1], "output-")
}
