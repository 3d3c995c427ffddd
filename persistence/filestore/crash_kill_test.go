package filestore_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// A killed process leaves names and contents without an fsync. The next one acts on what it reads
// of a marked chat, if only by answering that a message is known, so no power cut may undo that:
// neither right after reading, nor when the chat rests, nor when it is written again. What it writes
// then stays as well.
func TestST2WhatWasReadAfterAKillStays(t *testing.T) {
	l, ctx := newLife(t, 0, 0), t.Context()
	s, err := filestoretest.Open(l.disk, l.options)
	must(t, err)
	c, err := s.OpenChat(ctx, crashKey)
	must(t, err)
	_, err = look(ctx, false, c, nil)
	must(t, err)
	kills, states := 0, 0
	for n, st := range protocol() {
		l.disk.After(func(op filestoretest.Op) {
			if !op.Changes() || !marked(l.disk) {
				return
			}
			kills++
			for name, then := range afterKill() {
				looked, err := l.readAfterKill(ctx, l.disk.Kill(), then)
				if err != nil {
					t.Fatalf("step %d (%s), killed behind %v, then %s: %v", n, st.name, op, name, err)
				}
				states += looked
			}
		})
		must(t, st.do(ctx, c))
		l.disk.After(nil)
		if st.rest {
			must(t, c.Close())
			c, err = s.OpenChat(ctx, crashKey)
			must(t, err)
			_, err = look(ctx, false, c, nil)
			must(t, err)
		}
	}
	must(t, s.Close())
	t.Logf("%d ends of the process, %d states after a power cut", kills, states)
}

// afterKill are the possible actions of the next process.
func afterKill() map[string][]step {
	return map[string][]step{
		"nothing":       nil,
		"rest":          {{rest: true}},
		"rest and wake": {{rest: true}, {wake: true}},
		"write":         {{wake: true}, {records: record(1000, journal.IngressSettled{Ingress: journal.Ingress{ID: "late", Seq: 99}, Fate: journal.FateIgnored})}},
	}
}

// readAfterKill reads the chat like the next process, continues, cuts the power and compares the
// result with what was read and written.
func (l *life) readAfterKill(ctx context.Context, d *filestoretest.Disk, then []step) (states int, err error) {
	s, err := filestoretest.Open(d, l.options)
	if err != nil {
		return 0, err
	}
	c, err := s.OpenChat(ctx, crashKey)
	if err != nil {
		return 0, err
	}
	was, err := look(ctx, true, c, nil)
	if err != nil {
		return 0, err
	}
	for _, st := range then {
		if err := st.do(ctx, c); err != nil {
			return 0, err
		}
		for _, r := range st.numbered() {
			was.journal = append(was.journal, string(journal.AppendRecord(nil, r)))
		}
	}
	l.seed++
	for left := range d.CrashStates(4, l.seed) {
		states++
		v, err := lookAt(ctx, left, l)
		switch {
		case err != nil:
			return states, err
		case !slices.Equal(v.history, was.history):
			return states, fmt.Errorf("state %d: %w", states, diff("history", was.history, was.history, v.history))
		case !slices.Equal(v.journal, was.journal):
			return states, fmt.Errorf("state %d: %w", states, diff("journal", was.journal, was.journal, v.journal))
		}
	}
	return states, nil
}

// lookAt opens the store on a disk and reads the chat.
func lookAt(ctx context.Context, d *filestoretest.Disk, l *life) (view, error) {
	s, err := filestoretest.Open(d, l.options)
	if err != nil {
		return view{}, err
	}
	c, err := s.OpenChat(ctx, crashKey)
	if err != nil {
		return view{}, err
	}
	return look(ctx, true, c, nil)
}
