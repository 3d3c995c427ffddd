package storetest_test

import (
	"errors"
	"io"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

const key messages.ChatKey = "test-chat-1"

// life uses every operation and stops at the first error.
func life(t *testing.T, s persistence.Store) error {
	t.Helper()
	ctx := t.Context()
	c, err := s.OpenChat(ctx, key)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	for _, step := range []func() error{
		func() error { return c.Wake(ctx) },
		func() error { return c.AppendHistory(ctx, storetest.Turn(1)) },
		func() error { return c.Append(ctx, storetest.Facts(1, 2)...) },
		func() error { return c.Note(ctx, storetest.Facts(3, 3)...) },
		func() error { return c.Checkpoint(ctx, journal.Checkpoint{Ledger: storetest.Entries(1, 2)}) },
		func() error { return c.Rewrite(ctx, journal.Rewrite{ArchiveID: "x", To: 1}) },
		func() error { _, err := c.ReadArchive(ctx, "x"); return err },
		func() error { return c.Rest(ctx) },
		func() error { _, err := c.Load(ctx); return err },
		func() error {
			for _, err := range c.Ledger(ctx) {
				if err != nil {
					return err
				}
			}
			return nil
		},
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func TestFaultyFailsTheNth(t *testing.T) {
	const operations = 11
	for n := 1; n <= operations+1; n++ {
		at := 0
		err := life(t, storetest.NewFaulty(filestoretest.New(t), func(_ string, key messages.ChatKey, _ []journal.Record, do func() error) error {
			if at++; at == n {
				return storetest.Full(key)
			}
			return do()
		}))
		if n > operations {
			if err != nil || at != operations {
				t.Errorf("%d operations, %v", at, err)
			}
		} else if !errors.Is(err, persistence.ErrFull) || at != n {
			t.Errorf("operation %d: %v after %d", n, err, at)
		}
	}
}

func TestFaultyIsReadOnlyAfterAFinalError(t *testing.T) {
	changes := 0
	s := storetest.NewFaulty(filestoretest.New(t), func(op string, key messages.ChatKey, _ []journal.Record, do func() error) error {
		if op == "history" {
			if changes++; changes == 2 {
				return storetest.Broken(key, io.ErrUnexpectedEOF)
			}
		}
		return do()
	})
	c, err := s.OpenChat(t.Context(), key)
	stdtest.Must(t, err)
	stdtest.Must(t, c.AppendHistory(t.Context(), storetest.Turn(1)))
	if err := c.AppendHistory(t.Context(), storetest.Turn(2)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("got %v", err)
	}
	if err := c.AppendHistory(t.Context(), storetest.Turn(2)); !errors.Is(err, persistence.ErrReadOnly) {
		t.Fatalf("got %v, want ErrReadOnly", err)
	}
	stdtest.Must(t, c.Close())
	c, err = s.OpenChat(t.Context(), key)
	stdtest.Must(t, err)
	snap, err := c.Load(t.Context())
	if err != nil || len(snap.History) != 1 {
		t.Fatalf("%d turns, %v", len(snap.History), err)
	}
	stdtest.Must(t, c.AppendHistory(t.Context(), storetest.Turn(2)))
}
