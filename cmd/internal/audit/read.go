package audit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Line is one line of the log as it is read again. Members are only ever added.
type Line struct {
	TS        time.Time `json:"ts"`
	Event     string    `json:"event"`
	ChatKey   string    `json:"chatKey,omitempty"`
	RequestID string    `json:"requestId,omitempty"`
	RunID     string    `json:"runId,omitempty"`
	Name      string    `json:"name,omitempty"`
	Result    string    `json:"result,omitempty"`
	Reason    string    `json:"reason,omitempty"`
	Step      int       `json:"step,omitempty"`
	By        string    `json:"by,omitempty"`
	Digest    string    `json:"digest,omitempty"`
	CallID    string    `json:"callId,omitempty"`
	// TookMS is of the events model and tool, the tokens are of the event model.
	TookMS       int64 `json:"tookMs,omitempty"`
	InputTokens  int64 `json:"inputTokens,omitempty"`
	CachedTokens int64 `json:"cachedTokens,omitempty"`
	OutputTokens int64 `json:"outputTokens,omitempty"`
	// Raw is the line in the file, without its end.
	Raw []byte `json:"-"`
}

// Reader reads the log of a state folder, also while a host writes it. It returns complete lines only: a line without
// its end is returned once it has one. Lines that are no JSON object are skipped.
type Reader struct {
	dir  string
	keep func(Line) bool

	day  string      // of the file that was read last; empty before the first one
	info os.FileInfo // of that file; nil if it was missing
	at   int64       // offset of its first line that was not read
}

// NewReader makes a reader of the lines of a state folder that keep selects.
func NewReader(state string, keep func(Line) bool) *Reader {
	return &Reader{dir: filepath.Join(state, "logs"), keep: keep}
}

// Last returns the last n lines, oldest first. [Reader.Next] continues after them.
func (r *Reader) Last(n int) ([]Line, error) {
	days, err := r.days()
	if err != nil || len(days) == 0 {
		return nil, err
	}
	r.day, r.info, r.at = days[len(days)-1], nil, 0
	out, err := r.read(n)
	for i := len(days) - 2; err == nil && i >= 0 && len(out) < n; i-- {
		var more []Line
		earlier := Reader{dir: r.dir, keep: r.keep, day: days[i]}
		more, err = earlier.read(n - len(out))
		out = append(more, out...)
	}
	return out, err
}

// Next returns the lines that were added since the last call. It continues with the file of the next day once there is
// one, and starts again with a file that was replaced or cut.
func (r *Reader) Next() ([]Line, error) {
	days, err := r.days() // first, because a file is complete once the next one exists
	if err != nil {
		return nil, err
	}
	const all = -1
	var out []Line
	if r.day != "" {
		out, err = r.read(all)
	}
	for _, day := range days {
		if err == nil && day > r.day {
			var more []Line
			r.day, r.info, r.at = day, nil, 0
			more, err = r.read(all)
			out = append(out, more...)
		}
	}
	return out, err
}

// days are the days that have a file, oldest first.
func (r *Reader) days() ([]string, error) {
	entries, err := os.ReadDir(r.dir) // sorted by name
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	var out []string
	for _, e := range entries {
		if t, err := time.Parse(time.DateOnly+".jsonl", e.Name()); err == nil {
			out = append(out, t.Format(time.DateOnly))
		}
	}
	return out, nil
}

// read reads the rest of the current file and returns its last n lines, or all if n is negative.
func (r *Reader) read(n int) (out []Line, err error) {
	f, err := os.Open(filepath.Join(r.dir, r.day+".jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		r.info, r.at = nil, 0
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	defer func() { _ = f.Close() }() // opened for reading only
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	if r.info != nil && !os.SameFile(r.info, info) || info.Size() < r.at {
		r.at = 0
	}
	r.info = info
	text := bufio.NewReaderSize(io.NewSectionReader(f, r.at, info.Size()-r.at), maxSpare)
	for {
		line, err := text.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break // the line is still being written
		}
		if err != nil {
			return nil, fmt.Errorf("read the log: %w", err)
		}
		r.at += int64(len(line))
		l := Line{Raw: bytes.TrimSuffix(line, []byte("\n"))}
		if json.Unmarshal(l.Raw, &l) != nil || !r.keep(l) {
			continue
		}
		if out = append(out, l); n >= 0 && len(out) > 2*n {
			out = append(out[:0], out[len(out)-n:]...)
		}
	}
	if n >= 0 {
		out = out[max(0, len(out)-n):]
	}
	return out, nil
}
