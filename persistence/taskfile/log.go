package taskfile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/document"
)

const (
	version = 1
	// maxLine is the longest record that is read, maxLog the longest file.
	maxLine = 1 << 20
	maxLog  = 1 << 30
	// keepPerTask is how many settled fires of a task are remembered: more than there
	// are minutes in a day, so that a clock that was put back repeats none.
	keepPerTask = 2000
	// rewriteAfter is how many records are written before the file is looked through.
	rewriteAfter = 20_000
)

// Log implements [persistence.FireLog]. One process has it open.
type Log struct {
	path  string
	disk  document.Disk
	mu    sync.Mutex
	file  *os.File // nil: nothing was written yet
	torn  bool     // the file does not end with a line
	lines int      // since it was opened
	// forced says that what can be read is on the disk. Somebody who was killed may have
	// written the end of it.
	forced bool
	// lost says that it could not be forced: what is read now may be in memory only, and
	// forcing it again would write nothing.
	lost bool
}

// NewLog is the log of a state folder. It makes it with the first record only.
func NewLog(state string) *Log { return &Log{path: filepath.Join(state, "schedule", "fires.jsonl")} }

// Fires implements [persistence.FireLog]. What it tells of is durable.
func (l *Log) Fires(context.Context) ([]persistence.Fire, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.settle(); err != nil {
		return nil, err
	}
	fires, _, err := l.read()
	return fires, err
}

// settle makes what can be read durable.
func (l *Log) settle() error {
	if l.lost {
		fires, _, err := l.read()
		if err == nil {
			err = l.rewrite(fires)
		}
		l.lost, l.forced = err != nil, err == nil
		return err
	}
	if l.forced {
		return nil
	}
	f, err := os.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = l.disk.Do(document.StepSync, l.path, f.Sync)
		l.lost = err != nil
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("force the log of fires: %w", err)
	}
	l.forced = true
	return nil
}

// read reads what is whole. torn: the file does not end with a line.
func (l *Log) read() (fires []persistence.Fire, torn bool, err error) {
	raw, err := document.Read(l.path, maxLog)
	if err != nil {
		return nil, false, fmt.Errorf("read the log of fires: %w", err)
	}
	for line := range bytes.Lines(raw) {
		var f persistence.Fire
		if len(line) > maxLine || json.Unmarshal(line, &f) != nil || f.Task == "" {
			continue // cut by a crash, or no line of ours
		}
		if f.V > version {
			return nil, false, fmt.Errorf("%s was written by a newer version of this program", l.path)
		}
		fires = append(fires, f)
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
	if err := l.write(out); err != nil {
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

// write adds lines and forces them.
func (l *Log) write(lines []byte) error {
	l.forced = false
	err := l.disk.Do(document.StepWrite, l.path, func() error {
		_, err := l.file.Write(lines)
		return err
	})
	if err != nil {
		return err
	}
	err = l.disk.Do(document.StepSync, l.path, l.file.Sync)
	l.forced, l.lost = err == nil, err != nil
	return err
}

// open opens the file for the first record, without what nobody asks for any more.
func (l *Log) open() error {
	if l.file != nil {
		return nil
	}
	dir := filepath.Dir(l.path)
	if err := l.disk.MakeDir(dir); err != nil {
		return fmt.Errorf("open the log of fires: %w", err)
	}
	if err := l.settle(); err != nil {
		return err
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
	var file *os.File
	err = l.disk.Do(document.StepOpen, l.path, func() (err error) {
		file, err = os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		return err
	})
	if err != nil {
		return fmt.Errorf("open the log of fires: %w", err)
	}
	if err := l.disk.SyncDir(dir); err != nil {
		return errors.Join(fmt.Errorf("open the log of fires: %w", err), file.Close())
	}
	l.file, l.torn, l.forced = file, torn, true
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
	if err := l.disk.Write(l.path, out.Bytes()); err != nil {
		return fmt.Errorf("rewrite the log of fires: %w", err)
	}
	return nil
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

// Chats are the chats in which the tasks of a chat ran.
func (l *Log) Chats(ctx context.Context, key messages.ChatKey) ([]messages.ChatKey, error) {
	fires, err := l.Fires(ctx)
	if err != nil {
		return nil, err
	}
	var out []messages.ChatKey
	for _, f := range fires {
		if f.ChatKey == key && f.Is == persistence.FireStarted {
			out = append(out, persistence.FireChat(f.ID))
		}
	}
	return out, nil
}

// ForgetChat removes the records of the tasks of a chat. Their files have to be gone, or
// what they name might be done again.
func (l *Log) ForgetChat(_ context.Context, key messages.ChatKey) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.settle(); err != nil {
		return err
	}
	fires, _, err := l.read()
	if err != nil {
		return err
	}
	gone := map[string]bool{}
	for _, f := range fires {
		gone[f.Task] = gone[f.Task] || f.ChatKey == key
	}
	kept := slices.DeleteFunc(slices.Clone(fires), func(f persistence.Fire) bool { return gone[f.Task] })
	if len(kept) == len(fires) {
		return nil
	}
	if l.file != nil { // the next record opens the new one
		err := l.file.Close()
		l.file = nil
		if err != nil {
			return fmt.Errorf("rewrite the log of fires: %w", err)
		}
	}
	l.forced = false
	return l.rewrite(kept)
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
