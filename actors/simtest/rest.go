package simtest

import (
	"context"
	"time"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// restLimit is how many tasks may run until all work is complete.
const restLimit = 200_000

// rest ends the faults and lets time pass until no work is left; then it checks all guarantees that
// apply at the end.
func (s *Sim) rest() {
	if s.err != "" {
		return
	}
	s.resting = true
	s.o.Disk.Heal()
	s.trace.add("no faults from here on")
	if s.dieIn > 0 {
		s.dieIn = 0
	}
	until := time.Now().Add(3 * time.Hour)
	for n := 0; time.Now().Before(until) && s.err == ""; n++ {
		if n > restLimit {
			s.failf("no rest after %d tasks", n)
			return
		}
		switch {
		case s.crash != "":
			s.reborn()
		case len(s.sched.ready) > 0:
			s.step()
		default:
			s.answer()
			s.sched.idle(time.Minute)
		}
		s.check()
	}
	if s.err == "" {
		s.settled()
	}
}

// answer makes people decide some of the requests that they see.
func (s *Sim) answer() {
	for _, key := range s.setup.chats {
		if len(s.people.shown(key)) > 0 && s.chance(30) {
			s.people.decide(key)
			s.sched.settle()
		}
	}
}

// settled checks the final state.
func (s *Sim) settled() {
	for _, in := range s.people.posts {
		if !in.acked {
			s.failf("P1 %s %s was never accepted", in.ChatKey, in.IngressID)
		}
	}
	for _, w := range s.order {
		if w.state != nil {
			w.atRest()
		}
	}
	for k, e := range s.effects {
		if !s.told[k] && (e.name == "act" || e.name == "ask") {
			s.failf("P11 %s %d happened and no history tells", e.name, k)
		}
	}
}

// atRest checks that nothing is open, that every fate is in the ledger once, and that every message
// that people see is in it with its receipt.
func (w *witness) atRest() {
	if w.state.Run != nil || len(w.state.Open()) > 0 || len(w.state.Pending()) > 0 || len(w.state.OpenRequests()) > 0 {
		w.fail("P1 not at rest: run %v, %d open, %d rows, %d requests",
			w.state.Run != nil, len(w.state.Open()), len(w.state.Pending()), len(w.state.OpenRequests()))
		return
	}
	for _, t := range w.state.History {
		for _, p := range t.Parts {
			c, ok := p.(uimessage.Tool)
			if !ok {
				continue
			}
			w.sim.tells(c)
			if !c.State.Settled() && c.State != uimessage.ToolApprovalRequested {
				w.fail("P11 call %s of %s has no outcome: %s", c.ToolCallID, t.ID, c.State)
			}
		}
	}
	w.books()
}

// books checks the ledger against what people did and see.
func (w *witness) books() {
	c, err := w.sim.life.store.Store.OpenChat(context.Background(), w.key)
	if err != nil {
		w.fail("P1 the chat was not passivated: %v", err)
		return
	}
	fates := map[string]int{}
	delivered := map[string]bool{}
	maybe := map[string]bool{}
	for e, err := range c.Ledger(context.Background()) {
		if err != nil {
			w.fail("the ledger cannot be read: %v", err)
			return
		}
		if e.Dir == journal.DirIn {
			fates[e.RequestID]++
			continue
		}
		for _, id := range e.Receipt {
			delivered[id], maybe[id] = true, e.Maybe
		}
	}
	for _, in := range w.sim.people.acked[w.key] {
		if n := fates[in.RequestID]; n != 1 {
			w.fail("P1 %s has %d fates in the ledger", in.IngressID, n)
		}
	}
	for _, m := range w.sim.sent.list {
		if m.key != w.key {
			continue
		}
		at := string(m.key) + "\n" + m.text
		if delivered[m.id] && w.sim.sent.copies[at] > 1 && w.sim.unique(m.text) && !maybe[m.id] {
			w.fail("P2 %q stands %d times and is not marked", m.text, w.sim.sent.copies[at])
		}
	}
}

// end releases everything, so that the bubble can end.
func (s *Sim) end() {
	close(s.life.ended)
	s.o.Disk.Crash(false, s.rnd.IntN)
	s.system.Shutdown()
	s.sched.pass(5 * time.Minute)
}
