package query

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/chatpath"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Ledger reads the last entries of a chat's ledger, oldest first. It is safe while a host runs, because the ledger is
// append-only. Unreadable lines are skipped, and entries of the last second may be missing.
func Ledger(state string, key messages.ChatKey, last int) ([]journal.LedgerEntry, error) {
	folder, err := chatpath.Encode(key)
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
		n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(name, "history."), ".jsonl"))
		if err != nil {
			return math.MaxInt // history.jsonl is the newest
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
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	var out []journal.LedgerEntry
	for line := range bytes.Lines(text) {
		entry, err := journal.ParseLedgerEntry(line)
		if err == nil && bytes.HasSuffix(line, []byte("\n")) { // otherwise it is still being written
			out = append(out, entry)
		}
	}
	return out, nil
}
