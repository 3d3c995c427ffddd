package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/config/internal/keys"
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

	reaches []Reach
	loader  *loader
}

// Lookup looks a variable up like Load: in the environment, then in the project's .env. The value may be secret.
func (l *Loaded) Lookup(name string) (string, bool) { return l.loader.Lookup(name) }

// Origin says where the value of a key came from.
func (l *Loaded) Origin(key string) Origin { return l.loader.Origins.Of(key) }

// Load reads the settings. ship.json may be missing or empty. Unusable settings are an [*InvalidError] with all
// findings; any other error means that the folder could not be read.
func Load(o Options) (*Loaded, error) {
	l := &loader{options: o}
	var err error
	if l.Reader, err = keys.NewReader(o.spec(FileName, olderKeys), keys.Table(&l.settings)); err != nil {
		return nil, err
	}
	l.ReadEnvFile()
	if l.ReadFile(filepath.Join(l.Dir, FileName)) {
		l.readVariables()
		l.readFlags()
		l.resolve()
		l.validate()
	}
	if err := l.Finish(); err != nil {
		return nil, err
	}
	return &Loaded{Settings: l.settings, Findings: l.Findings, reaches: l.reaches(), loader: l}, nil
}

// spec says how a file of settings is read.
func (o Options) spec(name, older string) keys.Spec {
	return keys.Spec{Name: name, Dir: o.Dir, Env: o.Env, Strict: o.Strict, Rules: rules(), Older: older}
}

// loader reads ship.json.
type loader struct {
	*keys.Reader
	options  Options
	settings Settings
}

// readVariables reads the SMA_ variables of all keys, and warns about those that set nothing.
func (l *loader) readVariables() {
	known := []string{"SMA_TRUST"} // It sets no key.
	for _, k := range l.Table.Fixed() {
		known = append(known, EnvName(k.Path))
		if !strings.HasPrefix(k.Path, "$") {
			l.readVariable(k, EnvName(k.Path))
		}
	}
	names := slices.Collect(maps.Keys(l.Variables))
	if l.options.Names != nil {
		names = append(names, l.options.Names()...)
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
		l.Report(Warn, Origin{Source: FromEnv, Name: name}, "", fmt.Sprintf("no setting has the variable %s%s", keys.Shorten(name), hint))
	}
}

// readVariable sets a key from a variable, if it is set.
func (l *loader) readVariable(k keys.Key, name string) {
	if text, _ := l.Lookup(name); text != "" {
		l.ReadText(k, text, l.FromVariable(name))
	}
}

func (l *loader) readFlags() {
	for _, key := range slices.Sorted(maps.Keys(l.options.Flags)) {
		at := Origin{Source: FromFlag, Name: key}
		k, ok := l.Table.At(key)
		switch {
		case !ok || keys.IsBlock(k.Value.Type()):
			l.Report(Error, at, key, fmt.Sprintf("there is no key %q to set", keys.Shorten(key)))
		case k.Value.Type() == reflect.TypeFor[Secret]():
			l.Report(Error, at, key, fmt.Sprintf("a secret is not given on the command line, where others see it; set %s", EnvName(key)))
		default:
			l.ReadText(k, l.options.Flags[key], at)
		}
	}
}

// Default returns the settings of a project that sets nothing. They are valid: the demo model in the web chat on
// loopback and in the terminal.
func Default() Settings {
	var s Settings
	keys.Table(&s).SetDefaults()
	return s
}

// Schema returns the JSON Schema of ship.json, which is made from the table.
func Schema() []byte {
	return keys.Table(&Settings{}).Schema(FileName, "Settings of a ShipMyAgent project. Everything is optional. Strings expand ${NAME}, ${NAME:-text} and ${file:path}.")
}
