package agentcontext

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/document"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/runlog"
)

const (
	// maxCounted is for how many chats the number of lines in their files is remembered.
	maxCounted = 4096
	// maxRead limits what is read of a file that another program made long.
	maxRead = 16 << 20
)

// files are the logs of all chats. Only the writer calls add. Others may call read meanwhile,
// because a file only grows at its end or is replaced atomically.
type files struct {
	dir    string
	folder func(messages.ChatKey) (string, error)
	window int
	// lines is the number of lines by a hash of the key, for the writer only. Two keys with one hash
	// at worst let a file be compacted too early.
	lines map[uint64]int
	seed  maphash.Seed
}

func (f *files) path(key messages.ChatKey) (string, error) {
	name, err := f.folder(key)
	if err != nil {
		return "", err
	}
	return filepath.Join(f.dir, filepath.FromSlash(name)+".jsonl"), nil
}

// add writes entries at the end, after compacting a file that has become too long.
func (f *files) add(key messages.ChatKey, entries []runlog.Entry) error {
	path, err := f.path(key)
	if err != nil {
		return err
	}
	id := maphash.String(f.seed, string(key))
	n, ok := f.lines[id]
	if !ok {
		known, err := load(path)
		if err != nil {
			return err
		}
		n = len(known)
	}
	delete(f.lines, id) // unknown after an error
	if n >= 2*f.window {
		if n, err = f.compact(path); err != nil {
			return err
		}
	}
	lines, err := encode(entries)
	if err != nil {
		return err
	}
	file, err := document.OpenLines(path)
	if err != nil {
		return err
	}
	_, err = file.Write(lines)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	if len(f.lines) >= maxCounted {
		clear(f.lines)
	}
	f.lines[id] = n + len(entries)
	return nil
}

// compact replaces a file with a summary of its older entries and the newer ones.
func (f *files) compact(path string) (lines int, err error) {
	entries, err := load(path)
	if err != nil {
		return 0, err
	}
	entries = f.recent(entries)
	out, err := encode(entries)
	if err != nil {
		return 0, err
	}
	if err := (document.Disk{}).Write(path, out); err != nil {
		return 0, fmt.Errorf("compact the log: %w", err)
	}
	return len(entries), nil
}

// encode returns entries as lines of JSON.
func encode(entries []runlog.Entry) ([]byte, error) {
	var out []byte
	for _, e := range entries {
		line, err := json.Marshal(e)
		if err != nil { // Unreachable: strings and numbers only
			return nil, fmt.Errorf("encode an entry: %w", err)
		}
		out = append(append(out, line...), '\n')
	}
	return out, nil
}

// recent returns entries as readers see them: a summary of the older ones, and the newest.
func (f *files) recent(entries []runlog.Entry) []runlog.Entry {
	old := len(entries) - f.window
	if old <= 0 || old == 1 && entries[0].Kind == runlog.KindSummary {
		return entries
	}
	return append([]runlog.Entry{summarise(entries[:old])}, entries[old:]...)
}

func (f *files) read(key messages.ChatKey) ([]runlog.Entry, error) {
	path, err := f.path(key)
	if err != nil {
		return nil, err
	}
	entries, err := load(path)
	return f.recent(entries), err
}

// load reads the entries of a file. Lines that are not entries are skipped.
func load(path string) ([]runlog.Entry, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // It was only read.
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.NewSectionReader(file, max(0, info.Size()-maxRead), maxRead))
	if err != nil {
		return nil, err
	}
	var out []runlog.Entry
	for line := range bytes.Lines(b) {
		var e runlog.Entry
		if line[len(line)-1] != '\n' || json.Unmarshal(line, &e) != nil {
			continue // partly written, or damaged by a crash
		}
		if e.Kind == runlog.KindRun || e.Kind == runlog.KindSummary {
			out = append(out, e)
		}
	}
	return out, nil
}

// The most that a summary keeps of its runs.
const (
	summaryRequests = 20
	summaryFailures = 10
	summaryTools    = 30
)

// summarise makes one summary of entries, oldest first. A summary among them counts as the runs that
// it replaced. The same entries always give the same summary.
func summarise(entries []runlog.Entry) runlog.Entry {
	out := runlog.Entry{Kind: runlog.KindSummary}
	calls := map[string]int{}
	for _, e := range entries {
		out.TS = max(out.TS, e.TS)
		since := cmp.Or(e.Since, e.TS)
		out.Since = min(cmp.Or(out.Since, since), since)
		out.Failures = append(out.Failures, e.Failures...)
		if e.Kind == runlog.KindSummary {
			out.Runs += e.Runs
			out.Failed += e.Failed
			out.Requests = append(out.Requests, e.Requests...)
			for _, t := range e.Tools {
				calls[t.Name] += t.Calls
			}
			continue
		}
		out.Runs++
		if e.Result == journal.ResultFailed || e.Result == journal.ResultInterrupted {
			out.Failed++
		}
		if e.Request != "" {
			out.Requests = append(out.Requests, e.Request)
		}
		for _, c := range e.Calls {
			calls[c.Name]++
		}
	}
	for name, n := range calls {
		out.Tools = append(out.Tools, runlog.Count{Name: name, Calls: n})
	}
	sort.Slice(out.Tools, func(i, j int) bool {
		a, b := out.Tools[i], out.Tools[j]
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name)) < 0
	})
	out.Tools = out.Tools[:min(len(out.Tools), summaryTools)]
	out.Requests = newest(out.Requests, summaryRequests)
	out.Failures = newest(out.Failures, summaryFailures)
	return out
}

// newest returns the last n members of a list.
func newest(list []string, n int) []string {
	return slices.Clone(list[max(0, len(list)-n):])
}
