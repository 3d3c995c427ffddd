package keys

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Severity says how bad a finding is.
type Severity string

// Warn is the severity of a finding that does not prevent a start, Error that of one that does.
const (
	Warn  Severity = "warning"
	Error Severity = "error"
)

// Finding is one remark on the settings. It never holds a secret.
type Finding struct {
	Severity Severity `json:"severity"`
	// File is ship.json or .env, or the name of the variable or flag.
	File string `json:"file"`
	// Line and Col count from 1; they are 0 if the place is unknown.
	Line int `json:"line,omitempty"`
	Col  int `json:"col,omitempty"`
	// Key is the settings key that the finding is about, if any.
	Key     string `json:"key,omitempty"`
	Message string `json:"message"`
}

// String writes the finding as file:line:col: message.
func (f Finding) String() string {
	if f.Line == 0 {
		return f.File + ": " + f.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Col, f.Message)
}

// InvalidError says that the settings cannot be used. It has all findings, including warnings, in the order for
// display.
type InvalidError struct{ Findings []Finding }

// Error lists the findings that prevent a start, one per line.
func (e *InvalidError) Error() string {
	var lines []string
	for _, f := range e.Findings {
		if f.Severity == Error {
			lines = append(lines, f.String())
		}
	}
	return strings.Join(lines, "\n")
}

// sortFindings orders findings by place: those of the settings first, then those of .env; those without a line come
// last.
func (r *Reader) sortFindings() {
	rank := func(f *Finding) int { return slices.Index([]string{EnvFile, r.Name}, f.File) }
	line := func(f *Finding) uint { return uint(f.Line) - 1 }
	sort.SliceStable(r.Findings, func(i, j int) bool {
		a, b := &r.Findings[i], &r.Findings[j]
		return cmp.Or(cmp.Compare(rank(b), rank(a)), cmp.Compare(a.File, b.File), cmp.Compare(line(a), line(b)), cmp.Compare(a.Col, b.Col)) < 0
	})
}
