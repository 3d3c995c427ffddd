package machine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

const testChat = messages.ChatKey("telegram-chat-7")

// world simulates everything around one chat: its store, its children, its platform and its people. Events are drawn
// at random; the same seed gives the same events.
type world struct {
	rnd   *rand.Rand
	now   time.Time
	ids   int
	words int

	disk  *filestoretest.Disk
	store persistence.Store
	chat  persistence.Chat
	opts  *decision.Options

	m      *machine.Chat
	timers map[string]timer
	child  map[string]any // the first message of each child that is running
	run    *fakeRun
	rows   []messages.Deliver
	order  int64
	calm   bool // the model only answers, and the disk does not fail
	failed []string
	paused bool
	asleep bool            // the chat hibernates; what m has must not be used to decide
	runs   map[string]bool // the ids of all runs so far
	steps  int
	shadow int // number of recoveries after a part of a plan
	slept  int // number of hibernations
}

type timer struct {
	at  time.Time
	msg any
}

// errUnknown is the error of a write whose result is unknown.
var errUnknown = errors.New("the disk did not answer")

func newWorld(seed uint64) *world {
	w := &world{rnd: rand.New(rand.NewPCG(seed, 7)), now: time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC), disk: filestoretest.NewDisk(), runs: map[string]bool{}}
	group := w.rnd.IntN(4) == 0
	adapter := decision.Adapter{Ref: "adapter", Outbox: w.rnd.IntN(5) > 0, ToolEgress: w.rnd.IntN(2) == 0, Drafts: w.rnd.IntN(2) == 0, Typing: true, Reactions: w.rnd.IntN(3) == 0}
	o := decision.Options{
		Adapter:   func(string) (decision.Adapter, bool) { return adapter, true },
		Documents: func(messages.ChatKey) decision.Documents { return decision.Documents{Agent: "Be kind."} },
		Tools:     func(messages.ChatKey, bool) (offered, later []string) { return []string{"look", "act", "ask"}, nil },
		Mode:      []string{decision.ModeMerge, decision.ModeFollowup, decision.ModeInterrupt}[w.rnd.IntN(3)],
		MaxQueued: 6, FairToSenders: w.rnd.IntN(2) == 0, Compacts: true, KeepLast: 4, MaxTokens: 300,
		Remembers: w.rnd.IntN(2) == 0, MemoryTurns: 6, Contexts: true, Audits: true, RecordsRuns: true, Obeys: true, Location: time.UTC,
		MayDecide: func(c approval.Claim) bool { return c.Person == "alice" },
		Models: func() []decision.ModelChoice {
			return []decision.ModelChoice{{Name: decision.MainModel}, {Name: "fast", Label: "fast-1", Efforts: []string{"off", "high"}}}
		},
		MayChoose: func(decision.Command) bool { return true },
	}
	if w.rnd.IntN(3) == 0 {
		o.Debounce = time.Second
	}
	if group {
		o.GroupContext = func(messages.ChatKey) int { return 3 }
	}
	o.Paused = func(messages.ChatKey) bool { return w.paused }
	o = o.WithDefaults()
	w.opts = &o
	w.start()
	return w
}

func (w *world) fail(format string, args ...any) {
	w.failed = append(w.failed, fmt.Sprintf(format, args...))
}

// archive is the part of the store that the chat reads.
type archive struct {
	persistence.Chat
	all persistence.Store
}

func (a archive) Contexts(ctx context.Context) ([]journal.ContextItem, error) {
	return a.all.Contexts(ctx, testChat)
}

func (a archive) ReadContext(ctx context.Context, id string) (journal.Context, error) {
	return a.all.ReadContext(ctx, testChat, id)
}

// start starts the chat again from what is on disk.
func (w *world) start() {
	w.asleep = false
	w.disk = w.disk.Kill()
	store, err := filestoretest.Open(w.disk, filestore.Options{})
	if err != nil {
		w.fail("open the store: %v", err)
		return
	}
	w.store = store
	w.m = machine.New(w.opts, testChat, &sync.Pool{})
	w.load()
}

// load loads the chat and lets it continue.
func (w *world) load() {
	w.timers, w.child, w.run, w.rows = map[string]timer{}, map[string]any{}, nil, nil
	if w.chat != nil {
		_ = w.chat.Close() // it may belong to an earlier start
	}
	chat, err := w.store.OpenChat(context.Background(), testChat)
	if err != nil {
		w.fail("open: %v", err)
		return
	}
	w.chat = chat
	state, meta, err := w.replayed()
	if err != nil {
		w.fail("load: %v", err)
		return
	}
	w.m.Load(state, meta, archive{w.chat, w.store}, w.now)
	w.decide(decision.Loaded{}, nil, "")
}

func (w *world) replayed() (*journal.State, journal.Meta, error) {
	snap, err := w.chat.Load(context.Background())
	if err != nil {
		return nil, journal.Meta{}, err
	}
	state, err := journal.Replay(snap)
	return state, snap.Meta, err
}

// newID generates the same ids when the same input is decided again.
func newID(first int) func(time.Time) string {
	n := first
	return func(time.Time) string {
		n++
		return fmt.Sprintf("%08d", n)
	}
}

// decide does what the shell of a chat does: it decides, writes, commits and runs the effects, and then asks what
// follows.
func (w *world) decide(msg any, sender decision.Ref, child string) {
	if w.asleep {
		w.asleep, w.m = false, w.m.Hibernated()()
		w.load()
	}
	if !w.perform(decision.Input{Msg: msg, Sender: sender, Child: child}) {
		return
	}
	for range 16 {
		if !w.perform(decision.Input{Msg: decision.Idle{}}) || w.m.Rests() {
			return
		}
	}
	w.fail("after %T the chat does not come to rest", msg)
}

func (w *world) perform(in decision.Input) bool {
	if len(w.failed) > 0 {
		return false
	}
	w.steps++
	in.Now, in.NewID = w.now, newID(w.ids)
	p := w.m.Decide(in)
	in.NewID = newID(w.ids)
	if again := w.m.Decide(in); !samePlan(p, again) {
		w.fail("%T is decided in two ways:\n%+v\n%+v", in.Msg, p, again)
	}
	w.ids += 32
	if first, err := w.write(p); err != nil {
		return w.notWritten(in, p, first, err)
	}
	w.m = p.Commit()
	w.check(in)
	for _, e := range p.Effects {
		w.effect(e)
	}
	return !w.asleep
}

func samePlan(a, b machine.Plan) bool {
	return a.Wake == b.Wake && a.Rest == b.Rest && a.MayRefuse == b.MayRefuse && reflect.DeepEqual(a.IfRefused, b.IfRefused) &&
		reflect.DeepEqual(a.Files, b.Files) && reflect.DeepEqual(a.Grants, b.Grants) && reflect.DeepEqual(a.Writes, b.Writes) && reflect.DeepEqual(a.Effects, b.Effects)
}

// write makes a plan durable. Sometimes the disk refuses a write or does not report its result. After each write, a
// recovery of the chat from disk is tried.
func (w *world) write(p machine.Plan) (first bool, err error) {
	ctx := context.Background()
	for i, one := range p.Writes {
		fault := w.rnd.IntN(200)
		switch {
		case w.calm:
			fault = 200
		case fault == 0:
			return i == 0, &persistence.Error{Op: "test", Cause: errUnknown, Retryable: true}
		case fault == 1:
			return i == 0, errUnknown
		}
		switch {
		case one.Turn != nil:
			err = w.chat.AppendHistory(ctx, *one.Turn)
		case one.Checkpoint != nil:
			err = w.chat.Checkpoint(ctx, *one.Checkpoint)
		case one.Rewrite != nil:
			err = w.chat.Rewrite(ctx, *one.Rewrite)
		case one.Durable:
			err = w.chat.Append(ctx, one.Records...)
		default:
			err = w.chat.Note(ctx, one.Records...)
		}
		if err == nil && fault == 2 {
			err = errUnknown
		}
		if err != nil {
			return i == 0, err
		}
		if len(p.Writes) > 1 || w.rnd.IntN(8) == 0 {
			w.recovers()
		}
	}
	return true, nil
}

func (w *world) notWritten(in decision.Input, p machine.Plan, first bool, err error) bool {
	e, ok := errors.AsType[*persistence.Error](err)
	clean := ok && e.Retryable
	switch {
	case first && clean && (p.MayRefuse || p.IfRefused != nil):
	case clean && p.IfRefused != nil:
		state, _, err := w.replayed()
		if err != nil {
			w.fail("reload: %v", err)
			return false
		}
		w.m.Reload(state)
	default:
		w.m = w.m.Left()
		w.load()
		return false
	}
	if p.IfRefused != nil {
		return w.perform(decision.Input{Msg: p.IfRefused, Sender: in.Sender, Err: err})
	}
	w.perform(decision.Input{Msg: decision.Refused{Of: in.Msg}, Sender: in.Sender, Err: err})
	return false
}

// recovers starts a chat from what is on disk now, as after a crash, until there is nothing left to do. Its plans are
// not carried out.
func (w *world) recovers() {
	w.shadow++
	state, meta, err := w.replayed()
	if err != nil {
		w.fail("replay after a crash: %v", err)
		return
	}
	if !state.Balanced() {
		w.fail("after a crash the counts do not add up: %+v, %d open", state.Counts(), state.OpenTurns())
	}
	m := machine.New(w.opts, testChat, &sync.Pool{})
	m.Load(state, meta, archive{w.chat, w.store}, w.now)
	var msg any = decision.Loaded{}
	for range 18 {
		p := m.Decide(decision.Input{Now: w.now, NewID: newID(w.ids + 1000), Msg: msg})
		m, msg = p.Commit(), decision.Idle{}
		if m.Rests() {
			return
		}
	}
	w.fail("a chat that was recovered does not come to rest")
}

// check compares the chat with the state that its facts build.
func (w *world) check(in decision.Input) {
	state := w.m.State
	if !state.Balanced() {
		w.fail("after %T the counts do not add up: %+v, %d open", in.Msg, state.Counts(), state.OpenTurns())
	}
	if w.steps%4 > 0 {
		return
	}
	replayed, _, err := w.replayed()
	if err != nil {
		w.fail("replay after %T: %v", in.Msg, err)
		return
	}
	if live, kept := digest(state), digest(replayed); live != kept {
		w.fail("after %T the disk holds another chat:\nlive %s\nkept %s", in.Msg, live, kept)
	}
}

// digest describes the part of a state that a crash must not change.
func digest(s *journal.State) string {
	var b strings.Builder
	turn := func(name string, t journal.Turn) {
		fmt.Fprintf(&b, "%s %s %s %d\n", name, t.ID, t.Metadata, len(t.Parts))
	}
	for _, t := range s.History {
		turn("turn", t)
	}
	for _, t := range s.Lane {
		turn("waits", t)
	}
	for _, t := range s.Said {
		turn("said", t)
	}
	if r := s.Run; r != nil {
		fmt.Fprintf(&b, "run %s %s %d %d %v %v\n", r.ID, r.MessageID, r.Step, len(r.Parts), r.Visible, slices.Sorted(maps.Keys(r.Begun)))
	}
	for _, row := range s.Outbox {
		fmt.Fprintf(&b, "row %v %q %v %v\n", row.Key, row.Text, row.Parked, row.Sent)
	}
	for _, a := range s.OpenRequests() {
		fmt.Fprintf(&b, "asks %s #%d\n", a.Request.ID, a.Request.N)
	}
	counts := s.Counts()
	fmt.Fprintf(&b, "%d parked, %d accepted, %d open, %v", len(s.Quarantine), counts.Accepted, s.OpenTurns(), fates(s.Fates()))
	return b.String()
}

func fates(all iter.Seq2[journal.Fate, int64]) []string {
	var out []string
	for fate, n := range all {
		out = append(out, fmt.Sprint(fate, n))
	}
	slices.Sort(out)
	return out
}

// effect carries out an effect, as far as this world supports it.
func (w *world) effect(e decision.Effect) {
	switch e := e.(type) {
	case decision.Start:
		w.child[e.Name] = e.Msg
		if start, ok := e.Msg.(messages.StartRun); ok {
			if w.run != nil {
				w.fail("two runs at once")
			}
			if id := string(start.RunID); w.paused && !w.runs[id] {
				w.fail("the run %s starts while the chat is paused", id)
			} else {
				w.runs[id] = true
			}
			w.strict(start.Input)
			w.run = newRun(e.Name, start)
		}
	case decision.Stop:
		delete(w.child, e.Name)
		if w.run != nil && w.run.name == e.Name {
			w.run = nil
		}
	case decision.Tell:
		if w.run != nil && w.run.name == e.Name {
			w.tellRun(e.Msg)
		}
	case decision.SetTimer:
		delete(w.timers, e.Name)
		if e.Msg != nil {
			w.timers[e.Name] = timer{w.now.Add(e.After), e.Msg}
		}
	case decision.Send:
		switch msg := e.Msg.(type) {
		case messages.Deliver:
			w.rows = append(w.rows, msg)
		case messages.IngressAccepted, messages.IngressRejected:
		default: // for people, watchers and the platform
		}
	case decision.Hibernate:
		if s := w.m.State; w.run != nil || len(w.child)+s.OpenTurns()+len(s.Pending())+len(s.OpenRequests()) > 0 {
			w.fail("the chat hibernates although it has work")
		}
		w.asleep, w.slept, w.timers = true, w.slept+1, map[string]timer{}
	case decision.Resend:
		w.decide(e.Msg, e.Sender, "")
	case decision.RunCommand:
		w.decide(decision.Commanded{Msg: e.Msg, Words: "Done.", Known: true}, e.Sender, "")
	default: // has no consequences in this world
	}
}

func (w *world) tellRun(msg any) {
	switch msg := msg.(type) {
	case messages.ContinueRun:
		w.strict(msg.Input)
		w.run.goOn(msg)
	case messages.ExecuteCalls:
		w.run.running = true
	case messages.InputShortened:
		w.run.asked = false
	default: // changes nothing here
	}
}

// strict validates a request like the strictest provider.
func (w *world) strict(in messages.StepInput) {
	req := model.Request{System: "s", Messages: in.Messages}
	for _, name := range []string{"look", "act", "ask"} {
		req.Tools = append(req.Tools, model.ToolSpec{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)})
	}
	if err := modeltest.Strict(req); err != nil {
		w.fail("a request is refused: %v\n%s", err, roles(in.Messages))
	}
}

func roles(list []modelmessage.Message) string {
	var out []string
	for _, m := range list {
		out = append(out, fmt.Sprintf("%s %q %+v", m.Role, m.Text, m.Parts))
	}
	return strings.Join(out, "\n")
}

func (w *world) user(who, text string) messages.AcceptIngress {
	w.words++
	id := fmt.Sprint(w.words)
	w.order++
	meta := uimessage.Metadata{
		TS: w.now.UnixMilli(), ChatKey: string(testChat), Channel: "telegram", ChatID: "7", ChatType: "private", UserID: who, Username: who,
		MessageID: id, IngressID: "telegram:7:" + id, RequestID: "q" + id, Kind: uimessage.KindNormal, Source: uimessage.SourceIngress,
	}
	if w.opts.GroupContext != nil {
		meta.ChatType = "group"
	}
	return messages.AcceptIngress{
		ChatKey: testChat, RequestID: meta.RequestID, IngressID: meta.IngressID, Verdict: messages.VerdictOpen, Order: w.order,
		Turn: uimessage.Message{ID: "u:" + string(testChat) + ":" + id, Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: text}}, Metadata: meta.Append(nil)},
	}
}
