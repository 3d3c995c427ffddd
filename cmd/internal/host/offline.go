package host

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// ReadChat reads one chat of a store that no host uses.
func ReadChat(ctx context.Context, store *filestore.Store, key messages.ChatKey) (doc ChatDocument, err error) {
	dir, err := store.ChatDir(key)
	if err != nil {
		return ChatDocument{}, err
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return ChatDocument{}, platform.ErrNotFound
	}
	c, err := store.OpenChat(ctx, key)
	if err != nil {
		return ChatDocument{}, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	snap, err := c.Load(ctx)
	if err != nil {
		return ChatDocument{}, err
	}
	state, err := journal.Replay(snap)
	if err != nil {
		return ChatDocument{}, err
	}
	return documentOf(key, state), nil
}

// documentOf is a chat's state as a document.
func documentOf(key messages.ChatKey, state *journal.State) ChatDocument {
	counts := state.Counts()
	doc := ChatDocument{
		ChatKey: key, Running: state.Run != nil, Messages: slices.Concat([]uimessage.Message{}, state.Messages()),
		Counts: platform.Counts{
			Accepted: counts.Accepted, Open: int64(len(state.Open())), Fates: map[string]int64{}, Pending: int64(len(state.Pending())),
		},
	}
	for fate, n := range counts.Fates {
		doc.Counts.Fates[string(fate)] = n
	}
	for _, t := range state.Lane {
		doc.Waiting = append(doc.Waiting, t.Message)
	}
	return doc
}

// Ledger reads the last entries of a chat's ledger, oldest first, whether a host
// runs or not: what is in the ledger never changes. Lines that cannot be read
// are left out. What happened within the last second may be missing.
func Ledger(state string, key messages.ChatKey, last int) ([]journal.LedgerEntry, error) {
	folder, err := filestore.EncodeKey(key)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(state, "chat", filepath.FromSlash(folder), "conversations")
	names, err := ledgerFiles(dir)
	if err != nil {
		return nil, err
	}
	var out []journal.LedgerEntry
	for _, name := range slices.Backward(names) {
		part, err := readLedger(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		out = append(part, out...)
		if len(out) >= last {
			return out[len(out)-last:], nil
		}
	}
	return out, nil
}

// ledgerFiles are the files of a ledger, oldest first: history.1.jsonl,
// history.2.jsonl, …, history.jsonl.
func ledgerFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	number := func(name string) int {
		middle := strings.TrimSuffix(strings.TrimPrefix(name, "history."), "jsonl")
		n, err := strconv.Atoi(strings.TrimSuffix(middle, "."))
		if err != nil {
			return int(^uint(0) >> 1) // history.jsonl is the newest
		}
		return n
	}
	var names []string
	for _, e := range entries {
		if ok, _ := filepath.Match("history*.jsonl", e.Name()); ok {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
	return names, nil
}

func readLedger(path string) ([]journal.LedgerEntry, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	defer func() { _ = f.Close() }() // only read from
	var out []journal.LedgerEntry
	r := bufio.NewReaderSize(f, 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		if entry, parseErr := journal.ParseLedgerEntry(line); parseErr == nil && err == nil {
			out = append(out, entry)
		}
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the ledger: %w", err)
		}
	}
}
