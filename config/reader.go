package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
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

// reader reads a file of settings, and texts of variables and flags, into a table of keys, and collects what is wrong.
// ship.json and mcp.json each have one.
type reader struct {
	Options
	name  string // of the file, as findings have it
	table keyValue
	rules map[string]rule

	origins  origins
	notes    map[string]note // on the strings of the file, by key
	findings []Finding
	errors   map[string]string // the first error of every key
	dropped  int               // findings beyond the bound
	files    []string
	exists   bool // the file has settings

	variables map[string]string // of .env
	expanded  int               // number of bytes that strings of the file expanded to
}

// newReader makes a reader for a table, a pointer to a struct.
func newReader(o Options, name string, p any) (*reader, error) {
	dir, err := filepath.Abs(o.Dir)
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
	o.Dir = dir
	if o.Env == nil {
		o.Env = func(string) (string, bool) { return "", false }
	}
	r := &reader{Options: o, name: name, table: table(p), rules: rules(), origins: origins{}, notes: map[string]note{}, errors: map[string]string{}}
	r.table.setDefaults()
	return r, nil
}

var errNoFolder = errors.New("not a folder")

// report adds a finding at an origin.
func (r *reader) report(s Severity, at Origin, key, message string) {
	f := Finding{Severity: s, File: at.Name, Line: at.Line, Col: at.Col, Key: printable(key), Message: printable(message)}
	switch at.Source {
	case FromFlag:
		f.File = "flag " + at.Name
	case FromDefault:
		f.File = "settings"
	case FromEnv, FromFile, FromKey:
	}
	if _, known := r.errors[key]; s == Error && !known {
		r.errors[key] = f.String()
	}
	if r.full() {
		r.dropped++
		return
	}
	r.findings = append(r.findings, f)
}

func (r *reader) full() bool { return len(r.findings) >= maxFindings }

// fault reports an error of a key, unless the message is empty, or the key or the value around it has one already.
func (r *reader) fault(key, message string) {
	if message != "" && !r.hasError(key) {
		r.report(Error, r.place(key), key, key+" "+message)
	}
}

// faultIf reports an error of a key under a condition.
func (r *reader) faultIf(wrong bool, key, message string) {
	if wrong {
		r.fault(key, message)
	}
}

func (r *reader) warn(key, message string) { r.report(Warn, r.place(key), key, key+" "+message) }

// hasError reports whether a key, or a value around it, has an error.
func (r *reader) hasError(key string) bool {
	for ; key != ""; key = key[:max(strings.LastIndexByte(key, '.'), 0)] {
		if _, ok := r.errors[key]; ok {
			return true
		}
	}
	return false
}

// place is where to look for a key: at least the file in which it would be set.
func (r *reader) place(key string) Origin {
	o := r.origins.place(key)
	if o.Source == FromDefault && r.exists {
		return Origin{Source: FromFile, Name: r.name}
	}
	return o
}

// unknownSeverity is the severity of keys without effect.
func (r *reader) unknownSeverity() Severity {
	if r.Strict {
		return Error
	}
	return Warn
}

// isMissing reports whether the file sets a key to a missing variable or file.
func (r *reader) isMissing(key string) bool {
	return len(r.notes[key].missing) > 0 && r.origins[key].Source == FromFile
}

func (r *reader) whatIsMissing(key string) string {
	return strings.Join(r.notes[key].missing, ", and ")
}

// reportMissing reports missing variables and files of the keys that are used.
func (r *reader) reportMissing(used func(key string) bool) {
	for _, key := range slices.Sorted(maps.Keys(r.notes)) {
		if !r.isMissing(key) || !used(key) {
			continue
		}
		hint, via := "", r.origins[key].Via
		if len(via) == 1 && !strings.HasPrefix(via[0], "${file:") {
			hint = "; set it in the environment or in " + envFileName + ", or write " + strings.TrimSuffix(via[0], "}") + ":-} if it may be empty"
		}
		r.report(Error, r.origins[key], key, key+": "+r.whatIsMissing(key)+hint)
	}
}

// invalid is the error with the sorted findings, or nil if nothing prevents a start.
func (r *reader) invalid() error {
	sortFindings(r.findings)
	if len(r.errors) == 0 {
		return nil
	}
	return &InvalidError{Findings: r.findings}
}

// printable replaces unprintable characters in findings.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

func (r *reader) addFiles(paths ...string) {
	for _, p := range paths {
		if !slices.Contains(r.files, p) {
			r.files = append(r.files, p)
		}
	}
}

// byOperator reports whether a variable is set outside of the project.
func (r *reader) byOperator(name string) bool {
	_, ok := r.Env(name)
	return ok
}

func (r *reader) lookup(name string) (string, bool) {
	if text, ok := r.Env(name); ok {
		return text, true
	}
	text, ok := r.variables[name]
	return text, ok
}

// fromVariable is the origin of a value that a variable sets.
func (r *reader) fromVariable(name string) Origin {
	at := Origin{Source: FromEnv, Name: name}
	if !r.byOperator(name) {
		at.Via = []string{envFileName}
	}
	return at
}

// absolute resolves a path relative to the project's folder.
func (r *reader) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(r.Dir, path)
}

// readEnvFile reads the project's .env, if it exists.
func (r *reader) readEnvFile() {
	path := filepath.Join(r.Dir, envFileName)
	at := Origin{Source: FromFile, Name: envFileName}
	src, _ := r.readSettings(path, at, maxEnvFile)
	vars, faults := parseEnv(src)
	r.variables = vars
	for _, f := range faults {
		r.report(Error, Origin{Source: FromFile, Name: envFileName, Line: f.line, Col: 1}, "", f.message)
	}
	r.warnOpen(path, envFileName, "the mode is %#o, so others may get at the secrets; run: chmod 600 %s")
}

// warnOpen warns about a file of the project that others can read.
func (r *reader) warnOpen(path, name, message string) {
	if mode, open := openToOthers(path); open {
		r.report(Warn, Origin{Source: FromFile, Name: name}, "", fmt.Sprintf(message, mode, name))
	}
}

// readSettings reads a file that may be missing. It reports one that cannot be read, and returns false.
func (r *reader) readSettings(path string, at Origin, limit int64) ([]byte, bool) {
	r.addFiles(path)
	src, err := readSmall(path, limit)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.report(Error, at, "", "the file cannot be read: "+reason(err))
		return nil, false
	}
	return src, true
}

// readFile reads the file of settings, which may be missing or empty. It returns false if nothing more can be said
// about the settings.
func (r *reader) readFile(path string) bool {
	at := Origin{Source: FromFile, Name: r.name}
	src, ok := r.readSettings(path, at, maxFile)
	if len(bytes.TrimSpace(bytes.TrimPrefix(src, []byte(bom)))) == 0 {
		return ok
	}
	root, err := jsonpos.Parse(src)
	if err != nil {
		if fault, ok := errors.AsType[*jsonpos.SyntaxError](err); ok {
			at.Line, at.Col = fault.Line, fault.Col
		}
		r.report(Error, at, "", err.Error())
		return false
	}
	r.exists = true
	d := &decoder{reader: r, origin: at}
	d.value(r.table, root)
	d.readMoved()
	return true
}
