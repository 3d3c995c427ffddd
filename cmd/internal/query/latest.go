package query

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
)

// latest knows when the last turn of each chat was. The files of a chat are read again only once they have changed.
// Their own times would not do: a checkpoint changes them some seconds after the turn.
type latest struct {
	known atomic.Pointer[map[messages.ChatKey]read] // replaced as a whole, never changed
}

// read is what the files of a chat looked like when they were read, and the time of the last turn in them.
type read struct {
	history, journal look
	turn             int64 // in Unix milliseconds, or 0
	// settled says that the files had not changed for a while, so that they look different after the next change.
	settled bool
}

// look is the size of a file and when it was changed, in Unix nanoseconds. It is zero for a missing file.
type look struct{ size, changed int64 }

// of returns the time of a chat's last turn. Without a turn that says its time, it is when the files were changed; it is
// zero without files.
func (r read) of() time.Time {
	switch last := max(r.history.changed, r.journal.changed); {
	case r.turn > 0:
		return time.UnixMilli(r.turn)
	case last > 0:
		return time.Unix(0, last)
	}
	return time.Time{}
}

// again looks at a chat's files, and reads them if they are not as they were.
func (r read) again(store *filestore.Store, key messages.ChatKey) (now read) {
	dir, err := store.ChatDir(key)
	if err != nil {
		return now
	}
	history, journal := filepath.Join(dir, "messages", "history.jsonl"), filepath.Join(dir, "messages", "journal.jsonl")
	now.history, now.journal = lookAt(history), lookAt(journal)
	last := max(now.history.changed, now.journal.changed)
	if last == 0 {
		return now
	}
	if r.settled && now.history == r.history && now.journal == r.journal {
		return r
	}
	now.settled = time.Since(time.Unix(0, last)) > time.Second
	if now.history.size >= r.history.size { // only added to
		now.turn = r.turn
	}
	until := time.Unix(0, last).Add(time.Hour).UnixMilli() // platforms may have other clocks, but not by much
	now.turn = max(now.turn, newest(history, now.history, until), newest(journal, now.journal, until))
	return now
}

func lookAt(file string) look {
	info, err := os.Stat(file)
	if err != nil {
		return look{}
	}
	return look{info.Size(), info.ModTime().UnixNano()}
}

// newest returns the time of the newest turn in the last lines of a file, or 0. The metadata of a message are its last
// member, and begin with its time.
func newest(file string, is look, until int64) (turn int64) {
	const most, member = 64 << 10, `"metadata":{"ts":`
	if is.size == 0 {
		return 0
	}
	f, err := os.Open(file)
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }() // opened for reading only
	text := make([]byte, min(is.size, most))
	n, _ := f.ReadAt(text, max(0, is.size-most)) // a file that was cut meanwhile is read again next time
	for line := range bytes.Lines(text[:n]) {
		at := bytes.LastIndex(line, []byte(member))
		if at < 0 || bytes.Contains(line[at:], []byte(`"kind":"summary"`)) {
			continue // a summary replaces turns and does not count as one
		}
		digits, _, _ := bytes.Cut(line[at+len(member):], []byte(","))
		if ts, err := strconv.ParseInt(string(digits), 10, 64); err == nil && ts <= until {
			turn = max(turn, ts)
		}
	}
	return turn
}
