package host

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

	"github.com/shipmyagent/shipmyagent/actors/chat/machine"
)

const (
	auditQueue = 8192
	auditFlush = 200 * time.Millisecond
)

// audit writes the audit log: .ship/logs/<UTC date>.jsonl, one line for each
// thing that happened and never what was said. It never makes anybody wait: what
// does not fit into its queue is counted and dropped.
type audit struct {
	dir     string
	log     *slog.Logger
	entries chan *machine.AuditEntry // pointers: a queue that is empty should cost little
	dropped prometheus.Counter
	// approvals takes what is about approvals as well; nil: nobody does.
	approvals *approvalLog

	day  string
	file *os.File
	out  *bufio.Writer
	line []byte // memory to make lines in
}

func newAudit(dir string, log *slog.Logger, reg prometheus.Registerer) *audit {
	return &audit{
		dir: dir, log: log, entries: make(chan *machine.AuditEntry, auditQueue),
		dropped: promauto.With(reg).NewCounter(prometheus.CounterOpts{
			Name: "sma_audit_dropped_total", Help: "Lines of the audit log that were dropped because the disk was too slow.",
		}),
	}
}

// add takes one entry. What is about approvals is written at once, to a log of its
// own that nothing is left out of.
func (a *audit) add(e machine.AuditEntry) {
	if a.approvals != nil && (e.Event == "approval" || e.Event == "execution") {
		a.approvals.write(e)
	}
	select {
	case a.entries <- &e:
	default:
		a.dropped.Inc()
	}
}

// run writes until ctx ends, and then what is left.
func (a *audit) run(ctx context.Context) {
	tick := time.NewTicker(auditFlush)
	defer tick.Stop()
	defer a.close()
	for {
		select {
		case e := <-a.entries:
			a.write(*e)
		case <-tick.C:
			a.flush()
		case <-ctx.Done():
			for {
				select {
				case e := <-a.entries:
					a.write(*e)
				default:
					return
				}
			}
		}
	}
}

func (a *audit) write(e machine.AuditEntry) {
	at := e.TS.UTC()
	a.line = at.AppendFormat(a.line[:0], time.DateOnly)
	err := a.open(a.line)
	if err != nil {
		a.failed(err)
		return
	}
	a.line = appendAudit(a.line[:0], at, &e)
	if _, err = a.out.Write(a.line); err != nil {
		a.failed(err)
	}
}

// appendAudit appends an entry as a line of JSON; members that are empty are left
// out. Members are only ever added.
func appendAudit(b []byte, at time.Time, e *machine.AuditEntry) []byte {
	return append(appendMembers(b, at, e), '}', '\n')
}

// appendMembers is the line without its end. It has no rule: those are texts.
func appendMembers(b []byte, at time.Time, e *machine.AuditEntry) []byte {
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

// appendText appends a JSON string. Ids and words of ours need no escape.
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

// open goes on in the file of a day.
func (a *audit) open(date []byte) error {
	if a.file != nil && a.day == string(date) {
		return nil
	}
	a.close()
	day := string(date)
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(a.dir, day+".jsonl"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	a.day, a.file, a.out = day, f, bufio.NewWriterSize(f, 64<<10)
	return nil
}

func (a *audit) flush() {
	if a.out == nil || a.out.Buffered() == 0 {
		return
	}
	if err := a.out.Flush(); err != nil {
		a.failed(err)
	}
}

// failed gives the file up; the next entry tries a new one.
func (a *audit) failed(err error) {
	a.log.Error("the audit log cannot be written", "error", err)
	a.dropped.Inc()
	if a.file != nil {
		_ = a.file.Close() // it failed already
	}
	a.file, a.out = nil, nil
}

func (a *audit) close() {
	if a.file == nil {
		return
	}
	if err := errors.Join(a.out.Flush(), a.file.Close()); err != nil {
		a.log.Error("the audit log cannot be written", "error", err)
	}
	a.file, a.out = nil, nil
}
