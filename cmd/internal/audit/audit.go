// Package audit writes the audit logs of a host. A [Log] has a line for each thing that happened, without its
// content. It never blocks; if the disk is too slow, it drops lines and counts them. [Approvals] has every line about
// requests, grants, executions and orders of operators, each written before the host continues.
package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/persistence/document"
)

const (
	// maxPending bounds the lines that wait for the disk, in bytes.
	maxPending = 1 << 20
	// maxSpare is the size of the largest buffer that is kept for the next lines.
	maxSpare   = 64 << 10
	flushAfter = 200 * time.Millisecond
)

// dayFile is the log file of one UTC day.
type dayFile struct {
	dir, prefix string
	day         string
	file        *os.File
}

// has reports whether the file of a day is open.
func (d *dayFile) has(day string) bool { return d.file != nil && d.day == day }

// open creates or continues the file of a day. The previous file must be closed.
func (d *dayFile) open(day string) error {
	f, err := document.OpenLines(filepath.Join(d.dir, d.prefix+day+".jsonl"))
	if err == nil {
		d.file, d.day = f, day
	}
	return err
}

// Log writes .ship/logs/<UTC date>.jsonl. [Log.Add] may be called concurrently.
type Log struct {
	log       *slog.Logger
	dropped   prometheus.Counter
	approvals *Approvals
	wake      chan struct{} // has a token while lines are pending

	mu      sync.Mutex
	pending []byte
	days    []dayEnd // never empty while lines are pending
	spare   []byte   // the last buffer that was written

	to dayFile // used by Run only
}

// dayEnd says that the pending lines up to an offset belong to a day.
type dayEnd struct {
	day string
	end int
}

// New makes the log of a state folder. Lines about approvals are also written to the approvals log; approvalsFailed
// is called for every one of those that could not be written.
func New(state string, log *slog.Logger, reg prometheus.Registerer, approvalsFailed func(error)) *Log {
	l := &Log{
		to: dayFile{dir: filepath.Join(state, "logs")}, log: log, wake: make(chan struct{}, 1),
		dropped: promauto.With(reg).NewCounter(prometheus.CounterOpts{
			Name: "sma_audit_dropped_total", Help: "Lines of the audit log that were dropped because the disk was too slow.",
		}),
	}
	l.approvals = NewApprovals(state, func(err error) {
		approvalsFailed(err)
		l.dropped.Inc()
	})
	return l
}

// Close closes the approvals log. [Log.Run] closes the other file when it ends.
func (l *Log) Close() error { return l.approvals.Close() }

// Add adds one entry. Only entries of the approvals log are written before it returns.
func (l *Log) Add(e decision.AuditEntry) {
	switch e.Event {
	case "approval", "execution", decision.AuditOrder:
		l.approvals.Write(e)
	}
	if !l.add(&e) {
		l.dropped.Inc()
		return
	}
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// add appends the line of an entry to the pending ones, unless too many wait.
func (l *Log) add(e *decision.AuditEntry) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) >= maxPending {
		return false
	}
	at := e.TS.UTC()
	var day [len(time.DateOnly)]byte
	if n := len(l.days); n == 0 || l.days[n-1].day != string(at.AppendFormat(day[:0], time.DateOnly)) {
		l.days = append(l.days, dayEnd{day: at.Format(time.DateOnly)})
	}
	l.pending = appendAudit(l.pending, at, e)
	l.days[len(l.days)-1].end = len(l.pending)
	return true
}

// Run writes entries until ctx ends, and then those that are still pending. Entries that follow each other closely are
// written together.
func (l *Log) Run(ctx context.Context) {
	defer l.close()
	defer l.flush()
	for {
		select {
		case <-l.wake:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(flushAfter):
			l.flush()
		case <-ctx.Done():
			return
		}
	}
}

// flush writes the pending lines.
func (l *Log) flush() {
	l.mu.Lock()
	lines, days := l.pending, l.days
	l.pending, l.days, l.spare = l.spare[:0], nil, nil
	l.mu.Unlock()
	from := 0
	for _, d := range days {
		if err := l.write(d.day, lines[from:d.end]); err != nil {
			l.log.Error("the audit log cannot be written", "error", err)
			l.dropped.Add(float64(bytes.Count(lines[from:d.end], []byte{'\n'})))
			l.close() // the next lines open the file again
		}
		from = d.end
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if cap(lines) <= maxSpare {
		l.spare = lines
	}
}

func (l *Log) write(day string, lines []byte) error {
	if !l.to.has(day) {
		l.close()
		if err := l.to.open(day); err != nil {
			return err
		}
	}
	_, err := l.to.file.Write(lines)
	return err
}

// appendAudit appends an entry as a line of JSON without its empty members. Members are only ever added.
func appendAudit(b []byte, at time.Time, e *decision.AuditEntry) []byte {
	return append(appendMembers(b, at, e), '}', '\n')
}

// appendMembers appends the line without its end. It leaves out the rule, which is a text.
func appendMembers(b []byte, at time.Time, e *decision.AuditEntry) []byte {
	b = append(b, `{"ts":"`...)
	b = at.AppendFormat(b, "2006-01-02T15:04:05.000Z07:00")
	b = append(b, `","event":`...)
	b = appendText(b, e.Event)
	b = appendMember(b, `,"chatKey":`, string(e.ChatKey))
	b = appendMember(b, `,"requestId":`, e.RequestID)
	b = appendMember(b, `,"runId":`, e.RunID)
	b = appendMember(b, `,"name":`, e.Name)
	b = appendMember(b, `,"result":`, e.Result)
	b = appendMember(b, `,"reason":`, e.Reason)
	if e.Step != 0 {
		b = strconv.AppendInt(append(b, `,"step":`...), int64(e.Step), 10)
	}
	b = appendMember(b, `,"by":`, e.By)
	b = appendMember(b, `,"digest":`, e.Digest)
	b = appendMember(b, `,"callId":`, e.Call)
	if e.Event == decision.AuditModel || e.Event == decision.AuditTool {
		b = strconv.AppendInt(append(b, `,"tookMs":`...), e.Took.Milliseconds(), 10)
	}
	if e.Event == decision.AuditModel {
		b = strconv.AppendInt(append(b, `,"inputTokens":`...), e.InputTokens, 10)
		b = strconv.AppendInt(append(b, `,"cachedTokens":`...), e.CachedTokens, 10)
		b = strconv.AppendInt(append(b, `,"outputTokens":`...), e.OutputTokens, 10)
	}
	return b
}

func appendMember(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return appendText(append(b, name...), value)
}

// appendText appends a JSON string. Most values need no escaping.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			quoted, err := json.Marshal(s)
			if err != nil {
				return append(b, `""`...) // Unreachable: strings encode.
			}
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

func (l *Log) close() {
	if l.to.file == nil {
		return
	}
	if err := l.to.file.Close(); err != nil {
		l.log.Error("the audit log cannot be written", "error", err)
	}
	l.to.file = nil
}

// Approvals writes .ship/approvals/audit-<UTC date>.jsonl: every request, its decision, every grant, every execution
// that a person or a rule allowed, before it starts and when it ends, and every order of an operator. Commands appear as
// digests only. It is safe for concurrent use.
type Approvals struct {
	failed func(error)

	mu   sync.Mutex
	to   dayFile
	line []byte
}

// NewApprovals makes the log of a state folder. failed is called for every line that could not be written.
func NewApprovals(state string, failed func(error)) *Approvals {
	return &Approvals{failed: failed, to: dayFile{dir: filepath.Join(state, "approvals"), prefix: "audit-"}}
}

// Write writes one entry. It has reached the operating system when Write returns.
func (l *Approvals) Write(e decision.AuditEntry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := e.TS.UTC()
	l.line = at.AppendFormat(l.line[:0], time.DateOnly)
	if !l.to.has(string(l.line)) {
		err := l.shut()
		if err == nil {
			err = l.to.open(string(l.line))
		}
		if err != nil {
			l.failed(err)
			return
		}
	}
	l.line = appendMember(appendMembers(l.line[:0], at, &e), `,"rule":`, e.Rule)
	l.line = append(l.line, '}', '\n')
	if _, err := l.to.file.Write(l.line); err != nil {
		l.failed(errors.Join(err, l.shut())) // the next line opens the file again
	}
}

func (l *Approvals) shut() error {
	f := l.to.file
	if f == nil {
		return nil
	}
	l.to.file = nil
	return errors.Join(f.Sync(), f.Close())
}

// Close syncs the log to disk and closes it.
func (l *Approvals) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shut()
}
