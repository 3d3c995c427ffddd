package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"github.com/shipmyagent/shipmyagent/config/internal/jsonpos"
)

// FileName is the settings file of a project.
const FileName = "ship.json"

const (
	// maxFile is the largest ship.json.
	maxFile = 1 << 20
	// maxFindings bounds the findings that are reported for one project.
	maxFindings = 200
)

// Options configure Load.
type Options struct {
	// Dir is the project's folder.
	Dir string
	// Env looks a variable up, usually os.LookupEnv; nil means an empty environment.
	Env func(name string) (string, bool)
	// Flags are values given on the command line, by key, such as "llm.model". Secrets are refused, since others can
	// see command lines.
	Flags map[string]string
	// Names lists the variables of the environment, so that misspelled names of settings are reported. If it is nil,
	// only those of .env are checked.
	Names func() []string
	// VoidRule reports whether a rule for commands covers nothing. If it is nil, rules are not checked.
	VoidRule func(rule string) bool
	// DenyFault says why a deny rule can never match. If it is nil, deny rules are not checked.
	DenyFault func(rule string) error
	// Strict makes unknown keys and keys without effect errors, as "config check" wants.
	Strict bool
}

// Loaded are the settings of a project and their origins. It is read-only and safe for concurrent use.
type Loaded struct {
	Settings Settings
	// Findings are the warnings.
	Findings []Finding
	// Files are the absolute paths of all files that were read, or that would have been read if they existed. The
	// settings may change when one of them does.
	Files []string

	reaches []Reach
	loader  *loader
}

// Lookup looks a variable up like Load: in the environment, then in the project's .env. The value may be secret.
func (l *Loaded) Lookup(name string) (string, bool) { return l.loader.lookup(name) }

// Origin says where the value of a key came from.
func (l *Loaded) Origin(key string) Origin { return l.loader.origins.of(key) }

// Load reads the settings. ship.json may be missing or empty. Unusable settings are an [*InvalidError] with all
// findings; any other error means that the folder could not be read.
func Load(o Options) (*Loaded, error) {
	l, err := newLoader(o)
	if err != nil {
		return nil, err
	}
	l.readEnvFile()
	if l.readFile() {
		l.readVariables()
		l.readFlags()
		l.resolve()
		l.check()
	}
	return l.result()
}

// loader collects the results of Load.
type loader struct {
	Options
	settings Settings
	origins  origins
	findings []Finding
	dropped  int
	failed   bool // an Error was reported
	hasFile  bool // ship.json exists
	files    []string

	variables map[string]string       // of .env
	notes     map[string]expansion    // by key
	missing   map[string]missingValue // by key
	literals  []literalSecret
	expanded  int // number of bytes that strings of the files expanded to
}

// missingValue is a string of ship.json that names variables or files that do not exist.
type missingValue struct {
	origin Origin
	what   []string
}

// literalSecret is a secret that ship.json itself contains.
type literalSecret struct {
	key, variable string
	origin        Origin
}

func newLoader(o Options) (*loader, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("find the project folder: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("open the project folder: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("open the project folder: %w", &fs.PathError{Op: "open", Path: dir, Err: errNoFolder})
	}
	o.Dir = dir
	if o.Env == nil {
		o.Env = func(string) (string, bool) { return "", false }
	}
	return &loader{Options: o, settings: Default(), origins: origins{}, missing: map[string]missingValue{}, notes: map[string]expansion{}}, nil
}

var errNoFolder = errors.New("not a folder")

func (l *loader) result() (*Loaded, error) {
	if l.dropped > 0 {
		severity := Warn
		if l.failed {
			severity = Error
		}
		l.findings = append(l.findings, Finding{Severity: severity, File: "settings", Message: fmt.Sprintf("%d more findings are not shown", l.dropped)})
	}
	sortFindings(l.findings)
	if l.failed {
		return nil, &InvalidError{Findings: l.findings}
	}
	return &Loaded{Settings: l.settings, Findings: l.findings, Files: l.files, reaches: l.reaches(), loader: l}, nil
}

// report adds a finding at an origin.
func (l *loader) report(s Severity, at Origin, key, message string) {
	l.failed = l.failed || s == Error
	if l.full() {
		l.dropped++
		return
	}
	f := Finding{Severity: s, File: at.Name, Line: at.Line, Col: at.Col, Key: printable(key), Message: printable(message)}
	if at.Source == FromFlag {
		f.File = "flag " + at.Name
	}
	if at.Source == FromDefault {
		f.File = "settings"
	}
	l.findings = append(l.findings, f)
}

func (l *loader) full() bool { return len(l.findings) >= maxFindings }

// printable replaces unprintable characters in findings.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

// unknownSeverity is the severity of keys without effect.
func (l *loader) unknownSeverity() Severity {
	if l.Strict {
		return Error
	}
	return Warn
}

// byOperator reports whether a variable is set outside of the project.
func (l *loader) byOperator(name string) bool {
	_, ok := l.Env(name)
	return ok
}

func (l *loader) addFiles(paths ...string) {
	for _, p := range paths {
		if !slices.Contains(l.files, p) {
			l.files = append(l.files, p)
		}
	}
}

func (l *loader) lookup(name string) (string, bool) {
	if text, ok := l.Env(name); ok {
		return text, true
	}
	text, ok := l.variables[name]
	return text, ok
}

// readEnvFile reads the project's .env, if it exists.
func (l *loader) readEnvFile() {
	path := filepath.Join(l.Dir, envFileName)
	l.addFiles(path)
	at := Origin{Source: FromFile, Name: envFileName}
	src, err := readSmall(path, maxEnvFile)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		l.report(Error, at, "", "the file cannot be read: "+reason(err))
		return
	}
	vars, findings := parseEnv(src)
	l.variables = vars
	for _, f := range findings {
		at.Line, at.Col = f.Line, f.Col
		l.report(f.Severity, at, "", f.Message)
	}
	at.Line, at.Col = 0, 0
	if info, err := os.Stat(path); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&^0o600 != 0 {
		l.report(Warn, at, "", fmt.Sprintf("the mode is %#o, so others may get at the secrets; run: chmod 600 %s", info.Mode().Perm(), envFileName))
	}
}

// parse parses a settings file. The tree is nil if the file does not exist or is empty. It reports an unusable file
// and returns false.
func (l *loader) parse(path string, at Origin) (root *jsonpos.Node, ok bool) {
	l.addFiles(path)
	src, err := readSmall(path, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(bytes.TrimSpace(bytes.TrimPrefix(src, []byte("\xef\xbb\xbf")))) == 0:
		return nil, true
	case err != nil:
		l.report(Error, at, "", "the file cannot be read: "+reason(err))
		return nil, false
	}
	if root, err = jsonpos.Parse(src); err == nil {
		return root, true
	}
	if fault, ok := errors.AsType[*jsonpos.SyntaxError](err); ok {
		at.Line, at.Col = fault.Line, fault.Col
	}
	l.report(Error, at, "", err.Error())
	return nil, false
}

// readFile reads ship.json, if it exists. It returns false if the settings cannot be checked any further.
func (l *loader) readFile() bool {
	at := Origin{Source: FromFile, Name: FileName}
	root, ok := l.parse(filepath.Join(l.Dir, FileName), at)
	if root == nil {
		return ok
	}
	l.hasFile = true
	d := &decoder{loader: l, origin: at, expands: true}
	settings := keyValue{value: settingsValue(&l.settings)}
	d.value(settings, root)
	d.readMoved(settings)
	return true
}

// readVariables reads the SMA_ variables of all keys.
func (l *loader) readVariables() {
	for _, k := range fixedKeys(settingsValue(&l.settings)) {
		if strings.HasPrefix(k.key, "$") {
			continue
		}
		l.readVariable(k, EnvName(k.key))
	}
}

// readVariable sets a key from a variable, if it is set.
func (l *loader) readVariable(k keyValue, name string) {
	text, ok := l.lookup(name)
	if !ok || text == "" {
		return
	}
	at := Origin{Source: FromEnv, Name: name}
	if !l.byOperator(name) {
		at.Via = []string{envFileName}
	}
	l.readText(k, text, at)
}

func (l *loader) readFlags() {
	for _, key := range slices.Sorted(maps.Keys(l.Flags)) {
		at := Origin{Source: FromFlag, Name: key}
		k, ok := keyAt(settingsValue(&l.settings), key)
		switch {
		case !ok || isBlock(k.value.Type()):
			l.report(Error, at, key, fmt.Sprintf("there is no key %q to set", shorten(key)))
		case k.value.Type() == reflect.TypeFor[Secret]():
			l.report(Error, at, key, fmt.Sprintf("a secret is not given on the command line, where others see it; set %s", EnvName(key)))
		default:
			l.readText(k, l.Flags[key], at)
		}
	}
}

// readText sets a key from the text of a variable or flag.
func (l *loader) readText(k keyValue, text string, at Origin) {
	d := &decoder{loader: l, origin: at}
	n, err := textNode(k.value.Type(), text)
	if err != nil {
		l.report(Error, at, k.key, k.key+" wants JSON: "+err.Error())
		return
	}
	l.origins.replace(k.key, at)
	d.value(k, n)
	l.origins.replace(k.key, at)
}

// textNode makes the node that ship.json would have for a plain text.
func textNode(t reflect.Type, text string) (*jsonpos.Node, error) {
	word := &jsonpos.Node{Kind: jsonpos.String, Text: text}
	parsed, err := jsonpos.Parse([]byte(text))
	flag := map[string]string{"1": "true", "true": "true", "yes": "true", "on": "true", "0": "false", "false": "false", "no": "false", "off": "false"}[strings.ToLower(strings.TrimSpace(text))]
	switch {
	case t == reflect.TypeFor[Secret](), t.Kind() == reflect.String:
	case flag != "" && (t.Kind() == reflect.Bool || t == reflect.TypeFor[Tags]()):
		return &jsonpos.Node{Kind: jsonpos.Bool, Text: flag}, nil
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String && !strings.HasPrefix(strings.TrimSpace(text), "["):
		n := &jsonpos.Node{Kind: jsonpos.Array}
		for item := range strings.SplitSeq(text, ",") {
			n.Items = append(n.Items, &jsonpos.Node{Kind: jsonpos.String, Text: strings.TrimSpace(item)})
		}
		return n, nil
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Map:
		return parsed, err
	case err == nil && parsed.Kind == jsonpos.Number:
		return parsed, nil
	}
	return word, nil
}
