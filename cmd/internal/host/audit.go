package host

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/shipmyagent/shipmyagent/actors/chat"
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
	entries chan chat.AuditEntry
	dropped prometheus.Counter

	day  string
	file *os.File
	out  *bufio.Writer
}

// auditLine is the form of a line. Members are only added.
type auditLine struct {
	Time      string `json:"ts"`
	Event     string `json:"event"`
	ChatKey   string `json:"chatKey,omitempty"`
	RequestID string `json:"requestId,omitempty"`
	RunID     string `json:"runId,omitempty"`
	Name      string `json:"name,omitempty"`
	Result    string `json:"result,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Step      int    `json:"step,omitempty"`
	By        string `json:"by,omitempty"`
	Digest    string `json:"digest,omitempty"`
}

func newAudit(dir string, log *slog.Logger, reg prometheus.Registerer) *audit {
	return &audit{
		dir: dir, log: log, entries: make(chan chat.AuditEntry, auditQueue),
		dropped: promauto.With(reg).NewCounter(prometheus.CounterOpts{
			Name: "sma_audit_dropped_total", Help: "Lines of the audit log that were dropped because the disk was too slow.",
		}),
	}
}

// add takes one entry.
func (a *audit) add(e chat.AuditEntry) {
	select {
	case a.entries <- e:
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
			a.write(e)
		case <-tick.C:
			a.flush()
		case <-ctx.Done():
			for {
				select {
				case e := <-a.entries:
					a.write(e)
				default:
					return
				}
			}
		}
	}
}

func (a *audit) write(e chat.AuditEntry) {
	at := e.TS.UTC()
	if err := a.open(at.Format(time.DateOnly)); err != nil {
		a.failed(err)
		return
	}
	line, err := json.Marshal(auditLine{
		Time: at.Format("2006-01-02T15:04:05.000Z07:00"), Event: e.Event, ChatKey: string(e.ChatKey), RequestID: e.RequestID,
		RunID: e.RunID, Name: e.Name, Result: e.Result, Reason: e.Reason, Step: e.Step, By: e.By, Digest: e.Digest,
	})
	if err == nil {
		_, err = a.out.Write(append(line, '\n'))
	}
	if err != nil {
		a.failed(err)
	}
}

// open goes on in the file of a day.
func (a *audit) open(day string) error {
	if a.file != nil && a.day == day {
		return nil
	}
	a.close()
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
