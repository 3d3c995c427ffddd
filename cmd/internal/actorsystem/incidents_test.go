package actorsystem

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/shipmyagent/shipmyagent/messages"
)

// All incidents are counted; the log names each kind once a minute with its number,
// and never its contents. Messages that a stopped run sent to itself, such as its timers, do not count.
func TestCL10IncidentsAreCountedAndLogged(t *testing.T) {
	reg, out := prometheus.NewRegistry(), &strings.Builder{}
	m := NewIncidents(reg, slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelDebug})))
	clock := time.Unix(1e9, 0)
	m.now = func() time.Time { return clock }
	system := actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }))
	t.Cleanup(system.Shutdown)
	pid := system.NewLocalPID("router/$a/telegram-chat-1")
	all := func() {
		for _, e := range []any{
			&actor.DeadLetterEvent{PID: pid, Message: messages.WakeChat{ChatKey: "canary"}},
			&actor.DeadLetterEvent{PID: pid, Message: "canary words"},
			&actor.DeadLetterEvent{Message: nil},
			messages.Stray{Actor: "adapter-telegram", Kind: "string"},
			&actor.SupervisorEvent{Child: pid, Reason: errors.New("canary error")},
			"something else",
		} {
			m.Observe(e)
		}
		for len(m.queue) > 0 {
			m.write(t.Context(), <-m.queue)
		}
	}
	for range 50 {
		all()
	}
	clock = clock.Add(incidentEvery)
	all()
	want := `
# HELP sma_actor_panics_total Panics of actors.
# TYPE sma_actor_panics_total counter
sma_actor_panics_total{actor="chat"} 51
# HELP sma_dead_letters_total Messages of one actor to another that no longer exists.
# TYPE sma_dead_letters_total counter
sma_dead_letters_total 51
# HELP sma_stray_messages_total Messages of a kind that their actor does not handle.
# TYPE sma_stray_messages_total counter
sma_stray_messages_total{actor="adapter"} 51
`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 6 || !strings.Contains(lines[5], "more_since_last=49") || strings.Contains(out.String(), "canary") {
		t.Errorf("log:\n%s", out.String())
	}
}

// A flood of incidents blocks no actor.
func TestCL10FloodOfIncidentsIsCounted(t *testing.T) {
	reg := prometheus.NewRegistry()
	m := NewIncidents(reg, slog.New(slog.DiscardHandler))
	for range 10_000 { // nobody reads the queue
		m.Observe(messages.Stray{Actor: "router", Kind: "int"})
	}
	if got := testutil.ToFloat64(m.strays.WithLabelValues("router")); got != 10_000 {
		t.Errorf("%v counted, want 10000", got)
	}
}

func TestRoles(t *testing.T) {
	got := map[string]string{}
	for _, id := range []string{"router", "router/$1", "router/$1/web-chat-1", "router/$1/web-chat-1/$9", "router/$1/a/b/c", "adapter-web", "future12", "$3", "", "host", "host/router", "host/router/$1/web-chat-1", "host/adapter-web", "host/scheduler"} {
		got[id] = role(id)
	}
	want := map[string]string{
		"router": "router", "router/$1": "shard", "router/$1/web-chat-1": "chat", "router/$1/web-chat-1/$9": "run", "router/$1/a/b/c": "run",
		"adapter-web": "adapter", "future12": "future", "$3": "other", "": "other",
		"host": "other", "host/router": "router", "host/router/$1/web-chat-1": "chat", "host/adapter-web": "adapter", "host/scheduler": "other",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
