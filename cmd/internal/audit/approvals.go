package audit

import (
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
)

// Approvals writes .ship/approvals/audit-<UTC date>.jsonl: every request, its decision, every grant, every
// execution that a person or a rule allowed, before it starts and when it ends, and every order of an operator. Commands appear as digests only. It
// is safe for concurrent use.
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
