package decision

import (
	"log/slog"
	"maps"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/runlog"
)

// Audit adds a line to the audit log, if there is one.
func (b *Base) Audit(e AuditEntry) {
	if !b.Audits {
		return
	}
	e.TS, e.ChatKey = b.Now(), b.Key
	b.Effect(Audit{e})
}

// File is a file that is stored with the chat. If Data is empty, the file is removed.
type File struct {
	Name string
	Data []byte
}

// Effect is one action of the shell once the writes of a plan are durable. Effects are plain data, so plans can be
// compared.
//
//sumtype:decl
type Effect interface{ effect() }

type (
	// Send sends a message to an actor. If Asks is set, the answer goes to the chat.
	Send struct {
		To   Ref
		Msg  any
		Asks bool
	}
	// Route sends a message to another chat through the router.
	Route struct {
		Msg  any
		Asks bool
	}
	// Report sends a message to the shard, the parent of the chat.
	Report struct{ Msg any }
	// Resend has a message decided again, before any other.
	Resend struct {
		Msg    any
		Sender Ref
	}
	// Start spawns a child of the chat and sends its first message.
	Start struct {
		Child Child
		Name  string
		Msg   any
	}
	// Tell sends a message to a child.
	Tell struct {
		Name string
		Msg  any
	}
	// Stop stops a child.
	Stop struct{ Name string }
	// SetTimer delivers a message after a delay and replaces the timer with the same name. Without a message it only
	// stops that timer.
	SetTimer struct {
		Name  string
		After time.Duration
		Msg   any
	}
	// FetchFiles fetches the files of a turn; [Fetched] follows with the same number.
	FetchFiles struct {
		Turn uimessage.Message
		N    int
	}
	// CancelFetch cancels a fetch, or forgets one that has ended.
	CancelFetch struct{ N int }
	// GatherRequests asks the other chats to show their requests here; [Gathered] follows.
	GatherRequests struct{ ID, Person string }
	// Hibernate drops the state of the chat until the next message. Everything that matters has been written, or is
	// kept by the machine's Left.
	Hibernate struct{}
	// ForgetAll deletes everything that is kept of the chat; [Forgotten] follows.
	ForgetAll struct {
		Intent journal.Forgetting
		Of     any
		Sender Ref
	}
	// RunCommand lets the host carry out a person's command; [Commanded] follows.
	RunCommand struct {
		Command Command
		Msg     messages.AcceptIngress
		Sender  Ref
	}
	// Audit is a line of the audit log.
	Audit struct{ Entry AuditEntry }
	// PrefixBroken reports why the next request will not begin like the previous one.
	PrefixBroken struct{ Cause string }
	// RunEnded adds an entry to the run log.
	RunEnded struct{ Entry runlog.Entry }
	// Count updates a metric: a counter by one, or a measurement by its value.
	Count struct {
		What  Counted
		Label string // the result, outcome or event, where the metric has one
		Cause messages.Cause
		Value float64
	}
	// Log is a line of the log.
	Log struct {
		Level slog.Level
		Msg   string
		Args  []any
	}
)

// Facts adds facts to the plan and applies them to the working copy of the state at once.
func (b *Base) Facts(durable bool, facts []journal.Fact) {
	if len(facts) == 0 {
		return
	}
	b.CopyState()
	records := b.State.Next(b.Now().UnixMilli(), facts...)
	for _, r := range records {
		if err := b.State.Apply(r); err != nil {
			panic("a fact of this version cannot be applied: " + err.Error())
		}
	}
	if n := len(b.Plan.Writes); n > 0 && b.Plan.Writes[n-1].Records != nil {
		last := &b.Plan.Writes[n-1]
		last.Records, last.Durable = append(last.Records, records...), last.Durable || durable
		return
	}
	b.Plan.Writes = append(b.Plan.Writes, Write{Records: records, Durable: durable})
}

// Append plans facts that must be durable before the effects.
func (b *Base) Append(facts ...journal.Fact) { b.Facts(true, facts) }

// Note plans facts that may be lost in a power failure.
func (b *Base) Note(facts ...journal.Fact) { b.Facts(false, facts) }

// Offer plans facts of a message that may be refused because its sender repeats it: an ingress, a command, a receipt.
func (b *Base) Offer(facts ...journal.Fact) {
	b.Plan.MayRefuse = true
	b.Facts(true, facts)
}

// File plans to write a file that is stored with the chat, or to remove it if data is empty.
func (b *Base) File(name string, data []byte) { b.Plan.Files = append(b.Plan.Files, File{name, data}) }

// Wake adds the chat to the list of chats that the host loads when it starts.
func (b *Base) Wake() { b.Plan.Wake = true }

// Open plans a turn that is appended to the history directly.
func (b *Base) Open(turn journal.Turn) {
	b.CopyState()
	b.Plan.MayRefuse = true
	b.Plan.Writes = append(b.Plan.Writes, Write{Turn: &turn.Message})
	b.State.AppendOpen(turn)
}

// Checkpoint plans to move the contents of the journal to the other files of the chat. It does nothing during a run or
// if the journal is empty.
func (b *Base) Checkpoint() {
	if b.State.Run != nil || b.State.Clean() {
		return
	}
	b.SaveMeta()
}

// SaveMeta plans a checkpoint even if the journal is empty.
func (b *Base) SaveMeta() {
	b.CopyState()
	f := b.State.Checkpoint(b.Now().UnixMilli())
	f.Meta.Tries, f.Meta.Tokens = b.KeptTries, b.KeptTokens
	b.Plan.Writes = append(b.Plan.Writes, Write{Checkpoint: &f})
	b.State.Checkpointed()
}

// Meta returns the current content of the meta file.
func (b *Base) Meta() journal.Meta {
	m := b.State.Meta()
	m.Tries, m.Tokens = b.KeptTries, b.KeptTokens
	return m
}

// Rewrite plans to replace the history. The caller must plan a checkpoint first.
func (b *Base) Rewrite(r journal.Rewrite) {
	b.CopyState()
	b.Plan.Writes = append(b.Plan.Writes, Write{Rewrite: &r})
	b.State.Rewritten(r)
	b.KeptTries, b.KeptTokens = r.Meta.Tries, r.Meta.Tokens
}

// CopyState makes the state of the working copy writable.
func (b *Base) CopyState() {
	if !b.owns {
		b.State, b.owns = b.State.Fork(), true
	}
}

// Effect plans an effect.
func (b *Base) Effect(e Effect) { b.Plan.Effects = append(b.Plan.Effects, e) }

// Send sends a message to an actor.
func (b *Base) Send(to Ref, msg any) { b.Effect(Send{To: to, Msg: msg}) }

// Route sends a message to another chat.
func (b *Base) Route(msg any) { b.Effect(Route{Msg: msg}) }

// PrefixBroken reports to the metrics that the next request will not begin like the previous one.
func (b *Base) PrefixBroken(cause string) { b.Effect(PrefixBroken{cause}) }

// Tell sends a message to the run in progress.
func (b *Base) Tell(msg any) { b.Effect(Tell{b.RunChild, msg}) }

// Answer answers the message in progress if its sender expects an answer.
func (b *Base) Answer(msg any) {
	if b.In.Sender != nil {
		b.Send(b.In.Sender, msg)
	}
}

// Count increments a counter of the metrics.
func (b *Base) Count(what Counted, label string) { b.Effect(Count{What: what, Label: label, Value: 1}) }

// Measure records a value in the metrics.
func (b *Base) Measure(what Counted, value float64) { b.Effect(Count{What: what, Value: value}) }

// Log writes a line to the log.
func (b *Base) Log(level slog.Level, msg string, args ...any) {
	b.Effect(Log{Level: level, Msg: msg, Args: args})
}

// Timer sets the timer of a name; the chat gets the message after the delay.
func (b *Base) Timer(name string, after time.Duration, msg any) {
	b.Effect(SetTimer{name, max(after, 0), msg})
}

// EndTimer stops the timer of a name.
func (b *Base) EndTimer(name string) { b.Effect(SetTimer{Name: name}) }

// Bit returns 1 for true.
func Bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Now returns the time of the decision.
func (b *Base) Now() time.Time { return b.In.Now }

// Ago returns the time since t.
func (b *Base) Ago(t time.Time) time.Duration { return b.In.Now.Sub(t) }

// NewID returns a new id that sorts by time.
func (b *Base) NewID() string { return b.In.NewID(b.In.Now) }

// Clone copies a map. It returns nil for an empty map, which is the usual case.
func Clone[K comparable, V any](m map[K]V) map[K]V {
	if len(m) == 0 {
		return nil
	}
	return maps.Clone(m)
}

// Put sets a map entry and creates the map if needed.
func Put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}
