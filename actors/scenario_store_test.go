package actors_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

// faulty is a store whose operations fail as a script says. An operation goes by
// its name (open, load, history, checkpoint, ledger, rewrite, archive,
// wake, rest) and, when it writes
// to the journal, also by "write" and by the kinds of its facts.
type faulty struct {
	*storetest.Faulty

	mu     sync.Mutex
	dead   bool
	crash  string // the operation at which the process dies
	after  bool   // once it is done, not before
	faults []fault
	trace  []string // the operations so far
	// dieAt is the number of the operation at which the process dies, counted
	// from one over the whole trace; 0: none.
	dieAt int
	// failAt is the number of an operation that fails once, as by a full disk or
	// for good.
	failAt int
	full   bool
	// panicOn is an operation that panics, that many times.
	panicOn string
	panics  int
}

// fault makes an operation fail a number of times; a negative number: always.
type fault struct {
	op    string
	full  bool // refused without a trace, as by a full disk
	times int
}

func newFaulty(store persistence.Store) *faulty {
	s := &faulty{}
	s.Faulty = storetest.NewFaulty(store, func(op string, _ messages.ChatKey, records []journal.Record, do func() error) error {
		ops := []string{op}
		if op == "append" || op == "note" {
			ops = kinds(records)
		}
		return s.do(ops, do)
	})
	return s
}

var errBroken = errors.New("input/output error")

// do makes one operation, or fails as it is told to.
func (s *faulty) do(ops []string, op func() error) error {
	s.mu.Lock()
	s.trace = append(s.trace, strings.Join(ops, "+"))
	dies := s.crash != "" && slices.Contains(ops, s.crash) || s.dieAt == len(s.trace)
	if s.dead || dies && !s.after {
		s.dead = true
		s.mu.Unlock()
		return persistence.ErrClosed
	}
	if s.panics > 0 && slices.Contains(ops, s.panicOn) {
		s.panics--
		s.mu.Unlock()
		panic("scripted: " + s.panicOn)
	}
	err := s.refuse(ops)
	if s.failAt == len(s.trace) {
		err = failure(ops[0], s.full)
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	err = op()
	if dies {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.dead = true
		return persistence.ErrClosed
	}
	return err
}

func (s *faulty) refuse(ops []string) error {
	for i, f := range s.faults {
		if f.times == 0 || !slices.Contains(ops, f.op) {
			continue
		}
		s.faults[i].times--
		return failure(ops[0], f.full)
	}
	return nil
}

func failure(op string, full bool) error {
	if full {
		return &persistence.Error{Op: op, Cause: persistence.ErrFull, Retryable: true}
	}
	return &persistence.Error{Op: op, Cause: errBroken}
}

func (s *faulty) set(change func(*faulty)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// revive is the store of the next process.
func (s *faulty) revive() {
	s.set(func(s *faulty) { s.dead, s.crash, s.after, s.dieAt = false, "", false, 0 })
}

// kinds are the operations that a write to the journal is.
func kinds(records []journal.Record) []string {
	ops := []string{"write"}
	for _, r := range records {
		var head struct{ Kind string }
		_ = json.Unmarshal(journal.AppendRecord(nil, r), &head) // our own codec wrote it
		ops = append(ops, head.Kind)
	}
	return ops
}
