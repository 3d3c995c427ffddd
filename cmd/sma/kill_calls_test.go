package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	terminal "github.com/shipmyagent/shipmyagent/adapters/platform/cli"
	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
)

// TestRL10KillsInEachState kills the process in each state of a run that calls a
// tool with a side effect: while the model writes, while the call waits for a
// person, after their yes, while the tool works, while the model reports. The
// tool writes its note at most once for a call; a call whose outcome nobody knows
// says so; every chat comes to rest and the next message is answered.
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
	http   *http.Client
	kills  int
	next   int // message
}

func newNoteWorld(t *testing.T, path string, random *rand.Rand) *noteWorld {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"Agent.md":  "# Test\n",
		"ship.json": `{"llm": {"provider": "demo"}, "adapters": {"web": {"enabled": false}}, "metrics": {"listen": "off"}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	socket := host.SocketPath(filepath.Join(dir, ".ship"))
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return terminal.Dial(ctx, socket) },
	}}
	return &noteWorld{victim: newVictim(t, dir, path), random: random, http: client}
}

// killTwice brings a chat to the end of its call, with a kill before a person's
// yes and one after it.
func (w *noteWorld) killTwice(t *testing.T, chat string, sum *tally) {
	t.Helper()
	before := w.notes(t)
	w.say(t, chat, "ask first")
	if w.random.IntN(2) == 0 {
		w.die(t, time.Duration(w.random.Int64N(int64(time.Second))), "writing", sum)
	} else {
		w.await(t, chat, func(v chatView) bool { return v.waits() })
		w.die(t, 0, "waiting", sum)
	}
	w.await(t, chat, func(v chatView) bool { return v.waits() })
	w.say(t, chat, "approve")
	sum.add("acknowledged", 1)
	if w.random.IntN(4) > 0 {
		w.die(t, time.Duration(w.random.Int64N(int64(8*time.Millisecond))), "calling", sum)
	} else {
		w.die(t, time.Duration(w.random.Int64N(int64(400*time.Millisecond))), "reporting", sum)
	}
	end := w.await(t, chat, func(v chatView) bool { return v.atRest() })
	w.judge(t, chat, end, w.notes(t)-before, sum)
}

// judge holds the end of a call against the notes that it left.
func (w *noteWorld) judge(t *testing.T, chat string, end chatView, notes int, sum *tally) {
	t.Helper()
	sum.add("doubled", max(0, notes-1))
	states := end.calls()
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

// die kills the host after a while and starts it again.
func (w *noteWorld) die(t *testing.T, after time.Duration, state string, sum *tally) {
	t.Helper()
	pause(after)
	w.kill()
	w.bury(t)
	w.kills++
	sum.add("at_"+state, 1)
	w.start(t)
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
	body, err := json.Marshal(map[string]any{"id": chat, "messages": []any{map[string]any{
		"id": fmt.Sprintf("m%d", w.next), "role": "user", "parts": []any{map[string]any{"type": "text", "text": words}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	awaitSoon(t, "the host to take a message", func() bool {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://host/api/chat", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := w.http.Do(req)
		if err != nil {
			return false
		}
		_ = resp.Body.Close() // leaving stops nothing
		return resp.StatusCode == http.StatusOK
	})
}

// chatView is what is looked at of a chat.
type chatView struct {
	Running  bool
	Messages []struct {
		Role  string
		Parts []struct{ Type, State, ErrorText string }
	}
}

// calls are the states of the calls of the tool.
func (v chatView) calls() (states []string) {
	for _, m := range v.Messages {
		for _, p := range m.Parts {
			switch {
			case p.Type != "tool-remember_note" && p.Type != "dynamic-tool":
			case p.ErrorText != "":
				states = append(states, p.State+": "+p.ErrorText)
			default:
				states = append(states, p.State)
			}
		}
	}
	return states
}

func (v chatView) waits() bool {
	states := v.calls()
	return !v.Running && len(states) > 0 && states[len(states)-1] == "approval-requested"
}

// atRest: the call has its end, and the model has spoken about it.
func (v chatView) atRest() bool {
	states := v.calls()
	return !v.Running && len(states) > 0 && strings.HasPrefix(states[len(states)-1], "output-")
}

// await asks for a chat until it is as wanted.
func (w *noteWorld) await(t *testing.T, chat string, ok func(chatView) bool) (v chatView) {
	t.Helper()
	awaitSoon(t, "chat "+chat, func() bool {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://host/control/chat?key=cli-chat-"+chat, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := w.http.Do(req)
		if err != nil {
			return false
		}
		defer func() { _ = resp.Body.Close() }() // only read from
		text, err := io.ReadAll(resp.Body)
		v = chatView{}
		return err == nil && resp.StatusCode == http.StatusOK && json.Unmarshal(text, &v) == nil && ok(v)
	})
	return v
}
