// Package audit writes the audit logs of a host. A [Log] has a line for each thing that happened, without its
// content. It never blocks; if the disk is too slow, it drops lines and counts them. [Approvals] has every line about
// requests, grants and executions, each written before the chat continues.
package audit

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
)

const (
	queueSize  = 8192
	flushEvery = 200 * time.Millisecond
)

// dayFile is the log file of one UTC day.
type dayFile struct {
	dir, prefix string
	day         string
	file        *os.File
}

// has reports whether the file of a day is open.
func (d *dayFile) has(day []byte) bool { return d.file != nil && d.day == string(day) }

// open creates or continues the file of a day. The previous file must be closed.
func (d *dayFile) open(day string) (err error) {
	if err = os.MkdirAll(d.dir, 0o700); err != nil {
		return err
	}
	d.file, err = os.OpenFile(filepath.Join(d.dir, d.prefix+day+".jsonl"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	d.day = day
	return err
}

// Log writes .ship/logs/<UTC date>.jsonl. [Log.Add] may be called concurrently.
type Log struct {
	log       *slog.Logger
	entries   chan *decision.AuditEntry // pointers keep an empty queue small
	dropped   prometheus.Counter
	approvals *Approvals

	to   dayFile // used by Run only, like the following fields
	out  *bufio.Writer
	line []byte // buffer for lines
}

// New makes the log of a state folder. Lines about approvals are also written to the approvals log; approvalsFailed
// is called for every one of those that could not be written.
func New(state string, log *slog.Logger, reg prometheus.Registerer, approvalsFailed func(error)) *Log {
	l := &Log{
		to: dayFile{dir: filepath.Join(state, "logs")}, log: log, entries: make(chan *decision.AuditEntry, queueSize),
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
	if e.Event == "approval" || e.Event == "execution" {
		l.approvals.Write(e)
	}
	select {
	case l.entries <- &e:
	default:
		l.dropped.Inc()
	}
}

// Run writes entries until ctx ends, and then those that are still queued.
func (l *Log) Run(ctx context.Context) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	defer l.close()
	for {
		select {
		case e := <-l.entries:
			l.write(*e)
		case <-tick.C:
			l.flush()
		case <-ctx.Done():
			for {
				select {
				case e := <-l.entries:
					l.write(*e)
				default:
					return
				}
			}
		}
	}
}

func (l *Log) write(e decision.AuditEntry) {
	at := e.TS.UTC()
	l.line = at.AppendFormat(l.line[:0], time.DateOnly)
	err := l.open(l.line)
	if err != nil {
		l.failed(err)
		return
	}
	l.line = appendAudit(l.line[:0], at, &e)
	if _, err = l.out.Write(l.line); err != nil {
		l.failed(err)
	}
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
	return appendMember(b, `,"callId":`, e.Call)
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

// open opens the file of a day.
func (l *Log) open(day []byte) error {
	if l.to.has(day) {
		return nil
	}
	l.close()
	if err := l.to.open(string(day)); err != nil {
		return err
	}
	l.out = bufio.NewWriterSize(l.to.file, 64<<10)
	return nil
}

func (l *Log) flush() {
	if l.out == nil || l.out.Buffered() == 0 {
		return
	}
	if err := l.out.Flush(); err != nil {
		l.failed(err)
	}
}

// failed closes the file after an error; the next entry opens it again.
func (l *Log) failed(err error) {
	l.log.Error("the audit log cannot be written", "error", err)
	l.dropped.Inc()
	if l.to.file != nil {
		_ = l.to.file.Close() // it failed already
	}
	l.to.file, l.out = nil, nil
}

func (l *Log) close() {
	if l.to.file == nil {
		return
	}
	if err := errors.Join(l.out.Flush(), l.to.file.Close()); err != nil {
		l.log.Error("the audit log cannot be written", "error", err)
	}
	l.to.file, l.out = nil, nil
}
