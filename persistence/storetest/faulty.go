package storetest

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Faulty is a store whose operations fail by plan, for the tests of those who
// use one. An operation that fails does not reach the store underneath.
type Faulty struct {
	persistence.Store

	mu   sync.Mutex
	n    int
	plan func(n int, op string, key messages.ChatKey) error
}

// NewFaulty puts faults before a store. plan is asked before every operation
// with its running number, counted from 1, and its name: open, load, append,
// note, history, fold, ledger, rewrite, archive, wake, rest. A nil error lets it
// pass; [Full] and [Broken] are errors to return. After an error that is not
// retryable the chat fails with [persistence.ErrReadOnly] until it is opened anew.
func NewFaulty(s persistence.Store, plan func(n int, op string, key messages.ChatKey) error) *Faulty {
	return &Faulty{Store: s, plan: plan}
}

// FailNth is a plan that fails the n-th operation that changes something.
func FailNth(n int, err error) func(int, string, messages.ChatKey) error {
	changes := 0
	return func(_ int, op string, _ messages.ChatKey) error {
		switch op {
		case "append", "note", "history", "fold", "rewrite", "wake":
			changes++
			if changes == n {
				return err
			}
		}
		return nil
	}
}

// Full is the error of a full disk: the operation may be repeated.
func Full(key messages.ChatKey) error {
	return &persistence.Error{Op: "write", Chat: string(key), Cause: persistence.ErrFull, Retryable: true}
}

// Broken is the error of a failed fsync: it is final for the handle.
func Broken(key messages.ChatKey, cause error) error {
	return &persistence.Error{Op: "write", Chat: string(key), Cause: cause}
}

// Operations is how many operations were asked for.
func (f *Faulty) Operations() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}

func (f *Faulty) ask(op string, key messages.ChatKey) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	return f.plan(f.n, op, key)
}

// OpenChat implements [persistence.Store].
func (f *Faulty) OpenChat(ctx context.Context, key messages.ChatKey) (persistence.Chat, error) {
	if err := f.ask("open", key); err != nil {
		return nil, err
	}
	c, err := f.Store.OpenChat(ctx, key)
	if err != nil {
		return nil, err
	}
	return &faultyChat{Chat: c, store: f, key: key}, nil
}

type faultyChat struct {
	persistence.Chat
	store  *Faulty
	key    messages.ChatKey
	broken bool
}

// change does an operation that must be durable, if the plan lets it.
func (c *faultyChat) change(op string, do func() error) error {
	if c.broken {
		return &persistence.Error{Op: op, Chat: string(c.key), Cause: persistence.ErrReadOnly}
	}
	err := c.store.ask(op, c.key)
	if err == nil {
		return do()
	}
	e, ok := errors.AsType[*persistence.Error](err)
	c.broken = !ok || !e.Retryable
	return err
}

func (c *faultyChat) Load(ctx context.Context) (journal.Snapshot, error) {
	if err := c.store.ask("load", c.key); err != nil {
		return journal.Snapshot{}, err
	}
	return c.Chat.Load(ctx)
}

func (c *faultyChat) Append(ctx context.Context, records ...journal.Record) error {
	return c.change("append", func() error { return c.Chat.Append(ctx, records...) })
}

func (c *faultyChat) Note(ctx context.Context, records ...journal.Record) error {
	return c.change("note", func() error { return c.Chat.Note(ctx, records...) })
}

func (c *faultyChat) AppendHistory(ctx context.Context, turns ...uimessage.Message) error {
	return c.change("history", func() error { return c.Chat.AppendHistory(ctx, turns...) })
}

func (c *faultyChat) Fold(ctx context.Context, fold journal.Fold) error {
	return c.change("fold", func() error { return c.Chat.Fold(ctx, fold) })
}

func (c *faultyChat) Ledger(ctx context.Context) iter.Seq2[journal.LedgerEntry, error] {
	if err := c.store.ask("ledger", c.key); err != nil {
		return func(yield func(journal.LedgerEntry, error) bool) { yield(journal.LedgerEntry{}, err) }
	}
	return c.Chat.Ledger(ctx)
}

func (c *faultyChat) Rewrite(ctx context.Context, r journal.Rewrite) error {
	return c.change("rewrite", func() error { return c.Chat.Rewrite(ctx, r) })
}

func (c *faultyChat) ReadArchive(ctx context.Context, id string) (journal.Archive, error) {
	if err := c.store.ask("archive", c.key); err != nil {
		return journal.Archive{}, err
	}
	return c.Chat.ReadArchive(ctx, id)
}

func (c *faultyChat) Wake(ctx context.Context) error {
	return c.change("wake", func() error { return c.Chat.Wake(ctx) })
}

func (c *faultyChat) Rest(ctx context.Context) error {
	if err := c.store.ask("rest", c.key); err != nil {
		return err
	}
	return c.Chat.Rest(ctx)
}
