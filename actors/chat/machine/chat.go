package machine

import (
	"fmt"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/length"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/files"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/memory"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/outbox"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/paging"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/quoting"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/requests"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/system"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/actors/internal/prompt"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// restAfter is how long a chat must be idle before its journal is checkpointed and the chat hibernates. A checkpoint
// costs about as much as a turn, so this is longer than the pauses between messages that belong together.
const restAfter = 5 * time.Second

// Chat is the state of a chat between two messages: the journal state, built from its facts, and the session, which a
// crash may lose. [Chat.Decide] says what follows a message and changes neither.
type Chat struct {
	decision.Base
	requests requests.Requests
	paging   paging.Paging
	quoted   quoting.Quoting
	files    files.Files
	outbox   outbox.Outbox
	system   system.System
	memory   memory.Memory
	session
	spares Spares
}

// session is the part of a chat that is not journaled.
type session struct {
	cache        *prompt.Cache
	picturesAged int // times that the cache has reported
	trim         messages.Trim
	cheaper      notices.Text // which people read after the next answer
	size         length.Memory
	// compaction is the child that compacts the history, and what is known of its length.
	compaction compacting
	run        *runner // nil if no run is in progress

	asks    map[journal.RowKey][]ask
	first   firstWord
	since   time.Time         // arrival of the oldest ingress that no run has seen; zero if all were seen
	flooded time.Time         // when a message was last declined because the lane was full
	holding time.Time         // since when the chat waits for more messages; zero if it does not
	moved   []journal.Settled // fates of the run that continues in another context
	forgets time.Time         // when somebody was asked whether to delete everything; zero if not asked
	drainer decision.Ref

	rests    bool  // nothing is left to do
	restsAt  int64 // number of the last record when the timer of [restDue] was set
	lookedAt int64 // number of the last record when requests were last checked
	ended    bool  // a run has ended and nothing has followed yet
	grew     bool  // the history may now exceed its limit
}

// restDue is the timer message of a chat that has been idle for [restAfter].
type restDue struct{}

// Spares holds values that are no longer used, as a [sync.Pool] does. A decision takes the memory for the chat after it
// from there. All chats of a host share one.
type Spares interface {
	Get() any
	Put(spare any)
}

// New returns a chat that has not been loaded.
func New(o *decision.Options, key messages.ChatKey, spares Spares) *Chat {
	c := &Chat{Base: decision.NewBase(o, key), spares: spares}
	c.attach()
	return c
}

// attach makes the parts decide with this chat.
func (c *Chat) attach() {
	b := &c.Base
	c.requests.Base, c.paging.Base, c.quoted.Base, c.files.Base, c.outbox.Base = b, b, b, b, b
	c.system.Base, c.memory.Base = b, b
}

// Decide returns the plan that follows a message. It changes nothing; the plan contains the chat as it will be after
// its writes.
func (c *Chat) Decide(in decision.Input) Plan {
	w, ok := c.spares.Get().(*Chat)
	if !ok {
		w = &Chat{}
	}
	*w = *c
	w.Base, w.session = c.Next(), c.copy()
	w.requests, w.files = c.requests.Copy(), c.files.Copy()
	w.attach()
	w.Begin(in)
	w.decide()
	return Plan{w.End(), c, w}
}

// Plan is the result of a decision, with the chat as it will be after the writes.
type Plan struct {
	decision.Plan
	before, next *Chat
}

// Commit returns the chat after the writes. The chat that made the plan must not be used any more.
func (p Plan) Commit() *Chat {
	p.next.State.Commit()
	*p.before = Chat{}
	p.next.spares.Put(p.before)
	return p.next
}

// copy returns a session that can be changed without affecting this one.
func (s session) copy() session {
	if s.run != nil {
		r := *s.run
		r.lastSent = decision.Clone(r.lastSent)
		s.run = &r
	}
	s.asks = decision.Clone(s.asks)
	if s.compaction.ready != nil {
		r := *s.compaction.ready
		s.compaction.ready = &r
	}
	return s
}

func (c *Chat) decide() {
	c.rests = false
	if c.In.Err != nil { // the plan may have been written in part, so read these from disk again
		c.paging.Reread()
		c.requests.Reread()
	}
	c.mayChange()
	switch msg := c.In.Msg.(type) {
	case decision.Idle:
		c.whatFollows()
		return
	case decision.Loaded:
		c.recover()
	case decision.Refused, compactionRefused, agingRefused, switchRefused, commandRefused, rewindRefused:
		c.refused(msg)
	case decision.ChildGone:
		c.runTerminated(msg.Name)
		c.compactionGone(msg.Name)
		c.memory.Gone(msg.Name)
	case decision.Forgotten:
		c.onForgotten(msg)
	case restDue:
		c.onRestDue()
	case askDue:
		c.onAskDue(msg)
	case requests.ExpiryDue:
		c.requests.Expire()
	case runTick:
		c.onRunTick(msg)
	case debounceDue:
		c.holding = time.Time{}
	case decision.Commanded:
		c.onCommanded(msg)
	case decision.Fetched:
		c.files.OnFetched(msg)
	case decision.Gathered:
		c.requests.OnGathered(msg)
	case decision.HeldDue:
		c.Retake()
	case requests.Again, files.AlbumDue: // what follows is decided next
	case messages.ToChat:
		c.command(msg)
	}
}

// refused handles a plan whose writes the store refused.
func (c *Chat) refused(msg any) {
	switch msg := msg.(type) {
	case decision.Refused:
		if _, ok := msg.Of.(messages.AskPassivate); ok {
			c.remind()
		}
		c.Refuse(msg.Of)
	case compactionRefused:
		c.compaction.ready, c.compaction.aged = nil, nil
		c.notCompacted(resultUnwritten, 0)
	case agingRefused:
		c.compaction.aged = nil
	case switchRefused:
		c.notSwitched(refusedSwitch(c.In.Err))
	case commandRefused:
		if msg, ok := msg.of.(messages.AcceptIngress); ok {
			c.accept(msg)
		}
	case rewindRefused:
		c.Answer(messages.ChatRewound{ChatKey: c.Key, Reason: fmt.Sprintf("the history could not be rewritten: %v", c.In.Err)})
	}
}

// mayChange makes the state of the working copy writable, unless the message is a query that changes nothing.
func (c *Chat) mayChange() {
	switch c.In.Msg.(type) {
	case decision.Idle, messages.ViewQuery, messages.WatchChat, messages.UnwatchChat, messages.OutboxQuery, messages.EgressDelayed:
	default:
		c.CopyState()
	}
}

// command handles messages from other actors.
func (c *Chat) command(msg messages.ToChat) {
	switch msg := msg.(type) {
	case messages.AcceptIngress:
		c.accept(msg)
	case messages.StopRun:
		c.stopRun(msg)
	case messages.WatchChat:
		c.watch(msg)
	case messages.UnwatchChat:
		delete(c.Watching, msg.WatchID)
	case messages.ViewQuery:
		c.view()
	case messages.RewindChat:
		c.rewind(msg)
	case messages.ForgetChat:
		c.onForget(msg)
	case messages.DecideApproval:
		c.requests.DecideByID(msg)
	case messages.RevokeGrants:
		c.requests.RevokeGrants(msg)
	case messages.ShowRequest, messages.RequestShown, messages.EndRequest, messages.RequestEnded, messages.DecideReferred, messages.ReferredDecided,
		messages.ReferRequests, messages.OutcomesShown:
		c.requests.FromOtherChat(msg)
	case messages.WakeChat:
	case messages.AskPassivate:
		c.askPassivate(msg)
	case messages.Drain:
		c.drain()
	case messages.EgressProgressed:
		c.onEgressProgressed(msg)
	case messages.EgressDelivered:
		c.onEgressDelivered(msg)
	case messages.EgressFailed:
		c.onEgressFailed(msg)
	case messages.QueueEgress:
		c.queueEgress(msg)
	case messages.EgressDelayed:
		c.outbox.OnDelayed(msg)
	case messages.OutboxQuery:
		c.outbox.List()
	case messages.RetryParked:
		c.outbox.Retry(msg)
	case messages.DropParked:
		c.outbox.Drop(msg)
	case messages.RunProgressed, messages.StepRestarted, messages.StepDone, messages.ToolDone, messages.StepEnded, messages.RunFailed, messages.ShortenInput:
		c.fromRun(msg)
	case messages.PostWords:
		c.postWords(msg)
	case messages.CompactionFinished:
		c.onCompacted(msg)
	case messages.MemoryExtracted:
		c.memory.OnExtracted(msg)
	}
}

// Chunks returns the pieces of the answer in progress that a run's message carries.
func Chunks(msg any) (chunks []uistream.Chunk, ok bool) {
	switch msg := msg.(type) {
	case messages.RunProgressed:
		return msg.Chunks, true
	case messages.StepDone:
		return msg.Chunks, true
	case messages.ToolDone:
		return msg.Chunks, true
	case messages.StepEnded:
		return msg.Chunks, true
	}
	return nil, false
}

// Reload replaces the state with the contents of the store and changes nothing else.
func (c *Chat) Reload(state *journal.State) { c.State = state }

// Rests reports whether the last plan was empty, which means that there is nothing left to decide.
func (c *Chat) Rests() bool { return c.rests }

// Close tells a chat that is not loaded that the host is stopping.
func (c *Chat) Close() { c.Closing = true }

// KeepReceipts stores the receipts of a sent row while the chat is not loaded, so that they are not lost if loading
// fails.
func (c *Chat) KeepReceipts(msg messages.EgressDelivered) {
	decision.Put(&c.Receipts, journal.RowKey(msg.Row), msg.Receipts)
}

// Watchers returns the watchers of the chat by the ids of their watches.
func (c *Chat) Watchers() map[string]decision.Ref { return c.Watching }

// Load sets a state that was read from the store, together with the meta file it was made from.
func (c *Chat) Load(state *journal.State, meta journal.Meta, store decision.Archive, now time.Time) {
	c.State, c.Store = state, store
	f := &c.compaction
	c.KeptTries, c.KeptTokens = meta.Tries, meta.Tokens
	if len(meta.Tries) > len(f.tries) {
		f.tries = meta.Tries
	}
	f.size = length.Restored(meta.Tokens, state.History)
	c.cache, c.Handed = &prompt.Cache{}, nil
	c.Seen(state.History)
	c.files.Resume(now)
}

// Left returns the chat without its state, keeping what its next state can use.
func (c *Chat) Left() *Chat {
	w := *c
	w.State, w.Store = nil, nil
	s := &w.session
	s.cache = nil
	w.setRun(nil, "")
	w.files = c.files.Left()
	s.compaction = compacting{tries: c.compaction.tries, stale: c.compaction.stale}
	w.system, w.memory = c.system.Left(), c.memory.Left()
	s.size, s.trim = length.Memory{}, messages.Trim{}
	w.Delayed = nil
	w.requests = requests.Requests{}
	w.attach()
	w.Waits = decision.Held{}
	s.rests, s.restsAt, s.lookedAt, s.ended, s.grew = false, 0, 0, false, false
	s.holding = time.Time{} // its timer ended with the state
	return &w
}
