package checkup

import (
	"errors"
	"os"
	"strings"
)

// Mark is the verdict of one check.
type Mark string

// The verdicts.
const (
	OK   Mark = "ok"
	Warn Mark = "warn"
	Fail Mark = "fail"
	// Refused is Fail for a credential that a service refused, which has its own exit code. It is shown as Fail.
	Refused Mark = "refused"
)

// Finding is one line of doctor: a fact, and how to fix it.
type Finding struct {
	Group string `json:"group"`
	Mark  Mark   `json:"mark"`
	Fact  string `json:"fact"`
	Fix   string `json:"fix,omitempty"`
}

// New makes a finding.
func New(group string, m Mark, fact, fix string) Finding {
	return Finding{Group: group, Mark: m, Fact: fact, Fix: fix}
}

// ErrText is the system's error message, without repeated paths.
func ErrText(err error) string {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}

// OneLine is the beginning of a text on one line, without control characters.
func OneLine(text string, limit int) string {
	text = strings.Join(strings.Fields(text), " ")
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return -1
		}
		return r
	}, text)
	if runes := []rune(clean); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return clean
}
