package ledger

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/shipmyagent/shipmyagent/messages/window"
)

// write appends a line to the file of the day that at is in: at once while a limit is set, and otherwise together with
// those that follow soon.
func (l *Ledger) write(at time.Time, entry line) error {
	entry.TS = at.UnixMilli()
	l.newest = max(l.newest, entry.TS)
	raw, err := json.Marshal(entry)
	if err != nil {
		return fmt.Errorf("record the use of a model: %w", err) // Unreachable: a line encodes
	}
	if day := window.Day.Name(at); l.file == nil || l.fileDay != day {
		if err := l.create(day); err != nil {
			return err
		}
	}
	l.pending = append(append(l.pending, raw...), '\n')
	if l.limits.Any() || l.closed {
		return l.flush()
	}
	if l.timer == nil {
		l.timer = time.AfterFunc(flushAfter, l.flushLate)
	}
	return nil
}

// create opens the file of a day in place of the current one.
func (l *Ledger) create(day string) error {
	if err := l.flush(); err != nil {
		l.failed(err)
	}
	if err := l.shut(); err != nil {
		l.failed(err)
	}
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return fmt.Errorf("record the use of models: %w", err)
	}
	f, err := os.OpenFile(fileOf(l.dir, day), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("record the use of models: %w", err)
	}
	info, err := f.Stat()
	l.file, l.fileDay, l.torn = f, day, err != nil || info.Size() > 0 // a process may have been killed in the middle of a line
	return nil
}

// flush writes the pending lines. Those that cannot be written are dropped.
func (l *Ledger) flush() error {
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	if len(l.pending) == 0 {
		return nil
	}
	lines := l.pending
	if l.torn {
		lines = append([]byte{'\n'}, lines...)
	}
	l.pending = l.pending[:0]
	if _, err := l.file.Write(lines); err != nil {
		l.torn = true
		return fmt.Errorf("record the use of models: %w", err)
	}
	l.torn = false
	return nil
}

func (l *Ledger) flushLate() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.flush(); err != nil {
		l.failed(err)
	}
}

func (l *Ledger) shut() error {
	f := l.file
	if f == nil {
		return nil
	}
	l.file = nil
	if err := f.Close(); err != nil {
		return fmt.Errorf("close the usage of %s: %w", l.fileDay, err)
	}
	return nil
}
