package taskfile

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/google/renameio/v2"

	"github.com/shipmyagent/shipmyagent/persistence"
)

const (
	version = 1
	// maxLine is the longest record that is read.
	maxLine = 1 << 20
	// keepPerTask is how many settled fires of a task are remembered: more than there
	// are minutes in a day, so that a clock that was put back repeats none.
	keepPerTask = 2000
	// rewriteAfter is how many records are written before the file is looked through.
	rewriteAfter = 20_000
)

// Log implements [persistence.FireLog]. One process has it open.
type Log struct {
	path  string
	mu    sync.Mutex
	file  *os.File // nil: nothing was written yet
	torn  bool     // the file does not end with a line
	lines int      // since it was opened
}

// NewLog is the log of a state folder. It makes it with the first record only.
func NewLog(state string) *Log { return &Log{path: filepath.Join(state, "schedule", "fires.jsonl")} }

// Fires implements [persistence.FireLog].
func (l *Log) Fires(context.Context) ([]persistence.Fire, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fires, _, err := l.read()
	return fires, err
}

// read reads what is whole. torn: the file does not end with a line.
func (l *Log) read() (fires []persistence.Fire, torn bool, err error) {
	raw, err := os.ReadFile(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read the log of fires: %w", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for lines.Scan() {
		var f persistence.Fire
		if json.Unmarshal(lines.Bytes(), &f) != nil || f.Task == "" {
			continue // cut by a crash, or no line of ours
		}
		if f.V > version {
			return nil, false, fmt.Errorf("%s was written by a newer version of this program", l.path)
		}
		fires = append(fires, f)
	}
	if err := lines.Err(); err != nil {
		return nil, false, fmt.Errorf("read the log of fires: %w", err)
	}
	return fires, len(raw) > 0 && raw[len(raw)-1] != '\n', nil
}

// AddFires implements [persistence.FireLog].
func (l *Log) AddFires(_ context.Context, fires ...persistence.Fire) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.open(); err != nil {
		return err
	}
	var out []byte
	if l.torn {
		out = append(out, '\n')
	}
	for _, f := range fires {
		f.V = version
		raw, err := json.Marshal(f)
		if err != nil { // Unreachable: strings and times
			return fmt.Errorf("write the log of fires: %w", err)
		}
		out = append(append(out, raw...), '\n')
	}
	_, err := l.file.Write(out)
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		// Nothing is believed: the next one opens the file anew and begins a line.
		err = errors.Join(err, l.file.Close())
		l.file = nil
		return fmt.Errorf("write the log of fires: %w", err)
	}
	l.torn = false
	if l.lines += len(fires); l.lines > rewriteAfter {
		l.lines = 0
		err := l.file.Close() // the next record opens it anew, and leaves behind what can go
		l.file = nil
		if err != nil {
			return fmt.Errorf("write the log of fires: %w", err)
		}
	}
	return nil
}

// open opens the file for the first record, without what nobody asks for any more.
func (l *Log) open() error {
	if l.file != nil {
		return nil
	}
	dir := filepath.Dir(l.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("open the log of fires: %w", err)
	}
	fires, torn, err := l.read()
	if err != nil {
		return err
	}
	if kept := recent(fires); len(kept) < len(fires)/2 {
		if err := l.rewrite(kept); err != nil {
			return err
		}
		torn = false
	}
	file, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the log of fires: %w", err)
	}
	if err := syncDir(dir); err != nil {
		return errors.Join(err, file.Close())
	}
	l.file, l.torn = file, torn
	return nil
}

// rewrite puts other records in place of the file.
func (l *Log) rewrite(fires []persistence.Fire) error {
	var out bytes.Buffer
	for _, f := range fires {
		raw, err := json.Marshal(f)
		if err != nil { // Unreachable: strings and times
			return fmt.Errorf("rewrite the log of fires: %w", err)
		}
		out.Write(append(raw, '\n'))
	}
	if err := renameio.WriteFile(l.path, out.Bytes(), 0o600, renameio.WithStaticPermissions(0o600)); err != nil {
		return fmt.Errorf("rewrite the log of fires: %w", err)
	}
	return syncDir(filepath.Dir(l.path))
}

// recent leaves out what a settled fire needs no more, and all but the newest fires
// of each task.
func recent(fires []persistence.Fire) []persistence.Fire {
	settled, newest, seen := map[string]bool{}, map[string]int{}, map[string]int{}
	for i, f := range fires {
		switch f.Is {
		case persistence.FireSettled:
			settled[f.ID] = true
		case persistence.FireSeen:
			seen[f.Task] = i
		case persistence.FireStarted, persistence.FireSkipped:
			newest[f.Task]++
			if f.Is == persistence.FireSkipped && f.Text == "" {
				settled[f.ID] = true // nobody is told
			}
		case persistence.FireWaits, persistence.FireEnded:
		}
	}
	var out []persistence.Fire
	old := map[string]bool{}
	for i, f := range fires {
		switch f.Is {
		case persistence.FireSeen:
			if seen[f.Task] != i {
				continue
			}
		case persistence.FireStarted, persistence.FireSkipped:
			newest[f.Task]--
			old[f.ID] = newest[f.Task] >= keepPerTask
			f.Body, f.Say = ifOpen(settled[f.ID], f.Body), ifOpen(settled[f.ID], f.Say)
		case persistence.FireWaits:
			if settled[f.ID] {
				continue
			}
		case persistence.FireEnded, persistence.FireSettled:
			f.Text = ifOpen(settled[f.ID], f.Text)
		}
		if f.ID != "" && settled[f.ID] && old[f.ID] {
			continue
		}
		out = append(out, f)
	}
	return out
}

func ifOpen(settled bool, text string) string {
	if settled {
		return ""
	}
	return text
}

// Close closes the file. The log may be used again.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}
