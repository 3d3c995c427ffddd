package actorsystem

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/shipmyagent/shipmyagent/actors/guardian"
	"github.com/shipmyagent/shipmyagent/messages"
)

// RouterName is the name of the actor above all shards and chats.
const RouterName = "router"

// incidentEvery is how often the same incident is logged at most; the repetitions in between are counted.
const incidentEvery = time.Minute

// incident is something that went wrong between actors: a dead letter, an unknown message or a panic. It names kinds and never
// contents, which may hold what people wrote.
type incident struct {
	level slog.Level
	what  string
	actor string // its role
	kind  string // of the message, or the panic's reason
}

// Incidents counts and logs dead letters, unknown messages and panics of actors.
type Incidents struct {
	log     *slog.Logger
	letters prometheus.Counter
	strays  *prometheus.CounterVec
	panics  *prometheus.CounterVec
	queue   chan incident
	now     func() time.Time

	logged map[incident]*logged // used by Run only
}

// logged is when an incident was logged last, and how often it happened since.
type logged struct {
	at   time.Time
	more int
}

// NewIncidents registers the metrics. The caller subscribes Observe and runs Run.
func NewIncidents(reg prometheus.Registerer, log *slog.Logger) *Incidents {
	f := promauto.With(reg)
	return &Incidents{
		log: log, queue: make(chan incident, 256), now: time.Now, logged: map[incident]*logged{},
		letters: f.NewCounter(prometheus.CounterOpts{Name: "sma_dead_letters_total", Help: "Messages of one actor to another that no longer exists."}),
		strays: f.NewCounterVec(prometheus.CounterOpts{
			Name: "sma_stray_messages_total", Help: "Messages of a kind that their actor does not handle.",
		}, []string{"actor"}),
		panics: f.NewCounterVec(prometheus.CounterOpts{Name: "sma_actor_panics_total", Help: "Panics of actors."}, []string{"actor"}),
	}
}

// Observe takes an event of the actor system. It runs in the goroutine that caused the event, so it only counts the
// event and queues it for Run.
func (m *Incidents) Observe(event any) {
	var is incident
	switch e := event.(type) {
	case *actor.DeadLetterEvent:
		is = incident{slog.LevelInfo, "a message came for an actor that is gone", role(e.PID.GetId()), fmt.Sprintf("%T", e.Message)}
		if !strings.HasPrefix(is.kind, "messages.") {
			return // a timer or result of the actor's own, as after every stop of a run, or a message of the library
		}
		m.letters.Inc()
	case messages.Stray:
		is = incident{slog.LevelWarn, "an actor got a message that it does not know", role(e.Actor), e.Kind}
		m.strays.WithLabelValues(is.actor).Inc()
	case *actor.SupervisorEvent:
		is = incident{slog.LevelError, "an actor panicked", role(e.Child.GetId()), PanicKind(e.Reason)}
		m.panics.WithLabelValues(is.actor).Inc()
	default:
		return
	}
	select {
	case m.queue <- is:
	default: // counted, but not logged
	}
}

// PanicKind describes a panic: the text of a runtime error, and only the type of anything else.
func PanicKind(reason any) string {
	if err, ok := reason.(interface{ RuntimeError() }); ok {
		return fmt.Sprint(err)
	}
	return fmt.Sprintf("%T", reason)
}

// role is the kind of an actor, from its position in the tree.
func role(id string) string {
	id = strings.TrimPrefix(id, guardian.Name+"/")
	path := strings.Split(id, "/")
	switch {
	case path[0] == RouterName:
		return []string{"router", "shard", "chat", "run"}[min(len(path)-1, 3)]
	case strings.HasPrefix(id, "adapter-"):
		return "adapter"
	case strings.HasPrefix(id, "future"):
		return "future"
	default:
		return "other"
	}
}

// Run logs incidents until ctx ends.
func (m *Incidents) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case is := <-m.queue:
			m.write(ctx, is)
		}
	}
}

func (m *Incidents) write(ctx context.Context, is incident) {
	now := m.now()
	t := m.logged[is]
	if t == nil {
		if len(m.logged) > 500 { // the reasons of panics may differ in numbers
			clear(m.logged)
		}
		t = &logged{}
		m.logged[is] = t
	} else if now.Sub(t.at) < incidentEvery {
		t.more++
		return
	}
	m.log.Log(ctx, is.level, "an incident between actors", "what", is.what, "actor", is.actor, "kind", is.kind, "more_since_last", t.more)
	t.at, t.more = now, 0
}

// Warnings is a handler that lets only warnings and errors of the actor library through, because its lower levels may
// quote messages.
type Warnings struct{ slog.Handler }

// Enabled implements [slog.Handler].
func (l Warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && l.Handler.Enabled(ctx, level)
}

// WithAttrs implements [slog.Handler].
func (l Warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return Warnings{l.Handler.WithAttrs(attrs)}
}

// WithGroup implements [slog.Handler].
func (l Warnings) WithGroup(name string) slog.Handler { return Warnings{l.Handler.WithGroup(name)} }
