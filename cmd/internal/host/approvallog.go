package host

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine"
)

// approvalLog writes .ship/approvals/audit-<UTC date>.jsonl: every request, who
// decided it, every grant, and every execution that a person or a rule let happen,
// before it begins and when it ends. What was asked and run is there as a digest
// only. Each line is with the system before the chat goes on. It is safe for
// concurrent use.
type approvalLog struct {
	dir    string
	failed func(error)

	mu   sync.Mutex
	day  string
	file *os.File
	line []byte
}

func newApprovalLog(dir string, failed func(error)) *approvalLog {
	return &approvalLog{dir: dir, failed: failed}
}

func (l *approvalLog) write(e machine.AuditEntry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := e.TS.UTC()
	err := l.open(at.Format(time.DateOnly))
	if err == nil {
		l.line = appendMember(appendMembers(l.line[:0], at, &e), `,"rule":`, e.Rule)
		l.line = append(l.line, '}', '\n')
		_, err = l.file.Write(l.line)
	}
	if err != nil {
		l.failed(err)
	}
}

// open goes on in the file of a day.
func (l *approvalLog) open(day string) error {
	if l.file != nil && l.day == day {
		return nil
	}
	err := l.shut()
	if err == nil {
		err = os.MkdirAll(l.dir, 0o700)
	}
	if err != nil {
		return err
	}
	l.file, err = os.OpenFile(filepath.Join(l.dir, "audit-"+day+".jsonl"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	l.day = day
	return err
}

func (l *approvalLog) shut() error {
	if l.file == nil {
		return nil
	}
	f := l.file
	l.file = nil
	return errors.Join(f.Sync(), f.Close())
}

func (l *approvalLog) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shut()
}
