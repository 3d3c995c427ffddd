package machine

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval/grants"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval/referral"
	"github.com/shipmyagent/shipmyagent/actors/chat/length"
	"github.com/shipmyagent/shipmyagent/actors/internal/prompt"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// restAfter is how long a chat must be idle before its journal is checkpointed.
const restAfter = time.Second

// Chat is the state of a chat between two messages: the journal state, built from its facts, and the session, which a
// crash may lose. [Chat.Decide] says what follows a message and changes neither.
type Chat struct {
	*Options
	key      messages.ChatKey
	addr     messages.Address // from the key; zero if that has another form
	platform string           // its full name, for example telegram@work
	via      Adapter          // how the chat's people are reached
	store    Archive
	state    *journal.State

	session

	in    Input // the message being decided
	p     *Plan // the plan being made for it
	plan  Plan  // what p points to
	owns  bool  // the state is a copy that may be changed
	spare *Chat // memory for the chat after the next decision
}

// Archive is the part of the chat's store that is read on demand, in addition to the state.
type Archive interface {
	Ledger(ctx context.Context) iter.Seq2[journal.LedgerEntry, error]
	ReadArchive(ctx context.Context, id string) (journal.Archive, error)
	Contexts(ctx context.Context) ([]journal.ContextItem, error)
	ReadContext(ctx context.Context, id string) (journal.Context, error)
}

// session is the part of a chat that is not journaled.
type session struct {
	cache        *prompt.Cache
	picturesAged int // times that the cache has reported
	trim         messages.Trim
	size         length.Memory
	// compaction is the child that compacts the history, and what is known of its length.
	compaction compacting
	memory     remembering
	begins     fingerprints
	run        *runner // nil if no run is in progress

	chatType, title string // as last seen
	lastSystem      string // system text of the last request; empty before the first

	watchers map[string]Ref
	asks     map[journal.RowKey][]ask
	handed   map[journal.RowKey]bool               // rows that the adapter has
	receipts map[journal.RowKey][]messages.Receipt // receipts of sent rows until they are in the journal
	delayed  map[journal.RowKey]messages.EgressDelayed
	first    firstWord
	since    time.Time // arrival of the oldest ingress that no run has seen; zero if all were seen
	flooded  time.Time // when a message was last declined because the lane was full
	holding  time.Time // since when the chat waits for more messages; zero if it does not
	files    fetching  // turns whose files are still being fetched
	// deadlines of the open requests by approval id, on the clock of this process; expiry is the earliest.
	deadlines map[string]time.Time
	expiry    time.Time
	pages     paging
	quoted    quoting
	waits     heldBack
	refers    referral.Asking
	shownEnds map[journal.RowKey]int        // how many ended requests a message with buttons shows as such
	elsewhere map[string]*referral.Decision // messages and button presses that wait for other chats
	gathering map[string]Gathered           // messages that ask for a list over all chats
	grants    *grants.Book                  // nil until it is read
	allowed   map[string]AuditEntry         // calls in progress that a person or a rule let run
	marked    map[string]string             // messages of people that carry a mark, by turn id
	moved     []journal.Settled             // fates of the run that continues in another context
	closing   bool                          // the host is stopping
	forgets   time.Time                     // when somebody was asked whether to delete everything; zero if not asked
	drainer   Ref

	rests    bool  // nothing is left to do
	restsAt  int64 // number of the last record when the timer of the checkpoint was set
	lookedAt int64 // number of the last record when requests were last checked
	ended    bool  // a run has ended and nothing has followed yet
	grew     bool  // the history may now exceed its limit
}

// checkpointDue is the timer message that checkpoints an idle chat.
type checkpointDue struct{}

// New returns a chat that has not been loaded.
func New(o *Options, key messages.ChatKey) *Chat {
	c := &Chat{Options: o, key: key}
	if addr, ok := key.Address(); ok {
		c.addr, c.platform = addr, addr.Platform
		if addr.Account != "" {
			c.platform += "@" + addr.Account
		}
		c.via, _ = o.Adapter(c.platform)
	}
	return c
}

// Decide returns the plan that follows a message. It changes nothing; the plan contains the chat as it will be after
// its writes.
func (c *Chat) Decide(in Input) Plan {
	w := c.spare
	if w == nil {
		w = &Chat{}
	}
	c.spare = nil
	*w = *c
	w.in, w.plan, w.owns = in, Plan{before: c, next: w}, false
	w.p, w.session = &w.plan, c.copy()
	w.decide()
	p := w.plan
	w.in, w.plan, w.p, w.owns = Input{}, Plan{}, nil, false
	return p
}

// copy returns a session that can be changed without affecting this one.
func (s session) copy() session {
	if s.run != nil {
		r := *s.run
		r.lastSent = clone(r.lastSent)
		s.run = &r
	}
	s.watchers, s.asks = clone(s.watchers), clone(s.asks)
	s.handed, s.receipts, s.delayed = clone(s.handed), clone(s.receipts), clone(s.delayed)
	s.deadlines, s.shownEnds, s.elsewhere = clone(s.deadlines), clone(s.shownEnds), clone(s.elsewhere)
	s.gathering, s.allowed, s.marked = clone(s.gathering), clone(s.allowed), clone(s.marked)
	s.waits.until = clone(s.waits.until)
	if s.compaction.ready != nil {
		r := *s.compaction.ready
		s.compaction.ready = &r
	}
	s.files.turns = clone(s.files.turns)
	return s
}

// clone copies a map. It returns nil for an empty map, which is the usual case.
func clone[K comparable, V any](m map[K]V) map[K]V {
	if len(m) == 0 {
		return nil
	}
	return maps.Clone(m)
}

// put sets a map entry and creates the map if needed.
func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

func (c *Chat) decide() {
	c.rests = false
	if c.in.Err != nil { // the plan may have been written in part, so read these from disk again
		c.pages, c.grants = paging{}, nil
	}
	c.mayChange()
	switch msg := c.in.Msg.(type) {
	case Idle:
		c.whatFollows()
		return
	case Loaded:
		c.recover()
	case Refused, compactionRefused, agingRefused, switchRefused, commandRefused, rewindRefused:
		c.refused(msg)
	case ChildGone:
		c.runGone(msg.Name)
		c.compactionGone(msg.Name)
		c.memoryGone(msg.Name)
	case Forgotten:
		c.onForgotten(msg)
	case checkpointDue:
		c.checkpoint()
	case askDue:
		c.onAskDue(msg)
	case expiryDue:
		c.expire()
	case runTick:
		c.onRunTick(msg)
	case debounceDue:
		c.holding = time.Time{}
	case Commanded:
		c.onCommanded(msg)
	case Fetched:
		c.onFetched(msg)
	case Gathered:
		c.onGathered(msg)
	case heldDue:
		c.retake()
	case again: // only triggers the pending sends below
	case messages.ToChat:
		c.command(msg)
	}
}

// refused handles a plan whose writes the store refused.
func (c *Chat) refused(msg any) {
	switch msg := msg.(type) {
	case Refused:
		c.refuse(msg.Of)
	case compactionRefused:
		c.compaction.ready, c.compaction.aged = nil, nil
		c.notCompacted(resultUnwritten, 0)
	case agingRefused:
		c.compaction.aged = nil
	case switchRefused:
		c.notSwitched(refusedSwitch(c.in.Err))
	case commandRefused:
		if msg, ok := msg.of.(messages.AcceptIngress); ok {
			c.accept(msg)
		}
	case rewindRefused:
		c.answer(messages.ChatRewound{ChatKey: c.key, Reason: fmt.Sprintf("the history could not be rewritten: %v", c.in.Err)})
	}
}

// mayChange makes the state of the working copy writable, unless the message is a query that changes nothing.
func (c *Chat) mayChange() {
	switch c.in.Msg.(type) {
	case Idle, messages.ViewQuery, messages.WatchChat, messages.UnwatchChat, messages.OutboxQuery, messages.EgressDelayed:
	default:
		c.copyState()
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
		delete(c.watchers, msg.WatchID)
	case messages.ViewQuery:
		c.view()
	case messages.RewindChat:
		c.rewind(msg)
	case messages.ForgetChat:
		c.onForget(msg)
	case messages.DecideApproval:
		c.decideApproval(msg)
	case messages.RevokeGrants:
		c.revokeGrants(msg)
	case messages.ShowRequest, messages.RequestShown, messages.EndRequest, messages.RequestEnded, messages.DecideReferred, messages.ReferredDecided,
		messages.ReferRequests, messages.OutcomesShown:
		c.aboutReferrals(msg)
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
		c.onEgressDelayed(msg)
	case messages.OutboxQuery:
		c.listOutbox()
	case messages.RetryParked:
		c.retryParked(msg)
	case messages.DropParked:
		c.dropParked(msg)
	case messages.RunProgressed, messages.StepRestarted, messages.StepDone, messages.ToolDone, messages.StepEnded, messages.RunFailed, messages.ShortenInput:
		c.fromRun(msg)
	case messages.PostWords:
		c.postWords(msg)
	case messages.CompactionFinished:
		c.onCompacted(msg)
	case messages.MemoryExtracted:
		c.onExtracted(msg)
	}
}

// ReasonUnreadable is why a chat refuses messages while its store cannot be read or written.
const ReasonUnreadable = "the chat's data cannot be read or written now"

// refuse answers a message whose facts could not be written.
func (c *Chat) refuse(msg any) {
	switch msg := msg.(type) {
	case messages.AskPassivate:
		c.remind()
		c.answer(messages.PassivateBusy{ChatKey: c.key})
	case messages.ToChat, Commanded:
		if answer := Refusal(c.key, msg, ReasonUnreadable); answer != nil {
			c.answer(answer)
		}
	}
}

// Refusal is the answer to a message that a chat cannot handle, or nil if the message needs no answer.
func Refusal(key messages.ChatKey, msg any, reason string) any {
	switch msg := msg.(type) {
	case Commanded:
		return Refusal(key, msg.Msg, reason)
	case messages.AcceptIngress:
		return messages.IngressRejected{ChatKey: key, RequestID: msg.RequestID, Reason: reason}
	case messages.StopRun:
		return messages.RunStopped{ChatKey: key, Err: reason}
	case messages.ViewQuery:
		return messages.ViewReply{ChatKey: key, Err: reason}
	case messages.RewindChat:
		return messages.ChatRewound{ChatKey: key, Reason: reason}
	case messages.ForgetChat:
		return messages.ChatForgotten{ChatKey: key, Err: reason}
	case messages.DecideApproval:
		return messages.ApprovalDecided{ChatKey: key, Err: reason}
	case messages.DecideReferred:
		return messages.ReferredDecided{ChatKey: msg.From, From: key, ID: msg.ID, Err: reason}
	case messages.ReferRequests:
		return messages.RequestsReferred{ChatKey: key, Err: reason}
	case messages.RevokeGrants:
		return messages.GrantsRevoked{ChatKey: key, Err: reason}
	case messages.QueueEgress:
		return messages.EgressAnswer{Err: "the message could not be saved; nothing was sent"}
	case messages.PostWords:
		return messages.WordsPosted{ChatKey: key, PostID: msg.PostID, Reason: reason}
	case messages.OutboxQuery:
		return messages.OutboxReply{ChatKey: key, Err: reason}
	case messages.RetryParked, messages.DropParked:
		return messages.ParkedSettled{ChatKey: key, Err: reason}
	case messages.WatchChat:
		return messages.WatchEnded{ChatKey: key, WatchID: msg.WatchID}
	default:
		return nil
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

// RunChild is the name of the run's actor, or empty if no run is in progress.
func (c *Chat) RunChild() string {
	if c.run == nil {
		return ""
	}
	return c.run.child
}

// State returns the state that the chat's facts have built, or nil while the chat is not loaded. The caller must not
// change it.
func (c *Chat) State() *journal.State { return c.state }

// Reload replaces the state with the contents of the store and changes nothing else.
func (c *Chat) Reload(state *journal.State) { c.state = state }

// Rests reports whether the last plan was empty, which means that there is nothing left to decide.
func (c *Chat) Rests() bool { return c.rests }

// Close tells a chat that is not loaded that the host is stopping.
func (c *Chat) Close() { c.closing = true }

// KeepReceipts stores the receipts of a sent row while the chat is not loaded, so that they are not lost if loading
// fails.
func (c *Chat) KeepReceipts(msg messages.EgressDelivered) {
	put(&c.receipts, journal.RowKey(msg.Row), msg.Receipts)
}

// Waiting calls f for each message that the chat holds back, with its sender.
func (c *Chat) Waiting(f func(msg messages.ToChat, sender Ref)) {
	for _, h := range c.waits.list {
		f(h.msg, h.sender)
	}
}

// Watchers returns the watchers of the chat by the ids of their watches.
func (c *Chat) Watchers() map[string]Ref { return c.watchers }
