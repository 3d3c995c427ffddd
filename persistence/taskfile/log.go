package taskfile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/chatpath"
	"github.com/shipmyagent/shipmyagent/persistence/document"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

const (
	version = 1
	// maxLine is the longest record that is read, maxLog the longest file that is.
	maxLine = 1 << 20
	maxLog  = 1 << 30
	// keepPerTask is how many settled fires of a task are kept, and keepFor how long: more than a day
	// has minutes, so that a clock that was set back repeats none.
	keepPerTask = 2000
	keepFor     = 30 * 24 * time.Hour
	// rewriteAfter is how many records are written before the file is cleaned up, and cleanEvery how
	// much time passes.
	rewriteAfter = 20_000
	cleanEvery   = 24 * time.Hour
)

// Log implements [persistence.FireLog]. Only one process may have it open.
type Log struct {
	state  string // the folder
	path   string
	disk   document.Disk
	mu     sync.Mutex
	file   *os.File  // nil until the first write
	torn   bool      // the file ends within a line
	opened time.Time // when the file was opened
	lines  int       // written since then
	// synced is set if everything that can be read is durable. A process that was killed may have
	// written the end of the file without an fsync.
	synced bool
	// lost is set if an fsync failed: what can be read now may be in memory only, and another fsync
	// would not write it.
	lost bool
}

// NewLog returns the log of a state folder. The first record makes the file.
func NewLog(state string) *Log {
	return &Log{state: state, path: filepath.Join(state, "schedule", "fires.jsonl")}
}

// Fires implements [persistence.FireLog]. What it returns is durable.
func (l *Log) Fires(context.Context) ([]timetable.Fire, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fires, _, err := l.durable()
	return fires, failed("read", err)
}

func failed(op string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s the log of fires: %w", op, err)
}

// durable fsyncs the file and reads it.
func (l *Log) durable() (fires []timetable.Fire, torn bool, err error) {
	switch {
	case l.lost:
		if fires, _, err = l.read(); err == nil {
			err = l.rewrite(fires)
		}
		l.lost, l.synced = err != nil, err == nil
	case !l.synced:
		err = l.sync()
	}
	if err != nil {
		return nil, false, err
	}
	return l.read()
}

// sync fsyncs what an earlier process wrote.
func (l *Log) sync() error {
	f, err := os.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	err = l.disk.Do(document.StepSync, l.path, f.Sync)
	l.lost = err != nil
	err = errors.Join(err, f.Close())
	l.synced = err == nil
	return err
}

// read reads the complete records. torn is set if the file ends within a line.
func (l *Log) read() (fires []timetable.Fire, torn bool, err error) {
	raw, err := document.Read(l.path, maxLog)
	if err != nil {
		return nil, false, err
	}
	for line := range bytes.Lines(raw) {
		var f timetable.Fire
		if len(line) > maxLine || json.Unmarshal(line, &f) != nil || f.Task == "" {
			continue // A crash cut it, or it is foreign.
		}
		if f.V > version {
			return nil, false, fmt.Errorf("%s was written by a newer version of this program", l.path)
		}
		fires = append(fires, f)
	}
	return fires, len(raw) > 0 && raw[len(raw)-1] != '\n', nil
}

// lines encodes records for the file.
func lines(fires []timetable.Fire) ([]byte, error) {
	var out []byte
	for _, f := range fires {
		raw, err := json.Marshal(f)
		if err != nil {
			return nil, err // Unreachable: strings and times.
		}
		out = append(append(out, raw...), '\n')
	}
	return out, nil
}

// AddFires implements [persistence.FireLog].
func (l *Log) AddFires(_ context.Context, fires ...timetable.Fire) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return failed("write", l.add(slices.Clone(fires)))
}

func (l *Log) add(fires []timetable.Fire) error {
	for i := range fires {
		fires[i].V = version
	}
	out, err := lines(fires)
	if err == nil {
		err = l.open()
	}
	if err != nil {
		return err
	}
	if l.torn {
		out = append([]byte{'\n'}, out...)
	}
	if err := l.write(out); err != nil {
		return errors.Join(err, l.close()) // The next record opens the file again and starts a new line.
	}
	l.torn = false
	if l.lines += len(fires); l.lines > rewriteAfter || time.Since(l.opened) > cleanEvery {
		return l.close() // The next record opens the file again, and removes unneeded records.
	}
	return nil
}

// write appends lines, durably.
func (l *Log) write(lines []byte) error {
	l.synced = false
	err := l.disk.Do(document.StepWrite, l.path, func() error {
		_, err := l.file.Write(lines)
		return err
	})
	if err != nil {
		return err
	}
	err = l.disk.Do(document.StepSync, l.path, l.file.Sync)
	l.synced, l.lost = err == nil, err != nil
	return err
}

// open opens the file for the first record, without the records that are no longer needed.
func (l *Log) open() error {
	if l.file != nil {
		return nil
	}
	dir := filepath.Dir(l.path)
	if err := l.disk.MakeDir(dir); err != nil {
		return err
	}
	fires, torn, err := l.durable()
	if err != nil {
		return err
	}
	if kept := l.needed(fires, time.Now()); len(kept) < len(fires)/2 {
		if err := l.rewrite(kept); err != nil {
			return err
		}
		torn = false
	}
	err = l.disk.Do(document.StepOpen, l.path, func() (err error) {
		l.file, err = os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		return err
	})
	if err != nil {
		return err
	}
	if err := l.disk.SyncDir(dir); err != nil {
		return errors.Join(err, l.close())
	}
	l.torn, l.synced, l.lines, l.opened = torn, true, 0, time.Now()
	return nil
}

// rewrite replaces the records of the file.
func (l *Log) rewrite(fires []timetable.Fire) error {
	out, err := lines(fires)
	if err != nil {
		return err
	}
	return l.disk.Write(l.path, out)
}

// fired is what is known of the fires of a task.
type fired struct {
	seen    int       // index of its newest FireSeen
	after   int       // fires that follow
	last    string    // its newest fire
	planned time.Time // its newest time, without fires by hand
}

// needed leaves out the texts of settled fires, and those settled fires that prevent nothing any more and of which
// nothing else is left.
func (l *Log) needed(fires []timetable.Fire, now time.Time) []timetable.Fire {
	settled, tasks := map[string]bool{}, map[string]*fired{}
	for i, f := range fires {
		t := tasks[f.Task]
		if t == nil {
			t = &fired{}
			tasks[f.Task] = t
		}
		switch f.Is {
		case timetable.FireSettled:
			settled[f.ID] = true
		case timetable.FireSeen:
			t.seen = i
		case timetable.FireStarted, timetable.FireSkipped:
			t.after++
			t.last = f.ID
			if f.By == "" && f.Planned.After(t.planned) {
				t.planned = f.Planned
			}
			if f.Is == timetable.FireSkipped && f.Text == "" {
				settled[f.ID] = true // This record is not needed any more.
			}
		case timetable.FireWaits, timetable.FireEnded:
		}
	}
	var out []timetable.Fire
	old := map[string]bool{}
	for i, f := range fires {
		t, aged, ended := tasks[f.Task], now.Sub(f.At) > keepFor, settled[f.ID]
		switch f.Is {
		case timetable.FireSeen:
			if t.seen != i || aged && !l.has(f.Task) {
				continue
			}
		case timetable.FireStarted, timetable.FireSkipped:
			t.after--
			newest := t.last == f.ID || f.By == "" && f.Planned.Equal(t.planned)
			// The chat that it ran in can be deleted with that of the task only while the fire is known.
			old[f.ID] = ended && (aged || t.after >= keepPerTask) && (!newest || !l.has(f.Task)) && !l.left(f.ID)
		case timetable.FireWaits:
			if ended {
				continue
			}
		case timetable.FireEnded, timetable.FireSettled:
		}
		if old[f.ID] {
			continue
		}
		if ended {
			f.Body, f.Say, f.Text = "", "", ""
		}
		out = append(out, f)
	}
	return out
}

// left reports whether the chat that a fire ran in exists, or may exist.
func (l *Log) left(id string) bool {
	folder, err := chatpath.Encode(timetable.FireChat(id))
	if err != nil {
		return false
	}
	_, err = os.Lstat(filepath.Join(l.state, "chat", filepath.FromSlash(folder)))
	return !errors.Is(err, fs.ErrNotExist)
}

// Fire returns the record with which a fire started or was skipped, or false. It looks from the end of the log, and parses
// only lines that name the fire.
func (l *Log) Fire(id string) (f timetable.Fire, found bool, err error) {
	raw, err := document.Read(l.path, maxLog)
	for at := len(raw); err == nil && !found; {
		if at = bytes.LastIndex(raw[:at], []byte(`"id":"`+id+`"`)); at < 0 {
			break
		}
		at = bytes.LastIndexByte(raw[:at], '\n') + 1
		line, _, _ := bytes.Cut(raw[at:], []byte{'\n'})
		f = timetable.Fire{}
		found = json.Unmarshal(line, &f) == nil && f.ID == id && (f.Is == timetable.FireStarted || f.Is == timetable.FireSkipped)
	}
	return f, found, failed("read", err)
}

// Chats returns the chats in which the tasks of a chat run or ran, if they exist.
func (l *Log) Chats(ctx context.Context, key messages.ChatKey) ([]messages.ChatKey, error) {
	fires, err := l.Fires(ctx)
	if err != nil {
		return nil, err
	}
	settled := map[string]bool{}
	for _, f := range fires {
		settled[f.ID] = f.Is == timetable.FireSettled
	}
	var out []messages.ChatKey
	for _, f := range fires {
		if f.ChatKey == key && f.Is == timetable.FireStarted && (!settled[f.ID] || l.left(f.ID)) {
			out = append(out, timetable.FireChat(f.ID))
		}
	}
	return out, nil
}

// ForgetChat removes the records of the tasks of a chat, except of those that still have their file: their past times
// might run again.
func (l *Log) ForgetChat(_ context.Context, key messages.ChatKey) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	fires, _, err := l.durable()
	if err != nil {
		return failed("read", err)
	}
	gone := map[string]bool{}
	for _, f := range fires {
		gone[f.Task] = gone[f.Task] || f.ChatKey == key
	}
	maps.DeleteFunc(gone, func(task string, of bool) bool { return of && l.has(task) })
	kept := slices.DeleteFunc(slices.Clone(fires), func(f timetable.Fire) bool { return gone[f.Task] })
	if len(kept) == len(fires) {
		return nil
	}
	if err := l.close(); err != nil { // The next record opens the new file.
		return failed("rewrite", err)
	}
	l.synced = false
	return failed("rewrite", l.rewrite(kept))
}

// has reports whether a task has its file, or may have it.
func (l *Log) has(task string) bool {
	_, err := os.Lstat(filepath.Join(l.state, "tasks", filepath.Base(task)+ext))
	return !errors.Is(err, fs.ErrNotExist)
}

// Close closes the file. The log may be used again.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.close()
}

func (l *Log) close() error {
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}
