package chat

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/chat/chatmetrics"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/internal/kin"
	"github.com/shipmyagent/shipmyagent/actors/internal/pipe"
	"github.com/shipmyagent/shipmyagent/actors/internal/stray"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

const (
	// reloadWait is how long a chat waits after its store failed before it is loaded again. The wait doubles with each
	// failure, up to longestReload. After failures to write, it doubles only three times, and the first few do not count,
	// because a disk is often full for a moment only.
	reloadWait    = 5 * time.Second
	longestReload = 5 * time.Minute
	patience      = 4
	// maxRounds limits how often the machine is asked what follows after one message. It normally plans nothing more
	// long before that.
	maxRounds = 16
	// numberGap separates the number of a crash fact from those of records that may have been written but not applied
	// when the panic happened.
	numberGap = 64
	// timerReload is the timer that loads the chat again. It survives the loss of the state.
	timerReload = "reload"
)

// Factory returns what makes the actors of chats, which share the options and ask for them with every message. Only the
// shard of a chat may spawn its actor.
func Factory(current func() *Options) func(key messages.ChatKey) *actor.Props {
	// A child that panics is stopped and not restarted. The chat is notified of its end.
	supervisor := actor.NewOneForOneStrategy(0, 0, func(any) actor.Directive { return actor.StopDirective })
	return func(key messages.ChatKey) *actor.Props {
		return actor.PropsFromProducer(func() actor.Actor {
			return &shell{current: current, key: key, memo: &model.Memo{}}
		}, actor.WithMailbox(actor.UnboundedLockfree()), actor.WithSupervisor(supervisor))
	}
}

// shell is the actor of a chat. [machine.Chat.Decide] makes the decisions; the shell writes the facts of a plan,
// replaces the chat with the one after the writes, and then runs the effects. Its fields are only accessed in Receive.
type shell struct {
	current func() *Options
	o       *Options // those of the message that is handled
	key     messages.ChatKey
	home    pipe.Home

	store      persistence.Chat
	memo       *model.Memo // cache of the chat's last request; kept while the chat hibernates
	chat       *machine.Chat
	counted    chatmetrics.Counted  // what has been added to the metrics for the chat
	loaded     bool                 // the chat has its state; otherwise nothing can be decided
	hibernates bool                 // the chat is not loaded because it has nothing to do
	asleep     func() *machine.Chat // returns the chat that hibernates, which is nil until the next message
	failed     int                  // consecutive failed loads
	unwritten  int                  // consecutive loads after which what follows could not be written
	refused    bool                 // the store refused the last write
	timers     map[string]*timed
	gen        int // number of the newest timer
	children   map[string]*actor.PID
	fetches    map[int]context.CancelFunc
	// msg is the message being handled, and sender who gets its answer. The messages in again come before all others.
	msg    any
	sender *actor.PID
	again  []decision.Resend
}

type timed struct {
	timer *time.Timer
	gen   int
	msg   any
}

// timerFired is the message of a timer that has fired.
type timerFired struct {
	name string
	gen  int
}

// reload is the timer message to try loading the chat again.
type reload struct{}

// Receive implements [actor.Actor].
func (s *shell) Receive(ac actor.Context) {
	survived := false
	defer func() {
		if !survived {
			s.crashed(ac)
		}
	}()
	s.receive(ac)
	survived = true
}

func (s *shell) receive(ac actor.Context) {
	s.o = s.current()
	s.msg, s.sender = ac.Message(), ac.Sender()
	if s.asleep != nil {
		s.chat, s.asleep = s.asleep(), nil
	}
	switch msg := s.msg.(type) {
	case *actor.Started:
		s.home, s.chat = pipe.NewHome(ac), machine.New(&s.o.Options, s.key, s.o.Spares)
		s.ready(ac)
	case *actor.Stopping, *actor.Restarting:
		s.release(ac)
	case *actor.Terminated:
		s.terminated(ac, msg.Who)
	case timerFired:
		if t := s.timers[msg.name]; t != nil && t.gen == msg.gen {
			delete(s.timers, msg.name)
			s.take(ac, t.msg)
		}
	case messages.ToChat, decision.Fetched, decision.Gathered:
		s.take(ac, msg)
	default:
		stray.Report(ac)
	}
	for len(s.again) > 0 {
		s.msg, s.sender, s.again = s.again[0].Msg, pidOf(s.again[0].Sender), s.again[1:]
		s.take(ac, s.msg)
	}
}

// terminated handles the end of a child that did not report one.
func (s *shell) terminated(ac actor.Context, who *actor.PID) {
	kin.Forget(ac)
	if name := s.childOf(who); name != "" {
		delete(s.children, name)
		if s.loaded {
			s.decide(ac, decision.Input{Msg: decision.ChildGone{Name: name}})
		}
	}
}

// childOf returns the name of a running child, or empty.
func (s *shell) childOf(who *actor.PID) string {
	if who == nil {
		return ""
	}
	name := path.Base(who.GetId())
	if pid := s.children[name]; pid == nil || !pid.Equal(who) {
		return ""
	}
	return name
}

// take decides a message. While the chat is not loaded, the message is refused, kept or dropped. Pieces of an answer in
// progress are shown at once; those that come with something to write, such as the result of a tool, after the write.
func (s *shell) take(ac actor.Context, msg any) {
	if !s.loaded && !s.whileAway(ac, msg) {
		return
	}
	in := decision.Input{Msg: msg, Sender: refOf(s.sender), Child: s.childOf(s.sender)}
	chunks, shows := machine.Chunks(msg)
	if !shows {
		s.decide(ac, in)
		return
	}
	if in.Child == "" || in.Child != s.chat.RunChild {
		return // from a run that is over
	}
	shown := s.chat.Progress(decision.Input{Now: time.Now()}, chunks)
	if _, only := msg.(messages.RunProgressed); only {
		s.effects(ac, shown)
		return
	}
	s.decide(ac, in, shown...)
}

// whileAway handles a message to a chat that is not loaded. It returns true if the chat is loaded now and can decide
// the message.
func (s *shell) whileAway(ac actor.Context, msg any) bool {
	switch msg := msg.(type) {
	case reload:
		s.ready(ac)
		return false
	case messages.Drain:
		s.chat.Close()
		if s.hibernates {
			s.rest()
		}
		send(ac, s.sender, messages.Drained{ChatKey: s.key}, false)
		return false
	case messages.AskPassivate:
		var answer any = messages.PassivateBusy{ChatKey: s.key}
		if s.hibernates {
			s.rest()
			answer = messages.PassivateOK{ChatKey: s.key, Seq: msg.Seq}
		}
		send(ac, s.sender, answer, false)
		return false
	case messages.EgressDelivered: // keep the receipts even if loading fails
		s.chat.KeepReceipts(msg)
	case messages.ToChat:
		if fromChild(msg) {
			return false
		}
	default: // timers and work of the previous state
		return false
	}
	if !s.ready(ac) {
		s.refuse(ac, msg, refOf(s.sender))
		return false
	}
	return true
}

// fromChild reports whether a message is from a run, a compaction or an extraction.
func fromChild(msg any) bool {
	switch msg.(type) {
	case messages.RunProgressed, messages.StepRestarted, messages.StepDone, messages.ToolDone, messages.StepEnded, messages.RunFailed, messages.ShortenInput,
		messages.CompactionFinished, messages.MemoryExtracted:
		return true
	}
	return false
}

// refuse answers a message that cannot be handled.
func (s *shell) refuse(ac actor.Context, msg any, sender decision.Ref) {
	if answer := decision.Refusal(s.key, msg); answer != nil {
		send(ac, pidOf(sender), answer, false)
	}
}

// decide handles one input, and then everything that follows from it. The effects first come before those of the plan.
func (s *shell) decide(ac actor.Context, in decision.Input, first ...decision.Effect) {
	if !s.perform(ac, in, first...) {
		return
	}
	for range maxRounds {
		if done := s.perform(ac, decision.Input{Msg: decision.Idle{}}); !done || s.chat.Rests() {
			return
		}
	}
	s.log().Error("the chat still has something to decide after many rounds; it waits for the next message or timer", "rounds", maxRounds)
}

// perform decides an input, writes the plan and runs its effects. It returns false if the writes were refused or
// failed.
func (s *shell) perform(ac actor.Context, in decision.Input, first ...decision.Effect) bool {
	s.chat.Options, in.Now, in.NewID = &s.o.Options, time.Now(), newID
	p := s.chat.Decide(in)
	if err := s.writeFiles(p); err != nil {
		s.log().Warn("files of the chat cannot be written; it continues without them", "error", err)
		in.NoFiles = true
		p = s.chat.Decide(in)
	}
	unchanged, err := s.write(p)
	if err != nil {
		return s.notWritten(ac, in, p, unchanged, err)
	}
	s.chat, s.refused = p.Commit(), s.refused && len(p.Writes) == 0
	if p.Rest {
		s.rest()
	}
	s.effects(ac, first)
	s.effects(ac, p.Effects)
	if s.loaded {
		s.counted = s.o.Metrics.Update(s.key, s.counted, s.chat.State)
	}
	return s.loaded
}

// rest removes the chat from the list of chats that the host loads when it starts.
func (s *shell) rest() {
	if err := s.store.Rest(context.Background()); err != nil {
		s.log().Warn("the chat could not be marked as resting", "error", err)
	}
}

// effects carries out the effects of a plan, in order.
func (s *shell) effects(ac actor.Context, list []decision.Effect) {
	for _, e := range list {
		switch e := e.(type) {
		case decision.SetTimer:
			s.setTimer(e.Name, e.After, e.Msg)
		case decision.RunCommand:
			s.runCommand(ac, e)
		case decision.Hibernate:
			s.memo.Rest()
			s.asleep = s.chat.Hibernated()
			s.leave(ac)
			s.chat, s.hibernates = nil, true
			s.timers, s.children, s.fetches = nil, nil, nil // a map keeps its memory
		case decision.ForgetAll:
			s.forgetAll(ac, e)
		case decision.Resend:
			s.again = append(s.again, e)
		default:
			s.carryOut(ac, e)
		}
	}
}

// runCommand lets the host carry out a command before the next message is decided.
func (s *shell) runCommand(ac actor.Context, e decision.RunCommand) {
	done := decision.Commanded{Msg: e.Msg}
	e.Command.Offer = func(asks ...messages.Ask) { done.Asks = append(done.Asks, asks...) }
	done.Words, done.Known = s.o.Commands(e.Command)
	s.decide(ac, decision.Input{Msg: done, Sender: e.Sender})
}

// forgetAll stops everything in progress, deletes everything that is kept of the chat, and loads the chat again. It
// then contains only what the forgetting intent keeps.
func (s *shell) forgetAll(ac actor.Context, e decision.ForgetAll) {
	s.release(ac)
	s.chat = machine.New(&s.o.Options, s.key, s.o.Spares)
	err := s.o.Forget(e.Intent)
	if err != nil {
		s.log().Error("not everything stored for the chat could be deleted; the next start continues", "error", err)
	}
	if !s.ready(ac) {
		s.refuse(ac, e.Of, e.Sender)
		return
	}
	s.decide(ac, decision.Input{Msg: decision.Forgotten{Of: e.Of, Err: err}, Sender: e.Sender})
}

func (s *shell) writeFiles(p machine.Plan) error {
	for _, f := range p.Files {
		if err := s.o.Files.WriteFile(context.Background(), s.key, f.Name, f.Data); err != nil {
			return err
		}
	}
	return nil
}

// write writes a plan in order. If it fails, first reports that nothing had changed the chat itself before the
// failure.
func (s *shell) write(p machine.Plan) (first bool, err error) {
	ctx := context.Background()
	for _, g := range p.Grants {
		if err := s.o.Grants.SaveGrants(ctx, s.key, g.List); err != nil {
			return true, &persistence.Error{Op: "save grants", Chat: string(s.key), Cause: err, Retryable: true}
		}
	}
	if p.Wake {
		if err := s.store.Wake(ctx); err != nil {
			return true, err
		}
	}
	for i, w := range p.Writes {
		switch {
		case w.Turn != nil:
			err = s.store.AppendHistory(ctx, *w.Turn)
		case w.Checkpoint != nil:
			err = s.store.Checkpoint(ctx, *w.Checkpoint)
		case w.Rewrite != nil:
			err = s.store.Rewrite(ctx, *w.Rewrite)
		case w.Durable:
			err = s.store.Append(ctx, w.Records...)
		default:
			err = s.store.Note(ctx, w.Records...)
		}
		if err != nil {
			return i == 0, err
		}
	}
	return true, nil
}

// notWritten handles a failed write. If the store undid the only write that was tried, and the sender can be informed or
// the plan says what to do then, nothing has changed. Otherwise the chat is loaded again from disk. It reports whether
// the chat has decided something else instead.
func (s *shell) notWritten(ac actor.Context, in decision.Input, p machine.Plan, first bool, err error) bool {
	e, ok := errors.AsType[*persistence.Error](err)
	clean := ok && e.Retryable || errors.Is(err, journal.ErrDamaged)
	switch {
	case first && clean && (p.MayRefuse || p.IfRefused != nil) && s.chat.State != nil:
		if !s.refused { // a full disk refuses every message
			s.log().Warn("the store refused a write; nothing has changed", "error", err)
		}
		s.refused = true
	case clean && p.IfRefused != nil && s.reloadNow() == nil:
		s.log().Warn("the store refused a write", "error", err)
	default:
		s.log().Error("the chat cannot be written; it will be loaded again", "error", err)
		s.abandon(ac)
		s.unwritten++
		s.reloadLater()
		s.refuse(ac, in.Msg, in.Sender)
		return false
	}
	if p.IfRefused != nil {
		return s.perform(ac, decision.Input{Msg: p.IfRefused, Sender: in.Sender, Err: err})
	}
	s.perform(ac, decision.Input{Msg: decision.Refused{Of: in.Msg}, Sender: in.Sender, Err: err})
	return false
}

// ready loads the chat if needed and continues its work.
func (s *shell) ready(ac actor.Context) bool {
	if s.loaded {
		return true
	}
	s.hibernates = false
	if err := s.load(); err != nil {
		s.log().Error("the chat cannot be read", "error", err)
		s.abandon(ac)
		s.reloadLater()
		s.failed++
		return false
	}
	s.failed, s.loaded = 0, true
	if s.decide(ac, decision.Input{Msg: decision.Loaded{}}); s.loaded {
		s.unwritten = 0
	}
	return s.loaded
}

// reloadLater sets a timer to load the chat again, so that the chat does not wait for the next message.
func (s *shell) reloadLater() {
	if s.timers[timerReload] == nil {
		s.setTimer(timerReload, min(reloadWait<<max(min(s.failed, 8), min(s.unwritten-patience, 3)), longestReload), reload{})
	}
}

// reloadNow replaces the state with what is on disk and changes nothing else.
func (s *shell) reloadNow() error {
	snap, err := s.store.Load(context.Background())
	if err != nil {
		return err
	}
	state, err := journal.Replay(snap)
	if err == nil {
		s.chat.Reload(state)
	}
	return err
}

// load reads the chat. If its data makes the reader panic, the chat counts as unreadable.
func (s *shell) load() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("reading the chat panicked: %T", r) // not the value, which may quote people
		}
	}()
	ctx := context.Background()
	if s.store == nil {
		store, err := s.o.Store.OpenChat(ctx, s.key)
		if err != nil {
			return err
		}
		s.store = store
	}
	snap, err := s.store.Load(ctx)
	if err != nil {
		return err
	}
	for _, d := range snap.Damage {
		s.log().Error("a part of the chat could not be read and is kept in quarantine", "file", d.File, "offset", d.Offset, "bytes", d.Bytes, "reason", d.Why)
	}
	state, meta, err := s.replay(ctx, snap)
	if err != nil {
		return err
	}
	s.chat.Load(state, meta, archive{s.store, s.o.Store, s.key}, time.Now())
	s.counted = s.o.Metrics.Loaded(s.key, state)
	return nil
}

// replay builds the state. If the counts of the meta file do not match the journal, the meta file was lost, and the
// counts are rebuilt from the ledger.
func (s *shell) replay(ctx context.Context, snap journal.Snapshot) (*journal.State, journal.Meta, error) {
	state, err := journal.Replay(snap)
	if err != nil || state.Balanced() {
		return state, snap.Meta, err
	}
	var ledger []journal.Tally
	for e, err := range s.store.Ledger(ctx) {
		if err != nil {
			return nil, snap.Meta, err
		}
		ledger = append(ledger, journal.Tally{N: e.N, Dir: e.Dir, Fate: e.Fate})
	}
	given := state.N // includes numbers of facts that left nothing in the ledger
	if snap.Meta, err = journal.RebuildMeta(snap, snap.LedgerN, ledger, nil); err != nil {
		return nil, snap.Meta, err
	}
	s.log().Warn("the chat's counts were rebuilt from its ledger")
	if state, err = journal.Replay(snap); err == nil {
		state.Reserve(given)
	}
	return state, snap.Meta, err
}

// abandon drops the state and everything that runs for it. All that matters is on disk.
func (s *shell) abandon(ac actor.Context) {
	s.leave(ac)
	if s.store != nil {
		if err := s.store.Close(); err != nil {
			s.log().Warn("closing the chat failed", "error", err)
		}
		s.store = nil
	}
	s.memo = &model.Memo{}
}

// leave stops the children and the work of the chat and drops its state. Messages that were held back are refused, so
// that their senders repeat them.
func (s *shell) leave(ac actor.Context) {
	for name, pid := range s.children {
		ac.Stop(pid)
		delete(s.children, name)
	}
	for n, cancel := range s.fetches {
		cancel()
		delete(s.fetches, n)
	}
	for name, t := range s.timers {
		if name != timerReload {
			t.timer.Stop()
			delete(s.timers, name)
		}
	}
	for _, e := range append(s.again, s.chat.Waiting()...) {
		s.refuse(ac, e.Msg, e.Sender)
	}
	s.again = nil
	s.uncount()
	s.chat, s.loaded = s.chat.Left(), false
}

// uncount removes the chat from the metrics.
func (s *shell) uncount() {
	if s.chat.State != nil {
		s.o.Metrics.Unloaded(s.o.Metrics.Update(s.key, s.counted, s.chat.State))
	}
	if s.chat.RunChild != "" {
		s.o.Metrics.Count(decision.Count{What: decision.CountRunGone, Value: 1})
	}
	s.counted = chatmetrics.Counted{}
}

// release drops everything at the end of an activation.
func (s *shell) release(ac actor.Context) {
	for id, watcher := range s.chat.Watchers() {
		ac.Send(pidOf(watcher), messages.WatchEnded{ChatKey: s.key, WatchID: id})
	}
	s.abandon(ac)
}

func (s *shell) setTimer(name string, after time.Duration, msg any) {
	if old := s.timers[name]; old != nil {
		old.timer.Stop()
		delete(s.timers, name)
	}
	if msg == nil {
		return
	}
	s.gen++
	fired, home := timerFired{name, s.gen}, s.home
	decision.Put(&s.timers, name, &timed{time.AfterFunc(after, func() { home.Send(fired) }), s.gen, msg})
}

// crashed makes durable what the chat was working on when it panicked, so that the next activation knows, in this
// process or another. It runs while the panic propagates to the supervisor, which restarts the chat.
func (s *shell) crashed(ac actor.Context) {
	if !s.loaded || s.store == nil {
		return
	}
	fact, known := s.chat.CrashOn(s.msg)
	if !known {
		return
	}
	if fact.IngressID != "" {
		s.refuse(ac, s.msg, refOf(s.sender)) // so that the sender repeats it now and not after a deadline
	}
	records := s.chat.State.Next(time.Now().UnixMilli(), fact)
	records[0].N += numberGap
	plan := decision.Plan{Wake: true, Writes: []decision.Write{{Records: records, Durable: true}}}
	if _, err := s.write(machine.Plan{Plan: plan}); err != nil {
		s.log().Error("a panic could not be recorded", "error", err)
	}
}
