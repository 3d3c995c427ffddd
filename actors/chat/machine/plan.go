package machine

import (
	"log/slog"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/length"
	"github.com/shipmyagent/shipmyagent/actors/internal/prompt"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/permission"
	"github.com/shipmyagent/shipmyagent/persistence/runlog"
)

// Ref refers to an actor or to anyone waiting for an answer. A chat stores references but does not look into them. Two
// references to the same actor are equal.
type Ref any

// Input is one thing for a chat to decide: a message, a timer, the result of an effect, [Loaded], [Idle], [Refused] or
// the value of [Plan.IfRefused].
type Input struct {
	Now    time.Time
	NewID  func(now time.Time) string // a random id that sorts by time
	Msg    any
	Sender Ref    // where an answer goes
	Child  string // name of the child that sent the message, if one did
	Err    error  // why the store refused the writes of a plan
	// NoFiles is set if the chat's files cannot be written at the moment. The plan must not contain any then.
	NoFiles bool
}

type (
	// Loaded is the first input after every load.
	Loaded struct{}
	// Idle asks the chat what to do next when no input is waiting.
	Idle struct{}
	// Refused reports that the store refused the writes of a plan. Of is the message that the plan was made for.
	Refused struct{ Of any }
	// ChildGone reports a child that ended without a result.
	ChildGone struct{ Name string }
	// Forgotten follows the deletion of a chat. Of is the command to delete it.
	Forgotten struct {
		Of  any
		Err error
	}
	// Commanded is the host's answer to a person's command, with optional buttons. Known is false if the host has no
	// such command.
	Commanded struct {
		Msg   messages.AcceptIngress
		Words string
		Known bool
		Asks  []messages.Ask
	}
	// Fetched contains the files of a turn, or the reasons why they could not be fetched.
	Fetched struct {
		TurnID string
		N      int // of the attempt
		Parts  []uimessage.Part
	}
	// Gathered reports that the requests of other chats have been shown here. Others counts those that the person
	// cannot decide from here.
	Gathered struct {
		ID     string
		Others int
		Done   bool
	}
)

// Plan is the result of a decision: writes, which must be durable before anything else happens, and then effects, in
// order.
type Plan struct {
	// Wake adds the chat to the list of chats that the host loads when it starts. It is written before everything
	// else.
	Wake bool
	// Files and Grants are written before the facts that mention them. If Files cannot be written, the same input is
	// decided again with [Input.NoFiles].
	Files   []File
	Grants  []Granted
	Writes  []Write
	Effects []Effect
	// MayRefuse is set if the sender of the message repeats it or is informed that it was refused: the chat then stays
	// unchanged when the store refuses the writes. Otherwise the chat is loaded again.
	MayRefuse bool
	// IfRefused is the next input if the store refuses the writes. If nil, it is [Refused].
	IfRefused any
	// Rest removes the chat from the list of chats that the host loads when it starts, after the writes.
	Rest bool

	before, next *Chat
}

// Commit returns the chat after the writes. The chat that made the plan must not be used any more.
func (p Plan) Commit() *Chat {
	p.next.state.Commit()
	*p.before = Chat{}
	if !p.next.rests || p.next.run != nil { // another decision will follow soon
		p.next.spare = p.before
	}
	return p.next
}

// empty reports whether the plan contains no writes and no effects.
func (p *Plan) empty() bool {
	return !p.Wake && !p.Rest && len(p.Files)+len(p.Grants)+len(p.Writes)+len(p.Effects) == 0
}

// File is a file that is stored with the chat. If Data is empty, the file is removed.
type File struct {
	Name string
	Data []byte
}

// Granted replaces the grants of the chat.
type Granted struct{ List []permission.Grant }

// Write is one of: facts, a turn that is appended to the history directly, a checkpoint, or a rewrite.
type Write struct {
	Records []journal.Record
	Durable bool // fsync before the effects
	Turn    *uimessage.Message
	Fold    *journal.Fold
	Rewrite *journal.Rewrite
}

// Effect is one action of the shell once the writes of a plan are durable. Effects are plain data, so plans can be
// compared.
//
//sumtype:decl
type Effect interface{ effect() }

// Child is the kind of a child actor of the chat.
type Child int

// The kinds of children.
const (
	RunChild Child = iota
	CompactionChild
	MemoryChild
)

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
	// Resend puts a message into the chat's mailbox again.
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
	// CancelFetch cancels a fetch.
	CancelFetch struct{ N int }
	// GatherRequests asks the other chats to show their requests here; [Gathered] follows.
	GatherRequests struct{ ID, Person string }
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

// Counted identifies the metric of a [Count].
type Counted int

// The metrics. Times are in seconds.
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

// facts adds facts to the plan and applies them to the working copy of the state at once.
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

// append plans facts that must be durable before the effects.
func (c *Chat) append(facts ...journal.Fact) { c.facts(true, facts) }

// note plans facts that may be lost in a power failure.
func (c *Chat) note(facts ...journal.Fact) { c.facts(false, facts) }

// offer plans facts of a message that may be refused because its sender repeats it: an ingress, a command, a receipt.
func (c *Chat) offer(facts ...journal.Fact) {
	c.p.MayRefuse = true
	c.facts(true, facts)
}

// file plans to write a file that is stored with the chat, or to remove it if data is empty.
func (c *Chat) file(name string, data []byte) { c.p.Files = append(c.p.Files, File{name, data}) }

// wake adds the chat to the list of chats that the host loads when it starts.
func (c *Chat) wake() { c.p.Wake = true }

// open plans a turn that is appended to the history directly.
func (c *Chat) open(turn journal.Turn) {
	c.copyState()
	c.p.MayRefuse = true
	c.p.Writes = append(c.p.Writes, Write{Turn: &turn.Message})
	c.state.AppendOpen(turn)
}

// checkpoint plans to move the contents of the journal to the other files of the chat. It does nothing during a run or
// if the journal is empty.
func (c *Chat) checkpoint() {
	if c.state.Run != nil || c.state.Clean() {
		return
	}
	c.saveMeta()
}

// saveMeta plans a checkpoint even if the journal is empty.
func (c *Chat) saveMeta() {
	c.copyState()
	f := c.state.Fold(c.now().UnixMilli())
	f.Meta.Tries, f.Meta.Tokens = c.compaction.keptTries, c.compaction.keptTokens
	c.p.Writes = append(c.p.Writes, Write{Fold: &f})
	c.state.Folded()
}

// meta returns the current content of the meta file.
func (c *Chat) meta() journal.Meta {
	m := c.state.Meta()
	m.Tries, m.Tokens = c.compaction.keptTries, c.compaction.keptTokens
	return m
}

// rewrite plans to replace the history. The caller must plan a checkpoint first.
func (c *Chat) rewrite(r journal.Rewrite) {
	c.copyState()
	c.p.Writes = append(c.p.Writes, Write{Rewrite: &r})
	c.state.Rewritten(r)
	c.compaction.keptTries, c.compaction.keptTokens = r.Meta.Tries, r.Meta.Tokens
}

// newBegin resets what was derived from the old beginning of the history. The cause is for the metric of broken
// prefixes.
func (c *Chat) newBegin(cause string) {
	c.cache, c.trim = &prompt.Cache{}, messages.Trim{}
	c.compaction.size, c.compaction.stale = length.Estimate{}, 0
	c.size.Recount()
	c.prefixBroken(cause)
}

// copyState makes the state of the working copy writable.
func (c *Chat) copyState() {
	if !c.owns {
		c.state, c.owns = c.state.Fork(), true
	}
}

func (c *Chat) effect(e Effect) { c.p.Effects = append(c.p.Effects, e) }

func (c *Chat) send(to Ref, msg any) { c.effect(Send{To: to, Msg: msg}) }

// route sends a message to another chat.
func (c *Chat) route(msg any) { c.effect(Route{Msg: msg}) }

// answer answers the message in progress if its sender expects an answer.
func (c *Chat) answer(msg any) {
	if c.in.Sender != nil {
		c.send(c.in.Sender, msg)
	}
}

// count increments a counter of the metrics.
func (c *Chat) count(what Counted, label string) { c.effect(Count{What: what, Label: label, Value: 1}) }

// measure records a value in the metrics.
func (c *Chat) measure(what Counted, value float64) { c.effect(Count{What: what, Value: value}) }

// log writes a line to the log.
func (c *Chat) log(level slog.Level, msg string, args ...any) {
	c.effect(Log{Level: level, Msg: msg, Args: args})
}

func (c *Chat) timer(name string, after time.Duration, msg any) {
	c.effect(SetTimer{name, max(after, 0), msg})
}

func (c *Chat) endTimer(name string) { c.effect(SetTimer{Name: name}) }

// bit returns 1 for true.
func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (c *Chat) now() time.Time { return c.in.Now }

func (c *Chat) ago(t time.Time) time.Duration { return c.in.Now.Sub(t) }

func (c *Chat) newID() string { return c.in.NewID(c.in.Now) }
