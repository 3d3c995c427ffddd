package mcp

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	maxLogLine  = 2 << 10   // bytes of one line
	maxLogFile  = 512 << 10 // bytes; then the file becomes the older of two
	maxLogRate  = 128 << 10 // bytes a minute; more is dropped and counted
	maxLogTotal = 2 * maxLogFile
	maxTail     = 30 // lines that are looked through for why a program ended
)

// LogFile is where a server's log is, below a folder of logs.
func LogFile(logs, server string) string { return filepath.Join(logs, "mcp-"+server+".log") }

// ReadLog is the newest of a server's log, at most two files' worth of it.
func ReadLog(logs, server string) (string, error) {
	path := LogFile(logs, server)
	older, err := os.ReadFile(path + ".1")
	if err != nil && !os.IsNotExist(err) {
		return "", fmt.Errorf("read the older log: %w", err)
	}
	newer, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return "", fmt.Errorf("read the log: %w", err)
	}
	return string(older) + string(newer), nil
}

// logFile takes what a program says beside the protocol, line by line, without
// secrets. However much that is, two small files hold the newest of it. Writes never
// fail: a log that cannot be written is no reason to stop a server.
type logFile struct {
	path   string
	server *Server
	now    func() time.Time

	mu      sync.Mutex
	line    []byte
	cut     bool // the line is longer than what is kept of it
	minute  time.Time
	written int
	dropped int
	tail    []string // the newest of what the program said since it was started last
}

func newLogFile(logs string, server *Server) *logFile {
	return &logFile{path: LogFile(logs, server.Name), server: server, now: time.Now}
}

// Write implements [io.Writer].
func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(p)
	for len(p) > 0 {
		rest := []byte(nil)
		end := bytes.IndexByte(p, '\n')
		part := p
		if end >= 0 {
			part, rest = p[:end], p[end+1:]
		}
		room := max(0, maxLogLine-len(l.line))
		l.cut = l.cut || len(part) > room
		l.line = append(l.line, part[:min(room, len(part))]...)
		if end >= 0 {
			l.flush(true)
		}
		p = rest
	}
	return n, nil
}

// say writes a line of ours.
func (l *logFile) say(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.line) > 0 {
		l.flush(false)
	}
	l.emit("-- " + fmt.Sprintf(format, args...))
}

// starting says that a program is started, whose words are others than those before.
func (l *logFile) starting(shown string) {
	l.say("starting %s", shown)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tail = nil
}

// lastWords are the newest lines of what the program said, without secrets.
func (l *logFile) lastWords() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.line) > 0 {
		l.flush(false)
	}
	return slices.Clone(l.tail)
}

// flush writes the line; ended says that it came to its end. One that did not may end
// inside of a secret, which nobody would know for one any more.
func (l *logFile) flush(ended bool) {
	text := string(l.line)
	if l.cut || !ended {
		text = l.server.withoutBegun(text)
	}
	if l.cut {
		text += " …"
	}
	l.line, l.cut = l.line[:0], false
	if line := clean(l.server.mask(text), maxLogLine); strings.TrimSpace(line) != "" {
		l.tail = append(l.tail[max(0, len(l.tail)-maxTail+1):], line)
	}
	l.emit(text)
}

// emit writes one line within the rate.
func (l *logFile) emit(text string) {
	now := l.now()
	if now.Sub(l.minute) >= time.Minute {
		dropped := l.dropped
		l.minute, l.written, l.dropped = now, 0, 0
		if dropped > 0 {
			l.put(now, fmt.Sprintf("-- %d bytes were dropped: more than %d came in a minute", dropped, maxLogRate))
		}
	}
	if l.written+len(text) > maxLogRate {
		l.dropped += len(text) + 1
		return
	}
	l.put(now, text)
}

func (l *logFile) put(now time.Time, text string) {
	l.written += len(text) + 1
	text = clean(l.server.mask(text), maxLogLine+64)
	text = strings.ReplaceAll(text, "\n", " ")
	line := now.UTC().Format(time.RFC3339) + " " + text + "\n"
	f, err := l.open(len(line))
	if err != nil {
		return // there is nowhere to complain
	}
	_, _ = f.WriteString(line)
	_ = f.Close() // it was only appended to
}

// open opens the file for one line, and makes it the older one before if it is full. It
// is not kept open: whoever tidies up may remove a file that was silent for long.
func (l *logFile) open(room int) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of logs: %w", err)
	}
	if info, err := os.Stat(l.path); err == nil && info.Size()+int64(room) > maxLogFile {
		_ = os.Rename(l.path, l.path+".1") // fails: the file grows a little more
	}
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return f, nil
}

func (l *logFile) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.line) > 0 {
		l.flush(false)
	}
}
