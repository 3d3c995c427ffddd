package searchindex

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

const (
	historyName = "messages/history.jsonl"
	// A history is recognised by this many bytes at the start of what was read of it, and as many at
	// its end.
	markBytes = 4096
	// One step reads no more than this, so that other searches are not delayed.
	stepTurns = 500
	stepBytes = 4 << 20
)

// contextsDir is the folder of contexts. They contain messages instead of lines of a history, so
// they have no checksums.
const contextsDir = "contexts/archive"

// archives are the folders of immutable files.
func archives() []string { return []string{"messages/archive", contextsDir} }

func (x *Index) parse(file string, raw []byte) (uimessage.Message, bool) {
	if path.Dir(file) != contextsDir {
		return x.opts.Parse(raw)
	}
	m, err := uimessage.Decode(raw)
	return m, err == nil && m.ID != ""
}

type line struct {
	at  int64 // offset in a history, or line of an archive, from 1
	raw []byte
}

// listArchives returns the names of the archives of a chat, relative to its folder.
func listArchives(dir string) ([]string, error) {
	var out []string
	for _, folder := range archives() {
		entries, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(folder)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("list archives: %w", err)
		}
		for _, e := range entries {
			if e.Type().IsRegular() && strings.HasSuffix(e.Name(), ".json") {
				out = append(out, path.Join(folder, e.Name()))
			}
		}
	}
	return out, nil
}

// openRegular opens a file of a chat if it is a regular file.
func openRegular(dir, name string) (*os.File, int64, error) {
	full := filepath.Join(dir, filepath.FromSlash(name))
	info, err := os.Lstat(full)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	f, err := os.Open(full)
	return f, info.Size(), err
}

// readArchive reads all turns of an archive: the lines of a history, or the messages of a context.
// A file that is not an archive has none.
func readArchive(dir, name string) ([]line, error) {
	f, _, err := openRegular(dir, name)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	var archive struct {
		Lines    []string          `json:"lines"`
		Messages []json.RawMessage `json:"messages"`
	}
	if json.Unmarshal(b, &archive) != nil {
		return nil, nil // damage is reported by verifying the chat
	}
	var out []line
	for i, text := range archive.Lines {
		out = append(out, line{int64(i + 1), []byte(text)})
	}
	for i, raw := range archive.Messages {
		out = append(out, line{int64(i + 1), raw})
	}
	return out, nil
}

// progress is how much of a history was read.
type progress struct {
	done int64  // bytes
	mark uint32 // of those bytes
}

// readTail reads turns of a history from where the index stopped, at most those of one step. anew
// is set if the file was replaced, so that it is read from the start.
func readTail(dir string, before progress) (lines []line, after progress, anew bool, err error) {
	f, size, err := openRegular(dir, historyName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, progress{}, before.done > 0, nil
	}
	if err != nil {
		return nil, before, false, err
	}
	defer func() { _ = f.Close() }() // it was only read
	after = before
	mark, err := markOf(f, min(before.done, size))
	if err != nil {
		return nil, before, false, err
	}
	if before.done > size || mark != before.mark {
		anew, after = before.done > 0, progress{}
	}
	if after.done == size {
		return nil, after, anew, nil
	}
	lines, after.done, err = readLines(io.NewSectionReader(f, after.done, size-after.done), after.done)
	if err == nil {
		after.mark, err = markOf(f, after.done)
	}
	return lines, after, anew, err
}

// readLines reads complete lines; a line without a newline is still being written.
func readLines(from io.Reader, at int64) (lines []line, done int64, err error) {
	r := bufio.NewReaderSize(from, 64<<10)
	for begin := at; len(lines) < stepTurns && at-begin < stepBytes; {
		raw, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return lines, at, nil
		}
		if err != nil {
			return nil, 0, fmt.Errorf("read %s: %w", historyName, err)
		}
		plain := bytes.TrimLeft(raw, " ") // the store may start a line with spaces
		lines = append(lines, line{at + int64(len(raw)-len(plain)), bytes.TrimSuffix(plain, []byte{'\n'})})
		at += int64(len(raw))
	}
	return lines, at, nil
}

// markOf identifies a file by its first n bytes.
func markOf(f io.ReaderAt, n int64) (uint32, error) {
	if n == 0 {
		return 0, nil
	}
	b := make([]byte, min(n, markBytes))
	table := crc32.MakeTable(crc32.Castagnoli)
	sum := uint32(0)
	for _, at := range []int64{0, n - int64(len(b))} {
		if _, err := f.ReadAt(b, at); err != nil {
			return 0, fmt.Errorf("read %s: %w", historyName, err)
		}
		sum = crc32.Update(sum, table, b)
	}
	return sum, nil
}

// errNotFound is the error of a place without a turn.
var errNotFound = errors.New("no turn at this place")

// originals reads turns from their places. It caches the archives that it read.
type originals struct {
	dir      string
	archives map[string][]line
}

// read returns the line at a place, or errNotFound.
func (o *originals) read(file string, at int64) ([]byte, error) {
	if file == historyName {
		return o.history(at)
	}
	lines, ok := o.archives[file]
	if !ok {
		var err error
		if lines, err = readArchive(o.dir, file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		o.archives[file] = lines
	}
	if at < 1 || at > int64(len(lines)) {
		return nil, errNotFound
	}
	return lines[at-1].raw, nil
}

func (o *originals) history(at int64) ([]byte, error) {
	f, size, err := openRegular(o.dir, historyName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNotFound
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	raw, err := bufio.NewReader(io.NewSectionReader(f, at, max(0, size-at))).ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		return nil, errNotFound
	}
	return bytes.TrimSuffix(raw, []byte{'\n'}), err
}

// place is the form in which people and tools write where a turn is.
func place(file string, at int64) string { return file + ":" + strconv.FormatInt(at, 10) }
