package machine_test

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// TestAnyOrderOfEvents plays a chat without actors: people, a platform, runs, compactions, timers, changed settings,
// failing writes and crashes, in random order. At every decision
//
//   - deciding again from the same chat gives the same plan;
//   - there is nothing left to do within 16 rounds;
//   - the number of accepted messages equals the number of their fates and of those still open;
//   - the chat equals the state that its facts build, and a chat that starts after any prefix of the writes of a
//     plan also comes to rest;
//   - at most one run is in progress, and the strictest provider accepts every request.
//
// It makes ten thousand decisions, 200,000 with SOAK=short and a million with SOAK=1. MACHINE_SEED plays one world.
func TestAnyOrderOfEvents(t *testing.T) {
	most := map[string]int{"": 10_000, "short": 200_000}[os.Getenv("SOAK")]
	if most == 0 {
		most = 1_000_000
	}
	if seed, err := strconv.ParseUint(os.Getenv("MACHINE_SEED"), 10, 64); err == nil {
		playWorld(t, seed)
		return
	}
	began := time.Now()
	var seeds, steps, shadows, slept atomic.Int64
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for steps.Load() < int64(most) && !t.Failed() {
				w := playWorld(t, uint64(seeds.Add(1)))
				steps.Add(int64(w.steps))
				shadows.Add(int64(w.shadow))
				slept.Add(int64(w.slept))
			}
		})
	}
	all.Wait()
	t.Logf("soak: row=RL11 decisions=%d recoveries=%d hibernations=%d worlds=%d seconds=%.0f", steps.Load(), shadows.Load(), slept.Load(), seeds.Load(), time.Since(began).Seconds())
}

func playWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	w := newWorld(seed)
	var script []string
	for range 40 + w.rnd.IntN(80) {
		script = append(script, w.next())
		if len(w.failed) > 0 {
			t.Errorf("MACHINE_SEED=%d after %v: %s", seed, script[max(0, len(script)-12):], w.failed[0])
			return w
		}
	}
	w.settle()
	if len(w.failed) > 0 {
		t.Errorf("MACHINE_SEED=%d in the end, after %v: %s", seed, script[max(0, len(script)-12):], w.failed[0])
	}
	return w
}

// next performs one random event.
func (w *world) next() string {
	w.now = w.now.Add(time.Duration(w.rnd.IntN(900)) * time.Millisecond)
	switch n := w.rnd.IntN(100); {
	case n < 16:
		w.decide(w.user([]string{"alice", "bob"}[w.rnd.IntN(2)], "hello"), "platform", "")
		return "hello"
	case n < 48 && w.run != nil:
		w.act()
		return "run"
	case n < 62 && len(w.rows) > 0:
		return w.deliver()
	case n < 70 && len(w.timers) > 0:
		return w.fire()
	case n < 75:
		return w.fromChild()
	case n < 82:
		return w.decideRequest()
	case n < 86:
		return w.command()
	case n < 88:
		w.decide(messages.StopRun{ChatKey: testChat, RequestID: "s" + strconv.Itoa(w.ids), By: "alice", All: w.rnd.IntN(2) == 0}, "platform", "")
		return "stop"
	case n < 91:
		w.start()
		return "crash"
	case n < 92:
		w.now = w.now.Add(11 * time.Minute)
		w.start()
		return "crash later"
	case n < 94:
		w.decide(messages.AskPassivate{}, "shard", "")
		return "passivate"
	case n < 95:
		return w.rewind()
	case n < 96:
		w.paused = !w.paused
		w.decide(messages.WakeChat{ChatKey: testChat}, nil, "")
		return "pause or resume"
	case n < 98:
		return w.changeSettings()
	default:
		w.now = w.now.Add([]time.Duration{time.Second, time.Minute, 31 * time.Minute}[w.rnd.IntN(3)])
		return "wait"
	}
}

// changeSettings makes other settings count from the next decision on.
func (w *world) changeSettings() string {
	o := *w.opts
	o.Mode = []string{decision.ModeMerge, decision.ModeFollowup, decision.ModeInterrupt}[w.rnd.IntN(3)]
	o.MaxQueued, o.FairToSenders, o.Debounce = 1+w.rnd.IntN(6), w.rnd.IntN(2) == 0, time.Duration(w.rnd.IntN(2))*time.Second
	o.KeepLast, o.MaxTokens, o.MaxSends, o.RepeatSends = 2+w.rnd.IntN(4), 200+w.rnd.IntN(300), 1+w.rnd.IntN(4), w.rnd.IntN(2) == 0
	o.Remembers, o.MemoryTurns = w.rnd.IntN(2) == 0, 2+w.rnd.IntN(6)
	o.MemoryGroups = []decision.MemoryGroups{decision.MemoryAuto, decision.MemoryAsk, decision.MemoryOff}[w.rnd.IntN(3)]
	w.opts, w.m.Options = &o, &o
	return "other settings"
}

// deliver makes the platform take a row, refuse it, or lose the confirmation.
func (w *world) deliver() string {
	i := w.rnd.IntN(len(w.rows))
	row := w.rows[i]
	w.rows = slices.Delete(w.rows, i, i+1)
	w.order++
	receipt := messages.Receipt{ID: strconv.FormatInt(w.order, 10), Order: w.order}
	switch w.rnd.IntN(6) {
	case 0:
		w.decide(messages.EgressFailed{ChatKey: testChat, Row: row.Row, Reason: "blocked", Tries: 1}, "adapter", "")
		return "refused"
	case 1:
		w.decide(messages.EgressProgressed{ChatKey: testChat, Row: row.Row, Part: len(row.Sent), Receipt: receipt}, "adapter", "")
		w.rows = append(w.rows, row)
		return "part"
	}
	w.decide(messages.EgressDelivered{ChatKey: testChat, Row: row.Row, Receipts: append(slices.Clone(row.Sent), receipt)}, "adapter", "")
	return "delivered"
}

// fire fires a timer that is due, or the next one.
func (w *world) fire() string {
	name := ""
	for _, n := range slices.Sorted(maps.Keys(w.timers)) {
		if name == "" || w.timers[n].at.Before(w.timers[name].at) {
			name = n
		}
	}
	due := w.timers[name]
	delete(w.timers, name)
	if due.at.After(w.now) {
		w.now = due.at
	}
	w.decide(due.msg, nil, "")
	return "timer " + name
}

// fromChild ends a compaction or an extraction.
func (w *world) fromChild() string {
	for _, name := range slices.Sorted(maps.Keys(w.child)) {
		switch msg := w.child[name].(type) {
		case messages.Compact:
			w.compacted(name, msg)
			return "compacted"
		case messages.ExtractMemory:
			w.decide(messages.MemoryExtracted{ChatKey: testChat, ExtractionID: msg.ExtractionID, Result: messages.ResultRemembered, Facts: 1}, name, name)
			return "remembered"
		}
	}
	return "nothing"
}

func (w *world) compacted(name string, msg messages.Compact) {
	done := messages.CompactionFinished{ChatKey: testChat, CompactionID: msg.CompactionID, Result: messages.ResultNothing, System: 10}
	to := 0
	for i, t := range msg.Turns {
		if t.Waits {
			break
		}
		if t.Ends && i < len(msg.Turns)-1 {
			to = i + 1
		}
		done.Tokens = append(done.Tokens, 30)
	}
	done.Tokens = done.Tokens[:0]
	for range msg.Turns {
		done.Tokens = append(done.Tokens, 30)
	}
	if to > 0 && w.rnd.IntN(5) > 0 {
		turns := make([]uimessage.Message, to)
		for i := range turns {
			turns[i] = msg.Turns[i].Message
		}
		done.Result, done.To, done.Hash, done.Summary, done.SummaryTokens = messages.ResultCompacted, to, messages.PrefixHash(turns), "So far.", 5
		done.Range = uimessage.SourceRange{FromID: turns[0].ID, ToID: turns[to-1].ID, Count: int64(to)}
	}
	w.decide(done, name, name)
}

// decideRequest decides a request, in words or by its id.
func (w *world) decideRequest() string {
	open := w.m.State.OpenRequests()
	if len(open) == 0 {
		return "nothing"
	}
	a := open[w.rnd.IntN(len(open))]
	if w.rnd.IntN(2) == 0 {
		words := []string{"yes", "no", fmt.Sprintf("/approve %d", a.Request.N), fmt.Sprintf("/deny %d", a.Request.N)}[w.rnd.IntN(4)]
		w.decide(w.user([]string{"alice", "bob"}[w.rnd.IntN(2)], words), "platform", "")
		return words
	}
	say := []messages.Decision{{ApprovalID: a.Request.ID, Approved: w.rnd.IntN(3) > 0, Digest: a.Request.Digest}}
	w.decide(messages.DecideApproval{ChatKey: testChat, RequestID: "d" + strconv.Itoa(w.ids), By: messages.Asker{Platform: "telegram", ID: "alice"}, Say: say}, "platform", "")
	return "press"
}

func (w *world) command() string {
	msg := w.user("alice", "")
	msg.Verdict, msg.Command = messages.VerdictCommand, []string{"stop", "new", "contexts", "load", "compact", "status", "model"}[w.rnd.IntN(7)]
	msg.Args = []string{"", "all", "1", "fast", "main", "fast high", "off"}[w.rnd.IntN(7)]
	w.decide(msg, "platform", "")
	return "/" + msg.Command + " " + msg.Args
}

func (w *world) rewind() string {
	history := w.m.State.History
	if len(history) == 0 {
		return "nothing"
	}
	w.decide(messages.RewindChat{ChatKey: testChat, Keep: history[w.rnd.IntN(len(history))].ID}, "platform", "")
	return "rewind"
}

// settle lets everything finish. At the end no run is in progress and no message is open.
func (w *world) settle() {
	w.calm, w.paused = true, false
	w.decide(messages.WakeChat{ChatKey: testChat}, nil, "")
	for range 400 {
		switch {
		case len(w.failed) > 0:
			return
		case w.run != nil && !w.run.asked:
			w.act()
		case len(w.rows) > 0:
			w.deliver()
		case len(w.child) > 0:
			w.fromChild()
		case len(w.timers) > 0 && w.m.State.OpenTurns() > 0:
			w.fire()
		default:
			w.now = w.now.Add(time.Second)
		}
		if s := w.m.State; s != nil && s.Run == nil && s.OpenTurns() == 0 && len(w.rows) == 0 && len(w.child) == 0 {
			return
		}
	}
	s := w.m.State
	w.fail("the chat does not end: run %+v, %d open, rows %v, children %v, timers %v", w.run, s.OpenTurns(), w.rows, w.child, w.timers)
}
