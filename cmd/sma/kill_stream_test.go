package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/apitest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestRL10KillsAtEachEvent kills the process between any two events of the two answers to a message, on
// each protocol with thinking: the message is answered once, its two commands have run once, the kill
// costs at most one request to the model, and the service accepts every request, so none has half of
// an input or thinking without what follows it.
func TestRL10KillsAtEachEvent(t *testing.T) {
	var sum tally
	t.Run("protocols", func(t *testing.T) {
		for _, api := range apitest.APIs() {
			t.Run(api, func(t *testing.T) {
				t.Parallel()
				inWorlds(t, worlds(1, 2), few(8, 200), func(t *testing.T, path string, random *rand.Rand, kills int) {
					t.Helper()
					killAtEachEvent(t, newStreamWorld(t, api, path, random), kills, &sum)
				})
			})
		}
	})
	sum.report(t, "RL10")
	if sum.counts["lost"]+sum.counts["doubled"] > 0 {
		t.Errorf("%d effects lost, %d doubled", sum.counts["lost"], sum.counts["doubled"])
	}
}

func killAtEachEvent(t *testing.T, w *streamWorld, kills int, sum *tally) {
	t.Helper()
	w.start(t)
	asked := w.round(t, -1, sum)
	events := w.passed
	for n := range kills { // spread over all events
		if more := w.round(t, (n*events+w.random.IntN(events))/kills, sum); more > asked+1 {
			t.Errorf("a kill made %d requests of %d", more, asked)
		}
	}
	w.stop(t)
	b := w.book(t, "telegram-chat-1")
	b.balanced(t, "the chat", len(w.said[1]))
	if faults := w.service.Faults(); len(faults) > 0 {
		t.Errorf("the model was asked wrongly: %v", faults)
	}
	sum.add("kills", w.kills)
}

// streamWorld is a project whose model uses a protocol, and a server that can hold its answers back at any event.
type streamWorld struct {
	*killWorld
	service *modeltest.Endpoint
	mu      sync.Mutex
	passed  int           // events
	left    int           // events until the hold; negative: none
	held    chan struct{} // closed by the hold
}

func newStreamWorld(t *testing.T, api, path string, random *rand.Rand) *streamWorld {
	t.Helper()
	w := &streamWorld{killWorld: newKillWorld(t, path, 1, "direct", modeltest.NewScript(), random), left: -1}
	w.service, _ = apitest.Start(t, api, modeltest.NewFunc(thinkAndRun), "sk-test")
	front := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.service.ServeHTTP(&heldWriter{out, r, w}, r)
	}))
	t.Cleanup(front.Close)
	w.configure(t, "llm", map[string]any{
		"provider": "custom", "api": api, "model": "fake", "baseUrl": front.URL + "/v1", "apiKey": "sk-test",
		"models": map[string]any{"fake": map[string]any{"reasoningEffort": "low"}},
	})
	w.configure(t, "permissions", map[string]any{"exec": map[string]any{"sandbox": "off", "allow": []string{"mktemp *"}}})
	return w
}

// heldWriter passes on the events of an answer, until its client leaves at the one that is held.
type heldWriter struct {
	http.ResponseWriter
	r *http.Request
	w *streamWorld
}

// Write implements [io.Writer]: it is called once for each event.
func (h *heldWriter) Write(event []byte) (int, error) {
	h.w.mu.Lock()
	hold := h.w.left == 0
	h.w.left--
	h.w.passed++
	h.w.mu.Unlock()
	if hold {
		close(h.w.held)
		<-h.r.Context().Done()
		panic(http.ErrAbortHandler)
	}
	return h.ResponseWriter.Write(event)
}

// Unwrap is used by [http.ResponseController].
func (h *heldWriter) Unwrap() http.ResponseWriter { return h.ResponseWriter }

// thinkAndRun plays a model that thinks, runs two commands for the newest message, and then says that
// it is done with it.
func thinkAndRun(req model.Request) []model.Event {
	want, answers := wanted(req)
	if answers != "" {
		return slices.Concat(modeltest.ReasoningEvents("Both ", "ran."), modeltest.TextEvents("got ", want, "."), []model.Event{modeltest.Finish("stop")})
	}
	events := slices.Concat(modeltest.ReasoningEvents("It was ", "asked for."), modeltest.TextEvents("I ", "will."))
	for _, n := range []string{"a", "b"} {
		events = append(events, modeltest.CallEvents(modeltest.Call{
			ID: "toolu_" + want + n, Name: "exec_shell", Input: fmt.Sprintf(`{"command":"mktemp ran-%s%s.XXXX","why":"it was asked for"}`, want, n),
		})...)
	}
	return append(events, modeltest.Finish("tool-calls"))
}

// round writes something and waits for its answer, with a kill after the given number of events of it, or without one
// if the number is negative. It returns the number of requests to the model.
func (w *streamWorld) round(t *testing.T, events int, sum *tally) int {
	t.Helper()
	before := len(w.service.Bodies())
	w.hold(events)
	want := w.next(1)
	w.say(1, "run "+want)
	if events >= 0 {
		w.await(t, events)
		w.kill()
		w.bury(t)
		w.start(t)
	}
	w.api.Await(t, "an answer to "+want, func() bool { return w.copies(1)[want] > 0 })
	sum.add("acknowledged", 1)
	for _, n := range []string{"a", "b"} {
		made, err := filepath.Glob(filepath.Join(w.victim.dir, "ran-"+want+n+".*"))
		stdtest.Must(t, err)
		sum.add("lost", max(0, 1-len(made)))
		sum.add("doubled", max(0, len(made)-1))
	}
	if n := w.copies(1)[want]; n != 1 {
		t.Errorf("%s was answered %d times", want, n)
	}
	return len(w.service.Bodies()) - before
}

// hold makes the service hold its answers back after a number of events, or never if the number is negative.
func (w *streamWorld) hold(events int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left, w.held = events, make(chan struct{})
}

func (w *streamWorld) await(t *testing.T, events int) {
	t.Helper()
	late := time.NewTimer(30 * time.Second)
	defer late.Stop()
	select {
	case <-w.held:
	case <-late.C:
		t.Fatalf("kill %d: the answers did not come to event %d", w.kills, events)
	}
}
