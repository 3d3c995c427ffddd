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
	maxLogLine = 2 << 10   // bytes of one line
	maxLogFile = 512 << 10 // bytes; then the file is rotated
	maxLogRate = 128 << 10 // bytes per minute; more is dropped and counted
	maxTail    = 30        // lines in which the reason for a program's end is searched
)

// LogFile is the path of a server's log in a folder of logs.
func LogFile(logs, server string) string { return filepath.Join(logs, "mcp-"+server+".log") }

// ReadLog returns the newest part of a server's log, from at most two files.
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

// logFile writes the other output of a program, line by line, without secrets. Two files of limited size keep the
// newest part. Writes never fail, since a problem with the log should not stop a server.
type logFile struct {
	path   string
	server *Server
	now    func() time.Time

	mu      sync.Mutex
	line    []byte
	cut     bool // the line is longer than the kept part
	minute  time.Time
	written int
	dropped int
	tail    []string // the newest output of the program since its last start
}

func newLogFile(logs string, server *Server) *logFile {
	return &logFile{path: LogFile(logs, server.Name), server: server, now: time.Now}
}

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

// say writes a line of the host.
func (l *logFile) say(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.line) > 0 {
		l.flush(false)
	}
	l.emit("-- " + fmt.Sprintf(format, args...))
}

// starting notes the start of a program and forgets the output of the previous one.
func (l *logFile) starting(shown string) {
	l.say("starting %s", shown)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tail = nil
}

// lastWords are the newest lines of the program's output, without secrets.
func (l *logFile) lastWords() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.line) > 0 {
		l.flush(false)
	}
	return slices.Clone(l.tail)
}

// flush writes the line; ended says that it is complete. An incomplete line may end inside of a secret, which could
// then no longer be recognized.
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

// emit writes one line within the rate limit.
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
		return // the error cannot be reported anywhere
	}
	_, _ = f.WriteString(line)
	_ = f.Close() // opened for appending only
}

// open opens the file for one line, and rotates it first if it is full. The file is not kept open, because retention
// may remove it after a long time without output.
func (l *logFile) open(room int) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of logs: %w", err)
	}
	if info, err := os.Stat(l.path); err == nil && info.Size()+int64(room) > maxLogFile {
		_ = os.Rename(l.path, l.path+".1") // on an error the file grows a little more
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
