package keys

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Row is one row of a table of keys: what the struct tags say about a key. See the package comment for the tags.
type Row struct {
	Name, Default, Rule, Variable, About string
	Words                                []string
	Min, Max                             *float64
	Optional, Required, Address          bool
}

func rowOf(tag reflect.StructTag) Row {
	var r Row
	for key, value := range pairs(string(tag)) {
		switch key {
		case "json":
			name, options, _ := strings.Cut(value, ",")
			r.Name, r.Optional = name, options != ""
		case "default":
			r.Default = value
		case "rule":
			r.Rule = value
		case "variable":
			r.Variable = value
		case "about":
			r.About = value
		case "words":
			r.Words = strings.Fields(value)
		case "min":
			r.Min = number(value)
		case "max":
			r.Max = number(value)
		case "required":
			r.Required = value != ""
		case "reach":
			r.Address = value == "address"
		}
	}
	return r
}

// pairs are all keys of a tag with their values. Looking up one key after the other reads a tag as often as there are
// keys, which was most of the time in which settings were loaded.
func pairs(tag string) iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		for {
			key, rest, _ := strings.Cut(strings.TrimLeft(tag, " "), ":")
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return
			}
			value, err := strconv.Unquote(quoted)
			if err != nil || !yield(key, value) {
				return
			}
			tag = rest[len(quoted):]
		}
	}
}

func number(text string) *float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil
	}
	return &v
}

// Key is a key with its row and its value.
type Key struct {
	Path string
	Row
	Value reflect.Value
}

// Table is a block of keys without a name: a struct, given by a pointer to it.
func Table(p any) Key { return Key{Value: reflect.ValueOf(p).Elem()} }

// IsBlock reports whether a type is a block of keys rather than a value.
func IsBlock(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != reflect.TypeFor[Secret]()
}

// field is the n-th field of a block; one without a name is not a key.
func (k Key) field(n int) Key {
	r := rowOf(k.Value.Type().Field(n).Tag)
	return Key{Path: Join(k.Path, r.Name), Row: r, Value: k.Value.Field(n)}
}

// Children are the keys of a block, or the elements of a map or of a list of blocks.
func (k Key) Children() []Key {
	var out []Key
	switch t := k.Value.Type(); {
	case IsBlock(t):
		out = make([]Key, 0, t.NumField())
		for n := range t.NumField() {
			if child := k.field(n); child.Name != "" {
				out = append(out, child)
			}
		}
	case t.Kind() == reflect.Map:
		for _, name := range k.names() {
			out = append(out, Key{Path: Join(k.Path, name), Row: Row{Name: name}, Value: k.Value.MapIndex(reflect.ValueOf(name))})
		}
	case t.Kind() == reflect.Slice && IsBlock(t.Elem()):
		for i := range k.Value.Len() {
			out = append(out, k.item(i))
		}
	}
	return out
}

// names are the keys of a block in their order, or the sorted ones of a map.
func (k Key) names() []string {
	var names []string
	if k.Value.Kind() == reflect.Map {
		for _, name := range k.Value.MapKeys() {
			names = append(names, name.String())
		}
		slices.Sort(names)
		return names
	}
	for _, child := range k.Children() {
		names = append(names, child.Name)
	}
	return names
}

// item is an element of a list.
func (k Key) item(i int) Key {
	return Key{Path: fmt.Sprintf("%s[%d]", k.Path, i), Value: k.Value.Index(i)}
}

// Child is the key of this name in a block, or a new element for a map.
func (k Key) Child(name string) (Key, bool) {
	if k.Value.Kind() == reflect.Map {
		element := Key{Path: Join(k.Path, name), Row: Row{Name: name}, Value: reflect.New(k.Value.Type().Elem()).Elem()}
		element.SetDefaults()
		return element, true
	}
	if t := k.Value.Type(); IsBlock(t) {
		for n := range t.NumField() {
			if field, _, _ := strings.Cut(t.Field(n).Tag.Get("json"), ","); field == name && name != "" {
				return k.field(n), true
			}
		}
	}
	return Key{}, false
}

// At finds a key that every project has, or a block, by its path.
func (k Key) At(key string) (Key, bool) {
	for name := range strings.SplitSeq(key, ".") {
		child, ok := k.Child(name)
		if !ok || k.Value.Kind() == reflect.Map {
			return Key{}, false
		}
		k = child
	}
	return k, true
}

// Fixed lists the keys of every project: all values that are not blocks, with lists and maps as one key each.
func (k Key) Fixed() []Key { return k.list(func(t reflect.Type) bool { return IsBlock(t) }) }

// All lists all values, including those in maps and lists of blocks. Empty maps and lists of blocks are left out.
func (k Key) All() []Key {
	return k.list(func(t reflect.Type) bool {
		return IsBlock(t) || t.Kind() == reflect.Map || t.Kind() == reflect.Slice && IsBlock(t.Elem())
	})
}

func (k Key) list(inside func(reflect.Type) bool) (keys []Key) {
	if !inside(k.Value.Type()) {
		return []Key{k}
	}
	for _, child := range k.Children() {
		keys = append(keys, child.list(inside)...)
	}
	return keys
}

// SetDefaults gives the keys of a block their defaults, which are read like texts of variables.
func (k Key) SetDefaults() {
	if !IsBlock(k.Value.Type()) {
		return
	}
	for _, c := range k.Children() {
		if c.Default == "" {
			c.SetDefaults()
			continue
		}
		d := decoder{Reader: &Reader{Origins: Origins{}, Errors: map[string]string{}}}
		n, _ := textNode(c.Value.Type(), c.Default) // TestTableIsComplete reads all defaults.
		d.value(c, n)
	}
}

// EnvName is the environment variable that sets a key.
func EnvName(key string) string {
	var b strings.Builder
	b.WriteString("SMA_")
	previous := '.'
	for _, r := range key {
		if unicode.IsUpper(r) && !unicode.IsUpper(previous) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToUpper(r))
		previous = r
	}
	return strings.ReplaceAll(b.String(), ".", "_")
}
