package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// FileName is the settings file of a project.
const FileName = "ship.json"

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
	l := &loader{}
	var err error
	if l.reader, err = newReader(o, FileName, &l.settings); err != nil {
		return nil, err
	}
	l.readEnvFile()
	if l.readFile(filepath.Join(l.Dir, FileName)) {
		l.readVariables()
		l.readFlags()
		l.resolve()
		l.validate()
	}
	if l.dropped > 0 {
		severity := Warn
		if len(l.errors) > 0 {
			severity = Error
		}
		l.findings = append(l.findings, Finding{Severity: severity, File: "settings", Message: fmt.Sprintf("%d more findings are not shown", l.dropped)})
	}
	if err := l.invalid(); err != nil {
		return nil, err
	}
	return &Loaded{Settings: l.settings, Findings: l.findings, Files: l.files, reaches: l.reaches(), loader: l}, nil
}

// loader reads ship.json.
type loader struct {
	*reader
	settings Settings
}

// readVariables reads the SMA_ variables of all keys, and warns about those that set nothing.
func (l *loader) readVariables() {
	known := []string{"SMA_TRUST"} // It sets no key.
	for _, k := range l.table.fixed() {
		known = append(known, EnvName(k.key))
		if !strings.HasPrefix(k.key, "$") {
			l.readVariable(k, EnvName(k.key))
		}
	}
	names := slices.Collect(maps.Keys(l.variables))
	if l.Names != nil {
		names = append(names, l.Names()...)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if !strings.HasPrefix(name, "SMA_") || slices.Contains(known, name) {
			continue
		}
		hint := "; sma config show lists the settings, and llm.model is SMA_LLM_MODEL"
		if near := Nearest(name, known); near != "" {
			hint = fmt.Sprintf("; did you mean %s?", near)
		}
		l.report(Warn, Origin{Source: FromEnv, Name: name}, "", fmt.Sprintf("no setting has the variable %s%s", shorten(name), hint))
	}
}

// readVariable sets a key from a variable, if it is set.
func (l *loader) readVariable(k keyValue, name string) {
	if text, _ := l.lookup(name); text != "" {
		l.readText(k, text, l.fromVariable(name))
	}
}

func (l *loader) readFlags() {
	for _, key := range slices.Sorted(maps.Keys(l.Flags)) {
		at := Origin{Source: FromFlag, Name: key}
		k, ok := l.table.at(key)
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
