package keys

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"unicode"

	"github.com/shipmyagent/shipmyagent/config/internal/jsonpos"
)

const (
	// maxFile is the largest file of settings.
	maxFile = 1 << 20
	// maxFindings bounds the findings that are reported for one file.
	maxFindings = 200

	bom = "\xef\xbb\xbf"
)

// Spec says what a Reader reads.
type Spec struct {
	Name string // of the file, as findings have it
	Dir  string // the project's folder
	// Env looks a variable up; nil means an empty environment.
	Env func(name string) (string, bool)
	// Strict makes unknown keys and keys without effect errors.
	Strict bool
	Rules  map[string]Rule // by the name that rows have for them
	// Older are keys of earlier versions, one per line: the key and what to do instead, or -> and the key that replaces
	// it. A block that is not listed itself is recognized by the keys in it.
	Older string
}

// Reader reads a file of settings, and texts of variables and flags, into a table of keys, and collects what is wrong.
type Reader struct {
	Spec
	Table Key

	Origins   Origins
	Notes     map[string]Note // on the strings of the file, by key
	Findings  []Finding
	Errors    map[string]string // the first error of every key
	Variables map[string]string // of .env

	dropped  int  // findings beyond the bound
	exists   bool // the file has settings
	expanded int  // number of bytes that strings of the file expanded to
}

// NewReader makes a Reader for a table and writes the defaults to it.
func NewReader(s Spec, table Key) (*Reader, error) {
	dir, err := filepath.Abs(s.Dir)
	if err != nil {
		return nil, fmt.Errorf("find the project folder: %w", err)
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: dir, Err: errNoFolder}
	}
	if err != nil {
		return nil, fmt.Errorf("open the project folder: %w", err)
	}
	s.Dir = dir
	if s.Env == nil {
		s.Env = func(string) (string, bool) { return "", false }
	}
	table.SetDefaults()
	return &Reader{Spec: s, Table: table, Origins: Origins{}, Notes: map[string]Note{}, Errors: map[string]string{}}, nil
}

var errNoFolder = errors.New("not a folder")

// Report adds a finding at an origin.
func (r *Reader) Report(s Severity, at Origin, key, message string) {
	f := Finding{Severity: s, File: at.Name, Line: at.Line, Col: at.Col, Key: Printable(key), Message: Printable(message)}
	switch at.Source {
	case FromFlag:
		f.File = "flag " + at.Name
	case FromDefault:
		f.File = "settings"
	case FromEnv, FromFile, FromKey, FromCatalog:
	}
	if _, known := r.Errors[key]; s == Error && !known {
		r.Errors[key] = f.String()
	}
	if r.full() {
		r.dropped++
		return
	}
	r.Findings = append(r.Findings, f)
}

func (r *Reader) full() bool { return len(r.Findings) >= maxFindings }

// Fault reports an error of a key, unless the message is empty, or the key or the value around it has one already.
func (r *Reader) Fault(key, message string) {
	if message != "" && !r.HasError(key) {
		r.Report(Error, r.Position(key), key, key+" "+message)
	}
}

// FaultIf reports an error of a key under a condition.
func (r *Reader) FaultIf(wrong bool, key, message string) {
	if wrong {
		r.Fault(key, message)
	}
}

// Warn reports a warning about a key.
func (r *Reader) Warn(key, message string) { r.Report(Warn, r.Position(key), key, key+" "+message) }

// HasError reports whether a key, or a value around it, has an error.
func (r *Reader) HasError(key string) bool {
	for ; key != ""; key = key[:max(strings.LastIndexByte(key, '.'), 0)] {
		if _, ok := r.Errors[key]; ok {
			return true
		}
	}
	return false
}

// Position is where a person should look for a key: its own place, that of the key it follows from, that of the block
// around it, or at least the file.
func (r *Reader) Position(key string) Origin {
	for range 100 { // Chains are short; the bound only prevents an endless loop.
		o, ok := r.Origins[key]
		switch {
		case ok && o.Source != FromKey:
			return o
		case ok:
			key = o.Name
		case key != "":
			key = Parent(key)
		case r.exists:
			return Origin{Source: FromFile, Name: r.Name}
		}
	}
	return Origin{Source: FromDefault}
}

// unknownSeverity is the severity of keys without effect.
func (r *Reader) unknownSeverity() Severity {
	if r.Strict {
		return Error
	}
	return Warn
}

// Missing says which variables and files do not exist that the file sets a key to, or returns "".
func (r *Reader) Missing(key string) string {
	if r.Origins[key].Source != FromFile {
		return ""
	}
	return strings.Join(r.Notes[key].missing, ", and ")
}

// ReportMissing reports missing variables and files of the keys that are used.
func (r *Reader) ReportMissing(used func(key string) bool) {
	for _, key := range slices.Sorted(maps.Keys(r.Notes)) {
		missing := r.Missing(key)
		if missing == "" || !used(key) {
			continue
		}
		hint, via := "", r.Origins[key].Via
		if len(via) == 1 && !strings.HasPrefix(via[0], "${file:") {
			hint = "; set it in the environment or in " + EnvFile + ", or write " + strings.TrimSuffix(via[0], "}") + ":-} if it may be empty"
		}
		r.Report(Error, r.Origins[key], key, key+": "+missing+hint)
	}
}

// Finish sorts the findings, and returns them as an error if one of them prevents a start.
func (r *Reader) Finish() error {
	if r.dropped > 0 {
		severity := Warn
		if len(r.Errors) > 0 {
			severity = Error
		}
		r.Findings = append(r.Findings, Finding{Severity: severity, File: "settings", Message: fmt.Sprintf("%d more findings are not shown", r.dropped)})
	}
	r.sortFindings()
	if len(r.Errors) == 0 {
		return nil
	}
	return &InvalidError{Findings: r.Findings}
}

// Printable replaces unprintable characters in findings.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

// Lookup looks a variable up: in the environment, then in .env.
func (r *Reader) Lookup(name string) (string, bool) {
	if text, ok := r.Env(name); ok {
		return text, true
	}
	text, ok := r.Variables[name]
	return text, ok
}

// FromVariable is the origin of a value that a variable sets.
func (r *Reader) FromVariable(name string) Origin {
	if _, set := r.Env(name); !set {
		return Origin{Source: FromEnv, Name: name, Via: []string{EnvFile}}
	}
	return Origin{Source: FromEnv, Name: name}
}

// Absolute resolves a path relative to the project's folder.
func (r *Reader) Absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(r.Dir, path)
}

// ReadEnvFile reads the project's .env, if it exists.
func (r *Reader) ReadEnvFile() {
	path := filepath.Join(r.Dir, EnvFile)
	at := Origin{Source: FromFile, Name: EnvFile}
	src, _ := r.readSettings(path, at, maxEnvFile)
	r.parseEnv(src)
	r.WarnOpen(path, EnvFile, "the mode is %#o, so others may get at the secrets; run: chmod 600 %s")
}

// WarnOpen warns about a file of the project that others can read.
func (r *Reader) WarnOpen(path, name, message string) {
	if mode, open := openToOthers(path); open {
		r.Report(Warn, Origin{Source: FromFile, Name: name}, "", fmt.Sprintf(message, mode, name))
	}
}

// readSettings reads a file that may be missing. It reports one that cannot be read, and returns false.
func (r *Reader) readSettings(path string, at Origin, limit int64) ([]byte, bool) {
	src, err := readSmall(path, limit)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.Report(Error, at, "", "the file cannot be read: "+reason(err))
		return nil, false
	}
	return src, true
}

// ReadFile reads the file of settings, which may be missing or empty. It returns false if nothing more can be said
// about the settings.
func (r *Reader) ReadFile(path string) bool {
	at := Origin{Source: FromFile, Name: r.Name}
	src, ok := r.readSettings(path, at, maxFile)
	if len(bytes.TrimSpace(bytes.TrimPrefix(src, []byte(bom)))) == 0 {
		return ok
	}
	root, err := jsonpos.Parse(src)
	if err != nil {
		if fault, ok := errors.AsType[*jsonpos.SyntaxError](err); ok {
			at.Line, at.Col = fault.Line, fault.Col
		}
		r.Report(Error, at, "", err.Error())
		return false
	}
	r.exists = true
	d := &decoder{Reader: r, origin: at}
	d.value(r.Table, root)
	d.readMoved()
	return true
}

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
