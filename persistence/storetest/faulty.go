package storetest

import (
	"context"
	"errors"
	"iter"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Hook does one operation of a store, whose name is open, load, append, note, history, checkpoint,
// ledger, rewrite, archive, wake or rest. do does what the store underneath does; a hook that
// returns an error without calling it is a fault before the operation, and one that returns
// another error than do is a fault after it. records are those of append and note.
type Hook func(op string, key messages.ChatKey, records []journal.Record, do func() error) error

// Faulty is a store whose operations a hook does, for the tests of those who use one.
type Faulty struct {
	persistence.Store
	hook Hook
}

// NewFaulty puts a hook before a store. [Full] and [Broken] are errors for it to return. After one
// of its errors that is not retryable, the chat fails with [persistence.ErrReadOnly] until it is
// opened anew. Chats call the hook concurrently.
func NewFaulty(s persistence.Store, hook Hook) *Faulty { return &Faulty{Store: s, hook: hook} }

// Full is the error of a full disk: the operation may be repeated.
func Full(key messages.ChatKey) error {
	return &persistence.Error{Op: "write", Chat: string(key), Cause: persistence.ErrFull, Retryable: true}
}

// Broken is the error of a failed fsync: it is final for the handle.
func Broken(key messages.ChatKey, cause error) error {
	return &persistence.Error{Op: "write", Chat: string(key), Cause: cause}
}

// OpenChat implements [persistence.Store].
func (f *Faulty) OpenChat(ctx context.Context, key messages.ChatKey) (c persistence.Chat, err error) {
	err = f.hook("open", key, nil, func() (err error) {
		c, err = f.Store.OpenChat(ctx, key)
		return err
	})
	if err != nil {
		if c != nil {
			_ = c.Close() // the fault came after it
		}
		return nil, err
	}
	return &faultyChat{Chat: c, hook: f.hook, key: key}, nil
}

type faultyChat struct {
	persistence.Chat
	hook   Hook
	key    messages.ChatKey
	broken bool
}

// read does an operation that may follow a final error.
func (c *faultyChat) read(op string, do func() error) error { return c.hook(op, c.key, nil, do) }

// change does an operation that must be durable.
func (c *faultyChat) change(op string, records []journal.Record, do func() error) error {
	if c.broken {
		return &persistence.Error{Op: op, Chat: string(c.key), Cause: persistence.ErrReadOnly}
	}
	var own error // the store knows what follows from its own errors
	err := c.hook(op, c.key, records, func() error {
		own = do()
		return own
	})
	if err != nil && !errors.Is(err, own) {
		e, ok := errors.AsType[*persistence.Error](err)
		c.broken = !ok || !e.Retryable
	}
	return err
}

func (c *faultyChat) Load(ctx context.Context) (snap journal.Snapshot, err error) {
	err = c.read("load", func() (err error) {
		snap, err = c.Chat.Load(ctx)
		return err
	})
	return snap, err
}

func (c *faultyChat) Append(ctx context.Context, records ...journal.Record) error {
	return c.change("append", records, func() error { return c.Chat.Append(ctx, records...) })
}

func (c *faultyChat) Note(ctx context.Context, records ...journal.Record) error {
	return c.change("note", records, func() error { return c.Chat.Note(ctx, records...) })
}

func (c *faultyChat) AppendHistory(ctx context.Context, turns ...uimessage.Message) error {
	return c.change("history", nil, func() error { return c.Chat.AppendHistory(ctx, turns...) })
}

func (c *faultyChat) Checkpoint(ctx context.Context, checkpoint journal.Checkpoint) error {
	return c.change("checkpoint", nil, func() error { return c.Chat.Checkpoint(ctx, checkpoint) })
}

func (c *faultyChat) Ledger(ctx context.Context) iter.Seq2[journal.LedgerEntry, error] {
	if err := c.read("ledger", func() error { return nil }); err != nil {
		return func(yield func(journal.LedgerEntry, error) bool) { yield(journal.LedgerEntry{}, err) }
	}
	return c.Chat.Ledger(ctx)
}

func (c *faultyChat) Rewrite(ctx context.Context, r journal.Rewrite) error {
	return c.change("rewrite", nil, func() error { return c.Chat.Rewrite(ctx, r) })
}

func (c *faultyChat) ReadArchive(ctx context.Context, id string) (a journal.Archive, err error) {
	err = c.read("archive", func() (err error) {
		a, err = c.Chat.ReadArchive(ctx, id)
		return err
	})
	return a, err
}

func (c *faultyChat) Wake(ctx context.Context) error {
	return c.change("wake", nil, func() error { return c.Chat.Wake(ctx) })
}

func (c *faultyChat) Rest(ctx context.Context) error {
	return c.change("rest", nil, func() error { return c.Chat.Rest(ctx) })
}
