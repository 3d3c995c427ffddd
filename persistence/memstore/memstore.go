// Package memstore is a store of chats in memory, for tests and the demo. It
// keeps the contract of package persistence but for the power cut: what it holds
// ends with the process.
package memstore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Disk is what outlives a store: several stores, one after the other, may be
// opened on it.
type Disk struct {
	mu    sync.Mutex
	owner *Store
	chats map[messages.ChatKey]*data
}

// data is what is kept of one chat. Only the chat's open handle changes it.
type data struct {
	turns    []turn
	places   map[string]int // of turns, by message id
	journal  []journal.Record
	last     int64 // number of the last journal record there ever was
	ledger   []journal.LedgerEntry
	meta     journal.Meta
	archives map[string]journal.Archive
	contexts map[string][]byte // as their files would be
	marked   bool
	written  bool
}

// turn is a message with the line it would be in a file.
type turn struct {
	message uimessage.Message
	line    string
}

// NewDisk is an empty disk.
func NewDisk() *Disk { return &Disk{chats: map[messages.ChatKey]*data{}} }

// Store is a [persistence.Store] in memory.
type Store struct {
	disk *Disk

	mu     sync.Mutex
	closed bool
	open   map[messages.ChatKey]*chat
}

// New is a store on a disk of its own.
func New() *Store {
	return newStore(NewDisk())
}

// Open opens a store on a disk. It fails with [persistence.ErrLocked] while
// another one is open there.
func Open(d *Disk) (*Store, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.owner != nil {
		return nil, fmt.Errorf("open store: %w", persistence.ErrLocked)
	}
	return newStore(d), nil
}

// Crash opens a store on a disk whose store was not closed, as after the death
// of a process. Handles of the old one fail with [persistence.ErrClosed].
func Crash(d *Disk) *Store {
	d.mu.Lock()
	old := d.owner
	s := newStore(d)
	d.mu.Unlock()
	if old != nil {
		old.shut()
	}
	return s
}

func newStore(d *Disk) *Store {
	s := &Store{disk: d, open: map[messages.ChatKey]*chat{}}
	d.owner = s
	return s
}

// errOpen is the cause of refusing a second handle.
var errOpen = errors.New("chat is open already")

// OpenChat implements [persistence.Store].
func (s *Store) OpenChat(_ context.Context, key messages.ChatKey) (persistence.Chat, error) {
	if _, err := messages.ParseChatKey(string(key)); err != nil {
		return nil, fmt.Errorf("open chat: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, &persistence.Error{Op: "open", Chat: string(key), Cause: persistence.ErrClosed}
	case s.open[key] != nil:
		return nil, &persistence.Error{Op: "open", Chat: string(key), Cause: errOpen, Retryable: true}
	}
	c := &chat{store: s, key: key, data: s.disk.chat(key)}
	s.open[key] = c
	return c, nil
}

func (d *Disk) chat(key messages.ChatKey) *data {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.chats[key] == nil {
		d.chats[key] = &data{places: map[string]int{}, archives: map[string]journal.Archive{}, contexts: map[string][]byte{}}
	}
	return d.chats[key]
}

// Chats implements [persistence.Store].
func (s *Store) Chats(ctx context.Context) iter.Seq2[messages.ChatKey, error] {
	return func(yield func(messages.ChatKey, error) bool) {
		keys, err := s.keys(ctx, func(d *data) bool { return d.written })
		if err != nil {
			yield("", err)
			return
		}
		for _, key := range keys {
			if !yield(key, nil) {
				return
			}
		}
	}
}

// Waking implements [persistence.Store].
func (s *Store) Waking(ctx context.Context) ([]messages.ChatKey, error) {
	return s.keys(ctx, func(d *data) bool { return d.marked })
}

func (s *Store) keys(ctx context.Context, want func(*data) bool) ([]messages.ChatKey, error) {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return nil, persistence.ErrClosed
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	var keys []messages.ChatKey
	for _, key := range slices.Sorted(maps.Keys(s.disk.chats)) {
		if want(s.disk.chats[key]) {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// Close implements [persistence.Store].
func (s *Store) Close() error {
	s.shut()
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	if s.disk.owner == s {
		s.disk.owner = nil
	}
	return nil
}

func (s *Store) shut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, c := range s.open {
		c.shut()
	}
	s.open = nil
}

// line is a message as it would stand in a file.
func line(m uimessage.Message) string {
	return string(bytes.ToValidUTF8(uimessage.AppendJSON(nil, m), []byte("\uFFFD")))
}

// decode reads a message back from its line, so that nothing is shared with
// whoever wrote it.
func decode(line string) (turn, error) {
	m, err := uimessage.Decode([]byte(line))
	if err == nil && (m.ID == "" || m.Role != uimessage.RoleUser && m.Role != uimessage.RoleAssistant) {
		err = errNoTurn
	}
	return turn{message: m, line: line}, err
}

// errNoTurn is the cause of refusing a message that a history cannot hold.
var errNoTurn = errors.New("a turn needs an id and the role user or assistant")

func sourceRange(insert []uimessage.Message, gone []turn) json.RawMessage {
	for _, m := range insert {
		var meta struct {
			SourceRange json.RawMessage `json:"sourceRange"`
		}
		if json.Unmarshal(m.Metadata, &meta) == nil && len(meta.SourceRange) > 0 {
			return meta.SourceRange
		}
	}
	own := struct {
		FromID string `json:"fromId"`
		ToID   string `json:"toId"`
		Count  int    `json:"count"`
	}{Count: len(gone)}
	if len(gone) > 0 {
		own.FromID, own.ToID = gone[0].message.ID, gone[len(gone)-1].message.ID
	}
	raw, err := json.Marshal(own)
	if err != nil {
		return nil // Unreachable: strings and a number.
	}
	return raw
}
