package chat

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/pipe"
	"github.com/shipmyagent/shipmyagent/actors/internal/prompt"
	"github.com/shipmyagent/shipmyagent/actors/internal/stray"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// foldAfter is how long a chat rests before its journal is folded away.
const foldAfter = time.Second

// Props makes the actor of one chat. It must be spawned by its shard only.
func Props(key messages.ChatKey, o Options) *actor.Props {
	o = o.withDefaults()
	return actor.PropsFromProducer(func() actor.Actor {
		return &chat{Options: o, key: key, log: o.Logger.With("component", "chat", "chat_key", string(key))}
	}, actor.WithMailbox(actor.UnboundedLockfree()), actor.WithSupervisor(runsStop()))
}

// runsStop: a run that panics is stopped, never restarted; its chat hears of it.
func runsStop() actor.SupervisorStrategy {
	return actor.NewOneForOneStrategy(0, 0, func(any) actor.Directive { return actor.StopDirective })
}

// chat is the actor. Its fields are touched in Receive only.
type chat struct {
	Options
	key   messages.ChatKey
	log   *slog.Logger
	home  pipe.Home
	shard *actor.PID // who looks after the memory that the chat holds
	size  size

	store persistence.Chat
	state *journal.State // nil: not loaded, or broken
	cache *prompt.Cache
	memo  *model.Memo // what the model remembers of the chat's last request
	trim  messages.Trim
	// compaction is the child that folds the history, and what is known of its length.
	compaction compacting
	memory     remembering
	begins     fingerprints
	run        *runner // nil: none under way
	via        Adapter // how the chat's people are reached

	chatType, title string // as last seen
	lastSystem      string // text of the last request; empty: there was none

	watchers map[string]*actor.PID
	asks     map[journal.RowKey][]ask
	handed   map[journal.RowKey]bool               // rows that the adapter has
	receipts map[journal.RowKey][]messages.Receipt // of rows that were sent, until they are kept
	delayed  map[journal.RowKey]messages.EgressDelayed
	told     told // what the metrics know of the chat
	first    firstWord
	since    time.Time   // the first ingress came that no run has seen; zero: there is none
	flooded  time.Time   // a message was declined because the lane was full
	holding  time.Time   // the chat waits for more messages; zero: it does not
	holds    int         // generation of that timer
	files    fetching    // the files of turns that are on their way
	resting  int         // generation of the fold timer
	rest     *time.Timer // of the next fold; nil: there was none yet
	// deadlines of the open requests, by approval id, on the clock of this process.
	deadlines map[string]time.Time
	pages     paging
	reloading reloading
	quoted    quoting
	waits     heldBack
	refers    referring
	shownEnds map[journal.RowKey]int // how many ended requests a message with buttons shows as such
	elsewhere map[string]*deciding   // messages and presses that other chats have to answer
	gathering map[string]*gathered   // messages that ask for a list of all chats
	grants    grants
	allowed   map[string]AuditEntry // calls under way that a person or a rule let run
	expiry    *time.Timer           // nil: no request is open
	marked    map[string]string     // messages of people that have a mark, by their turn
	moved     []journal.Settled     // fates of the run that went on in another context
	closing   bool                  // the host stops
	forgets   time.Time             // somebody was asked whether all is to be deleted; zero: nobody was
	drainer   *actor.PID
}

// foldDue: the chat has rested long enough.
type foldDue struct{ gen int }

// Receive implements [actor.Actor].
func (c *chat) Receive(ac actor.Context) {
	survived := false
	defer func() {
		if !survived {
			c.stumble(ac)
		}
	}()
	c.receive(ac)
	c.follow(ac)
	c.remember(ac)
	c.tell()
	survived = true
}

func (c *chat) receive(ac actor.Context) {
	switch msg := ac.Message().(type) {
	case *actor.Started:
		c.started(ac)
	case *actor.Stopping, *actor.Restarting:
		c.release(ac)
	case messages.Drain:
		c.drain(ac)
	case messages.AskPassivate:
		c.askPassivate(ac, msg)
	case messages.ToChat:
		c.command(ac, msg)
	case *actor.Terminated:
		c.runGone(ac, msg.Who)
		c.compactionGone(ac, msg.Who)
		c.memoryGone(msg.Who)
	case foldDue:
		c.onFoldDue(ac, msg)
	case reload:
		c.reloading.armed = false
		c.ready(ac)
	case askDue:
		c.onAskDue(ac, msg)
	case expiryDue:
		c.expire(ac)
	case runTick:
		c.onRunTick(ac, msg)
	case debounceDue:
		c.onDebounceDue(ac, msg)
	case fetched:
		c.onFetched(ac, msg)
	case gathered:
		c.onGathered(ac, msg)
	case heldDue:
		c.letGo(ac)
	case again: // what has to be sent once more is, after every message
	default:
		stray.Report(ac)
	}
}

// command takes what needs the chat's state; without it, it says so.
func (c *chat) command(ac actor.Context, msg messages.ToChat) {
	switch msg := msg.(type) {
	case messages.RunProgressed, messages.StepRestarted, messages.StepDone, messages.ToolDone, messages.StepEnded, messages.RunFailed, messages.ShortenInput,
		messages.CompactionFinished, messages.MemoryExtracted:
		if c.state == nil {
			return // the last words of a run that ended with the state
		}
	case messages.EgressDelivered:
		c.receipts[rowKey(msg.Row)] = msg.Receipts // whatever becomes of the chat's state
	default:
	}
	if !c.ready(ac) {
		c.refuse(ac, msg)
		return
	}
	switch msg := msg.(type) {
	case messages.AcceptIngress:
		c.accept(ac, msg)
	case messages.StopRun:
		c.stopRun(ac, msg)
	case messages.WatchChat:
		c.watch(ac, msg)
	case messages.UnwatchChat:
		delete(c.watchers, msg.WatchID)
	case messages.ViewQuery:
		c.view(ac)
	case messages.RewindChat, messages.ForgetChat:
		c.takeAway(ac, msg)
	case messages.DecideApproval, messages.RevokeGrants:
		c.aboutApprovals(ac, msg)
	case messages.ShowRequest, messages.RequestShown, messages.EndRequest, messages.RequestEnded, messages.DecideReferred, messages.ReferredDecided,
		messages.ReferRequests, messages.OutcomesShown:
		c.aboutReferrals(ac, msg)
	case messages.WakeChat, messages.AskPassivate, messages.Drain:
	case messages.EgressProgressed:
		c.onEgressProgressed(ac, msg)
	case messages.EgressDelivered:
		c.onEgressDelivered(ac, msg)
	case messages.EgressFailed:
		c.onEgressFailed(ac, msg)
	case messages.QueueEgress:
		c.queueEgress(ac, msg)
	case messages.EgressDelayed:
		c.onEgressDelayed(msg)
	case messages.OutboxQuery, messages.RetryParked, messages.DropParked:
		c.aboutOutbox(ac, msg)
	case messages.RunProgressed, messages.StepRestarted, messages.StepDone, messages.ToolDone, messages.StepEnded, messages.RunFailed, messages.ShortenInput:
		c.fromRun(ac, msg)
	case messages.PostWords:
		c.postWords(ac, msg)
	case messages.CompactionFinished:
		c.onCompacted(ac, msg)
	case messages.MemoryExtracted:
		c.onExtracted(ac, msg)
	}
}

// refuse answers a message that the chat cannot take without its store.
func (c *chat) refuse(ac actor.Context, msg messages.ToChat) {
	if ac.Sender() == nil {
		return
	}
	if answer := refusal(c.key, msg); answer != nil {
		ac.Respond(answer)
	}
}

// refusal is the answer to a message that a chat cannot take; nil: it needs none.
func refusal(key messages.ChatKey, msg messages.ToChat) any {
	const reason = "the chat's data cannot be read or written now"
	switch msg := msg.(type) {
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
		return messages.EgressAnswer{Err: reason}
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

func (c *chat) started(ac actor.Context) {
	c.home, c.shard = pipe.NewHome(ac), ac.Parent()
	c.receipts = map[journal.RowKey][]messages.Receipt{}
	c.delayed = map[journal.RowKey]messages.EgressDelayed{}
	c.watchers, c.asks = map[string]*actor.PID{}, map[journal.RowKey][]ask{}
	if addr, ok := c.key.Address(); ok {
		name := addr.Platform
		if addr.Account != "" {
			name += "@" + addr.Account
		}
		c.via, _ = c.Adapter(name)
	}
	c.ready(ac)
}

// append makes facts durable and takes them into the state, in this order. After
// an error nothing of them is believed: the chat is read anew and goes on from
// what is on the disk.
func (c *chat) append(ac actor.Context, facts ...journal.Fact) error {
	return c.write(ac, c.store.Append, facts)
}

// note is append for facts whose loss in a power cut changes nothing.
func (c *chat) note(ac actor.Context, facts ...journal.Fact) error {
	return c.write(ac, c.store.Note, facts)
}

// offer is append for what can be refused, or comes again: an ingress, an order, a
// receipt. A write that the store undid leaves the chat as it is.
func (c *chat) offer(ac actor.Context, facts ...journal.Fact) error {
	return c.write(ac, func(ctx context.Context, records ...journal.Record) error {
		err := c.store.Append(ctx, records...)
		if undone(err) {
			return errUndone{err}
		}
		return err
	}, facts)
}

func (c *chat) write(ac actor.Context, write func(context.Context, ...journal.Record) error, facts []journal.Fact) error {
	records := c.state.Next(time.Now().UnixMilli(), facts...)
	if err := write(context.Background(), records...); err != nil {
		c.storeFailed(ac, err)
		return err
	}
	for _, r := range records {
		if err := c.state.Apply(r); err != nil { // Unreachable: we made the facts
			c.storeFailed(ac, err)
			return err
		}
	}
	return nil
}

// wake marks the chat to be woken at a start.
func (c *chat) wake(ac actor.Context) error {
	err := c.store.Wake(context.Background())
	if undone(err) {
		err = errUndone{err}
	}
	if err != nil {
		c.storeFailed(ac, err)
	}
	return err
}

// errUndone is a failed write of what can be refused, that left no trace.
type errUndone struct{ error }

func undone(err error) bool {
	e, ok := errors.AsType[*persistence.Error](err)
	return ok && e.Retryable
}

// storeFailed gives the state up unless the write left no trace and nobody
// depends on it. What runs is ended; a timer reads the chat anew and goes on.
func (c *chat) storeFailed(ac actor.Context, err error) {
	if _, ok := errors.AsType[errUndone](err); ok {
		c.log.Warn("a message, an order or a receipt was refused because the disk takes no writes", "error", err)
		return
	}
	c.log.Error("the chat cannot be written; it will be read anew", "error", err)
	c.abandon(ac)
	c.reloadLater()
}

// release lets everything go; what counts is on the disk. The run goes first: its
// end is heard when there is no state any more.
func (c *chat) release(ac actor.Context) {
	c.dropRun(ac)
	c.dropCompaction(ac)
	c.dropMemory(ac)
	for id, pid := range c.watchers {
		c.home.Root().Send(pid, messages.WatchEnded{ChatKey: c.key, WatchID: id})
	}
	c.forget()
	if c.store != nil {
		if err := c.store.Close(); err != nil {
			c.log.Error("closing the chat failed", "error", err)
		}
		c.store = nil
	}
}
