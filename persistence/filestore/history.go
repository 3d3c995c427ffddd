package filestore

import (
	"context"
	"errors"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/linefile"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/vfs"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// index has the positions of a history's lines.
type index struct {
	places []place
	byID   map[string]int
}

// place is the line with the current version of a message, without its newline.
type place struct {
	id  string
	off int64
	n   int
}

func (x *index) reset() {
	x.places, x.byID = nil, map[string]int{}
}

// set notes the line of a message. A known message keeps its position.
func (x *index) set(id string, off int64, n int) (i int, isNew bool) {
	i, seen := x.byID[id]
	if seen {
		x.places[i].off, x.places[i].n = off, n
		return i, false
	}
	x.add(id, off, n)
	return len(x.places) - 1, true
}

// add notes the line of a new message.
func (x *index) add(id string, off int64, n int) {
	x.byID[id] = len(x.places)
	x.places = append(x.places, place{id: id, off: off, n: n})
}

// added is a line in a buffer.
type added struct {
	id    string
	at, n int
	isNew bool // the history has no message with that id
}

// turnLines appends the lines of turns to a buffer, except those that the history already contains
// byte for byte.
func (c *chat) turnLines(ctx context.Context, buf *buffer, turns []uimessage.Message) ([]added, error) {
	var lines []added
	var here map[string]bool // the ids among the lines
	if len(turns) > 1 {
		here = map[string]bool{}
	}
	for _, m := range turns {
		if m.ID == "" || m.Role != uimessage.RoleUser && m.Role != uimessage.RoleAssistant {
			return nil, errNoTurn
		}
		at := len(buf.b) + 1
		buf.b = linefile.AppendTurn(append(buf.b, linefile.Joint), m)
		line := buf.b[at : len(buf.b)-1]
		i, seen := c.index.byID[m.ID]
		same := false
		if seen && !here[m.ID] {
			var err error
			if same, err = c.holds(ctx, c.index.places[i], line); err != nil {
				return nil, err
			}
		}
		if same {
			buf.b = buf.b[:at-1]
			continue
		}
		lines = append(lines, added{id: m.ID, at: at, n: len(line), isNew: !seen && !here[m.ID]})
		if here != nil {
			here[m.ID] = true
		}
	}
	return lines, nil
}

// errNoTurn is the cause of refusing a message that a history cannot store.
var errNoTurn = errors.New("a turn needs an id and the role user or assistant")

// holds reports whether a place contains exactly this line.
func (c *chat) holds(ctx context.Context, p place, line []byte) (bool, error) {
	if p.n != len(line) {
		return false, nil
	}
	old := make([]byte, p.n)
	err := c.history.read(ctx, func(f vfs.File) error { return vfs.ReadFull(f, old, p.off) })
	return err == nil && string(old) == string(line), err
}

// addTurns writes the lines that turnLines made, without an fsync.
func (c *chat) addTurns(ctx context.Context, b []byte, lines []added) error {
	if len(lines) == 0 && !c.history.exists {
		return nil
	}
	// Even if the history has them all: its name may not be durable yet.
	if err := c.prepare(ctx, c.history, messagesDir); err != nil || len(lines) == 0 {
		return err
	}
	if err := c.history.write(ctx, b); err != nil {
		return err
	}
	base := c.history.size - int64(len(b))
	for _, l := range lines {
		if off := base + int64(l.at); l.isNew {
			c.index.add(l.id, off, l.n)
		} else {
			c.index.set(l.id, off, l.n)
		}
	}
	return nil
}

// readHistory reads turns; a later turn replaces an earlier one with the same id.
func readHistory(turns *[]uimessage.Message, x *index) linefile.Reader {
	x.reset()
	return linefile.Reader{
		Take: func(off int64, raw []byte, strict bool) bool {
			m, ok := linefile.ParseTurn(raw, strict)
			if !ok {
				return false
			}
			if i, isNew := x.set(m.ID, off, len(raw)); isNew {
				*turns = append(*turns, m)
			} else {
				(*turns)[i] = m
			}
			return true
		},
		Reset: func() {
			x.reset()
			*turns = nil
		},
	}
}

// ParseTurn reads one line of a history or of an archive like a load does, for readers without a
// handle; ok is false if the line is damaged or not a turn.
func ParseTurn(line []byte) (m uimessage.Message, ok bool) { return linefile.ParseTurn(line, false) }

// TurnsOf returns the intact turns of an archive.
func TurnsOf(a journal.Archive) (turns []uimessage.Message) {
	for _, line := range a.Lines {
		if m, ok := ParseTurn([]byte(line)); ok {
			turns = append(turns, m)
		}
	}
	return turns
}
