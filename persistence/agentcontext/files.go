package agentcontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/runlog"
)

const (
	// maxCounted is of how many chats it is known how many lines their files have.
	maxCounted = 4096
	// maxRead bounds what is read of a file that somebody else made long.
	maxRead = 16 << 20
)

// files are the logs of all chats. Only the writer calls add; read is safe beside
// it: a file only grows at its end, or is replaced.
type files struct {
	dir    string
	folder func(messages.ChatKey) (string, error)
	window int
	lines  map[uint64]int // the writer's, by a hash of the key: at worst a file is folded too early
	seed   maphash.Seed
}

func (f *files) path(key messages.ChatKey) (string, error) {
	name, err := f.folder(key)
	if err != nil {
		return "", err
	}
	return filepath.Join(f.dir, filepath.FromSlash(name)+".jsonl"), nil
}

// add writes an entry at the end, and folds a file that has become too long.
func (f *files) add(key messages.ChatKey, entry runlog.Entry) error {
	path, err := f.path(key)
	if err != nil {
		return err
	}
	id := maphash.String(f.seed, string(key))
	n, ok := f.lines[id]
	if !ok {
		entries, err := load(path)
		if err != nil {
			return err
		}
		n = len(entries)
	}
	delete(f.lines, id) // after an error nobody knows
	if n >= 2*f.window {
		if n, err = f.fold(path); err != nil {
			return err
		}
	}
	line, err := json.Marshal(entry)
	if err != nil { // Unreachable: strings and numbers only
		return fmt.Errorf("encode an entry: %w", err)
	}
	if err := appendLine(path, line); err != nil {
		return err
	}
	if len(f.lines) >= maxCounted {
		clear(f.lines)
	}
	f.lines[id] = n + 1
	return nil
}

// fold replaces a file by a summary of its older entries and the newer ones.
func (f *files) fold(path string) (lines int, err error) {
	entries, err := load(path)
	if err != nil {
		return 0, err
	}
	var out []byte
	entries = f.recent(entries)
	for _, e := range entries {
		line, err := json.Marshal(e)
		if err != nil { // Unreachable: strings and numbers only
			return 0, fmt.Errorf("encode an entry: %w", err)
		}
		out = append(append(out, line...), '\n')
	}
	if err := renameio.WriteFile(path, out, 0o600); err != nil {
		return 0, fmt.Errorf("fold the log: %w", err)
	}
	return len(entries), nil
}

// recent are entries as readers see them: the window's newest, and a summary of
// those before.
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

// load reads the entries of a file; what is none is left out.
func load(path string) ([]runlog.Entry, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read from
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
			continue // half of one, or bytes that a crash left
		}
		if e.Kind == runlog.KindRun || e.Kind == runlog.KindSummary {
			out = append(out, e)
		}
	}
	return out, nil
}

// appendLine writes a line at the end of a file; half a line there is closed first.
func appendLine(path string, line []byte) (err error) {
	const flags = os.O_RDWR | os.O_CREATE | os.O_APPEND
	file, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			file, err = os.OpenFile(path, flags, 0o600)
		}
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if size := info.Size(); size > 0 {
		var last [1]byte
		if _, err := file.ReadAt(last[:], size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			line = append([]byte{'\n'}, line...)
		}
	}
	_, err = file.Write(line)
	return err
}
