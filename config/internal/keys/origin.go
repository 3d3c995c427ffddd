package keys

import (
	"fmt"
	"strings"
)

// Source is where a value came from.
type Source string

// The sources, strongest first.
const (
	FromFlag    Source = "flag"
	FromEnv     Source = "environment"
	FromFile    Source = "file"
	FromKey     Source = "key" // follows from another key
	FromCatalog Source = "catalog"
	FromDefault Source = "default"
)

// Origin says where the value of a key came from.
type Origin struct {
	Source Source
	// Name is the variable, the file, the flag, the other key, or the entry of the catalog.
	Name string
	// Line and Col are the place in the file.
	Line, Col int
	// Via names the variables and files that a string of ship.json was expanded from, or .env if a variable is set
	// there.
	Via []string
}

// String formats the origin for people, for example "ship.json:3:12 via ${LLM_KEY}".
func (o Origin) String() string {
	switch o.Source {
	case FromFlag:
		return "flag"
	case FromEnv:
		return strings.Join(append([]string{o.Name}, o.Via...), " of ")
	case FromFile:
		at := fmt.Sprintf("%s:%d:%d", o.Name, o.Line, o.Col)
		if len(o.Via) > 0 {
			at += " via " + strings.Join(o.Via, ", ")
		}
		return at
	case FromKey:
		return "follows from " + o.Name
	case FromCatalog:
		return "catalog: " + o.Name
	case FromDefault:
	}
	return "default"
}

// Origins has the origin of every key that is not at its default, and of the blocks of ship.json.
type Origins map[string]Origin

// Replace sets the origin of a key and removes those of the keys below it.
func (os Origins) Replace(key string, o Origin) {
	for k := range os {
		if strings.HasPrefix(k, key+".") || strings.HasPrefix(k, key+"[") {
			delete(os, k)
		}
	}
	os[key] = o
}

// Of returns the origin of a key, or that of the value it is part of.
func (os Origins) Of(key string) Origin {
	if o, ok := os[key]; ok {
		return o
	}
	for up := Parent(key); up != ""; up = Parent(up) {
		if o, ok := os[up]; ok && o.Source != FromFile {
			return o
		}
	}
	return Origin{Source: FromDefault}
}

// Untouched reports whether nothing but the defaults sets the key.
func (os Origins) Untouched(key string) bool { return os.Of(key).Source == FromDefault }

// Parent removes the last step of a key: a.b[0].c, a.b[0], a.b, a, "".
func Parent(key string) string {
	return key[:max(strings.LastIndexAny(key, ".["), 0)]
}

// Join is the path of a key in a block.
func Join(block, name string) string {
	if block == "" {
		return name
	}
	return block + "." + name
}
