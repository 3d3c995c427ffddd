package machine

import (
	"log/slog"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/internal/prompt"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Ref is an actor, or whoever waits for an answer. A chat keeps references and never looks
// into them; nil is nobody. Two references to the same actor are equal.
type Ref any

// Input is one thing that a chat decides about: a message, a timer that fired, the outcome
// of an effect, [Loaded], [Idle], [Refused] or what [Plan.IfRefused] says.
type Input struct {
	Now    time.Time
	NewID  func(now time.Time) string // a random id that sorts by time
	Msg    any
	Sender Ref    // where an answer goes
	Child  string // the name of the child of the chat that sent the message
	Err    error  // why the store refused the writes of a plan
	// NoFiles: files beside the chat cannot be written now, so that the plan has none.
	NoFiles bool
}

type (
	// Loaded is decided about first, after every load.
	Loaded struct{}
	// Idle asks what happens when nothing else does.
	Idle struct{}
	// Refused is decided about when the store refused the writes of a plan. Of is the
	// message that the plan was for.
	Refused struct{ Of any }
	// ChildGone is the end of a child that did not report one.
	ChildGone struct{ Name string }
	// Forgotten follows the deletion of a chat. Of is the order to delete it.
	Forgotten struct {
		Of  any
		Err error
	}
	// Commanded brings the answer to a command of a person, with buttons to put below it.
	// Known: the host has such a command.
	Commanded struct {
		Msg   messages.AcceptIngress
		Words string
		Known bool
		Asks  []messages.Ask
	}
	// Fetched brings the files of a turn, or says in their place why they cannot be had.
	Fetched struct {
		TurnID string
		N      int // of the attempt
		Parts  []uimessage.Part
	}
	// Gathered says that the requests of other chats are shown here. Others are those that
	// the person cannot decide about from here.
	Gathered struct {
		ID     string
		Others int
		Done   bool
	}
)

// Plan is what a decision asks for: writes, which are durable before anything else happens,
// and then effects, in their order.
type Plan struct {
	// Wake marks the chat to be loaded at a start of the host, before all writes.
	Wake bool
	// Files and Grants are written before the facts that speak of them. When Files cannot
	// be written, the same input is decided about again with [Input.NoFiles].
	Files   []File
	Grants  []Granted
	Writes  []Write
	Effects []Effect
	// MayRefuse: whoever sent the message sends it again, or hears that it was refused. When
	// the store refuses the writes, nothing has changed. Otherwise the chat is loaded anew.
	MayRefuse bool
	// IfRefused is decided about when the store refuses the writes; nil: [Refused].
	IfRefused any
	// Rest marks the chat as one that no start has to load, after the writes.
	Rest bool

	before, next *Chat
}

// Commit is the chat after the writes. The one that made the plan must not be used any more.
func (p Plan) Commit() *Chat {
	p.next.state.Commit()
	*p.before = Chat{}
	if !p.next.rests || p.next.run != nil { // there is another decision soon
		p.next.spare = p.before
	}
	return p.next
}

// empty reports whether the plan changes nothing and asks for nothing.
func (p *Plan) empty() bool {
	return !p.Wake && !p.Rest && len(p.Files)+len(p.Grants)+len(p.Writes)+len(p.Effects) == 0
}

// File is a file beside the chat; without data it is removed.
type File struct {
	Name string
	Data []byte
}

// Granted replaces the grants of the chat.
type Granted struct{ List []persistence.Grant }

// Write is one of facts, a turn that goes straight to the history, a checkpoint and a rewrite.
type Write struct {
	Records []journal.Record
	Durable bool // fsync before the effects
	Turn    *uimessage.Message
	Fold    *journal.Fold
	Rewrite *journal.Rewrite
}

// Effect is one thing that the shell does once the writes of a plan are durable. Effects are
// data: two plans that do the same are equal.
//
//sumtype:decl
type Effect interface{ effect() }

// Child says what a child of the chat does.
type Child int

// The children of a chat.
const (
	RunChild Child = iota
	CompactionChild
	MemoryChild
)

type (
	// Send sends a message to an actor. Asks: its answer comes to the chat.
	Send struct {
		To   Ref
		Msg  any
		Asks bool
	}
	// Route sends a message to the router, which takes it to another chat.
	Route struct {
		Msg  any
		Asks bool
	}
	// Report sends a message to the shard that looks after the chat.
	Report struct{ Msg any }
	// Resend gives the chat a message once more, in the order of its mailbox.
	Resend struct {
		Msg    any
		Sender Ref
	}
	// Start makes a child of the chat and gives it its first message.
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
	// Stop ends a child.
	Stop struct{ Name string }
	// SetTimer has a message come after a while, and replaces the timer of that name. Without
	// a message it only ends it.
	SetTimer struct {
		Name  string
		After time.Duration
		Msg   any
	}
	// FetchFiles gets the files of a turn, which come as [Fetched] with the same number.
	FetchFiles struct {
		Turn uimessage.Message
		N    int
	}
	// CancelFetch ends an attempt.
	CancelFetch struct{ N int }
	// GatherRequests has the requests of other chats shown here; [Gathered] follows.
	GatherRequests struct{ ID, Person string }
	// ForgetAll has everything deleted that is kept of the chat; [Forgotten] follows.
	ForgetAll struct {
		Intent journal.Forgetting
		Of     any
		Sender Ref
	}
	// RunCommand has the host carry out a person's command; [Commanded] follows.
	RunCommand struct {
		Command Command
		Msg     messages.AcceptIngress
		Sender  Ref
	}
	// Audit is a line of the audit log.
	Audit struct{ Entry AuditEntry }
	// PrefixBroken says why the next request does not begin with the one before.
	PrefixBroken struct{ Cause string }
	// RunEnded is what is kept of a run for later ones.
	RunEnded struct{ Entry persistence.RunEntry }
	// Count is something that the metrics count: once, or by its value.
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

// Counted names what a [Count] counts.
type Counted int

// What the metrics count. Times are in seconds.
const (
	CountRunStarted Counted = iota
	CountRunGone            // its actor has ended
	CountRunFinished
	CountRunSeconds
	CountRunSteps
	CountMerged
	CountFirstWords // seconds until people saw something of a run
	CountEgress
	CountApproval
	CountApprovalWait
	CountCompaction
	CountTokensBefore
	CountTokensAfter
	CountExtraction
	CountFacts
	CountFactsDropped
	CountCondensed
)

func (Send) effect()           {}
func (Route) effect()          {}
func (Report) effect()         {}
func (Resend) effect()         {}
func (Start) effect()          {}
func (Tell) effect()           {}
func (Stop) effect()           {}
func (SetTimer) effect()       {}
func (FetchFiles) effect()     {}
func (CancelFetch) effect()    {}
func (GatherRequests) effect() {}
func (ForgetAll) effect()      {}
func (RunCommand) effect()     {}
func (Audit) effect()          {}
func (PrefixBroken) effect()   {}
func (RunEnded) effect()       {}
func (Count) effect()          {}
func (Log) effect()            {}

// Facts are planned, and part of the working copy of the state at once.
func (c *Chat) facts(durable bool, facts []journal.Fact) {
	if len(facts) == 0 {
		return
	}
	c.copyState()
	records := c.state.Next(c.now().UnixMilli(), facts...)
	for _, r := range records {
		if err := c.state.Apply(r); err != nil {
			panic("a fact of this version cannot be applied: " + err.Error())
		}
	}
	if n := len(c.p.Writes); n > 0 && c.p.Writes[n-1].Records != nil {
		last := &c.p.Writes[n-1]
		last.Records, last.Durable = append(last.Records, records...), last.Durable || durable
		return
	}
	c.p.Writes = append(c.p.Writes, Write{Records: records, Durable: durable})
}

// append plans facts that nothing may come before.
func (c *Chat) append(facts ...journal.Fact) { c.facts(true, facts) }

// note plans facts whose loss in a power cut changes nothing.
func (c *Chat) note(facts ...journal.Fact) { c.facts(false, facts) }

// offer plans facts about what can be refused, or comes again: an ingress, an order, a
// receipt.
func (c *Chat) offer(facts ...journal.Fact) {
	c.p.MayRefuse = true
	c.facts(true, facts)
}

// file plans a file beside the chat; without data it is removed.
func (c *Chat) file(name string, data []byte) { c.p.Files = append(c.p.Files, File{name, data}) }

// wake marks the chat to be loaded at a start.
func (c *Chat) wake() { c.p.Wake = true }

// open plans a turn that goes straight to the history.
func (c *Chat) open(turn journal.Turn) {
	c.copyState()
	c.p.MayRefuse = true
	c.p.Writes = append(c.p.Writes, Write{Turn: &turn.Message})
	c.state.AppendOpen(turn)
}

// checkpoint moves what the journal holds to the other files of the chat.
func (c *Chat) checkpoint() {
	if c.state.Run != nil || c.state.Clean() {
		return
	}
	c.saveMeta()
}

// saveMeta is a checkpoint even if the journal holds nothing.
func (c *Chat) saveMeta() {
	c.copyState()
	f := c.state.Fold(c.now().UnixMilli())
	f.Meta.Tries, f.Meta.Tokens = c.compaction.keptTries, c.compaction.keptTokens
	c.p.Writes = append(c.p.Writes, Write{Fold: &f})
	c.state.Folded()
}

// meta is the meta file's content for the chat as it is.
func (c *Chat) meta() journal.Meta {
	m := c.state.Meta()
	m.Tries, m.Tokens = c.compaction.keptTries, c.compaction.keptTokens
	return m
}

// rewrite plans another history, after a checkpoint.
func (c *Chat) rewrite(r journal.Rewrite) {
	c.copyState()
	c.p.Writes = append(c.p.Writes, Write{Rewrite: &r})
	c.state.Rewritten(r)
	c.compaction.keptTries, c.compaction.keptTokens = r.Meta.Tries, r.Meta.Tokens
}

// newBegin forgets what was known of the beginning of the history, which is another one now.
// Cause is for the metric of prefixes that the model's service has to read anew.
func (c *Chat) newBegin(cause string) {
	c.cache, c.trim = &prompt.Cache{}, messages.Trim{}
	c.compaction.size, c.compaction.stale = estimate{}, 0
	c.size.turns, c.size.bytes = 0, 0
	c.prefixBroken(cause)
}

// copyState makes the state of the working copy one that may be changed.
func (c *Chat) copyState() {
	if !c.owns {
		c.state, c.owns = c.state.Fork(), true
	}
}

func (c *Chat) effect(e Effect) { c.p.Effects = append(c.p.Effects, e) }

func (c *Chat) send(to Ref, msg any) { c.effect(Send{To: to, Msg: msg}) }

// route sends a message to another chat.
func (c *Chat) route(msg any) { c.effect(Route{Msg: msg}) }

// answer answers the message in progress, if its sender waits for that.
func (c *Chat) answer(msg any) {
	if c.in.Sender != nil {
		c.send(c.in.Sender, msg)
	}
}

// count has the metrics count something once.
func (c *Chat) count(what Counted, label string) { c.effect(Count{What: what, Label: label, Value: 1}) }

// measure has the metrics take a value.
func (c *Chat) measure(what Counted, value float64) { c.effect(Count{What: what, Value: value}) }

// log writes a line to the log.
func (c *Chat) log(level slog.Level, msg string, args ...any) {
	c.effect(Log{Level: level, Msg: msg, Args: args})
}

func (c *Chat) timer(name string, after time.Duration, msg any) {
	c.effect(SetTimer{name, max(after, 0), msg})
}

func (c *Chat) endTimer(name string) { c.effect(SetTimer{Name: name}) }

func (c *Chat) now() time.Time { return c.in.Now }

func (c *Chat) ago(t time.Time) time.Duration { return c.in.Now.Sub(t) }

func (c *Chat) newID() string { return c.in.NewID(c.in.Now) }
