package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// row is one row of a table of keys: what the struct tags say about a key. See [Settings] for the tags.
type row struct {
	name, initial, rule, variable, idle, about string
	words                                      []string
	min, max                                   *float64
	optional, required, address                bool
}

// rowOf reads the tags of a field.
func rowOf(tag reflect.StructTag) row {
	name, options, _ := strings.Cut(tag.Get("json"), ",")
	number := func(key string) *float64 {
		if v, err := strconv.ParseFloat(tag.Get(key), 64); err == nil {
			return &v
		}
		return nil
	}
	return row{
		name: name, initial: tag.Get("default"), rule: tag.Get("rule"), variable: tag.Get("variable"), idle: tag.Get("idle"), about: tag.Get("about"),
		words: strings.Fields(tag.Get("words")), min: number("min"), max: number("max"),
		optional: options != "", required: tag.Get("required") != "", address: tag.Get("reach") == "address",
	}
}

// keyValue is a key with its row and its value.
type keyValue struct {
	key string
	row
	value reflect.Value
}

// table is the root of a table of keys: a pointer to a struct as a value without a name.
func table(p any) keyValue { return keyValue{value: reflect.ValueOf(p).Elem()} }

// isBlock reports whether a type is a block of keys rather than a value.
func isBlock(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != reflect.TypeFor[Secret]()
}

// field is the n-th field of a block; one without a name is no key. The keys of a block without effect have none.
func (k keyValue) field(n int) keyValue {
	r := rowOf(k.value.Type().Field(n).Tag)
	if r.idle == "" {
		r.idle = k.idle
	}
	return keyValue{key: joinKey(k.key, r.name), row: r, value: k.value.Field(n)}
}

// children are the keys of a block, or the elements of a map or of a list of blocks.
func (k keyValue) children() []keyValue {
	var out []keyValue
	switch t := k.value.Type(); {
	case isBlock(t):
		for n := range t.NumField() {
			if child := k.field(n); child.name != "" {
				out = append(out, child)
			}
		}
	case t.Kind() == reflect.Map:
		for _, name := range k.names() {
			out = append(out, keyValue{key: joinKey(k.key, name), row: row{name: name}, value: k.value.MapIndex(reflect.ValueOf(name))})
		}
	case t.Kind() == reflect.Slice && isBlock(t.Elem()):
		for i := range k.value.Len() {
			out = append(out, k.item(i))
		}
	}
	return out
}

// names are the keys of a block in their order, or the sorted ones of a map.
func (k keyValue) names() []string {
	var names []string
	if k.value.Kind() == reflect.Map {
		for _, name := range k.value.MapKeys() {
			names = append(names, name.String())
		}
		slices.Sort(names)
		return names
	}
	for _, child := range k.children() {
		names = append(names, child.name)
	}
	return names
}

// item is an element of a list.
func (k keyValue) item(i int) keyValue {
	return keyValue{key: fmt.Sprintf("%s[%d]", k.key, i), value: k.value.Index(i)}
}

// child is the key of this name in a block, or a new element for a map.
func (k keyValue) child(name string) (keyValue, bool) {
	if k.value.Kind() == reflect.Map {
		element := keyValue{key: joinKey(k.key, name), row: row{name: name}, value: reflect.New(k.value.Type().Elem()).Elem()}
		element.setDefaults()
		return element, true
	}
	if isBlock(k.value.Type()) {
		for _, child := range k.children() {
			if child.name == name {
				return child, true
			}
		}
	}
	return keyValue{}, false
}

// at finds a key that every project has, or a block, by its path.
func (k keyValue) at(key string) (keyValue, bool) {
	for name := range strings.SplitSeq(key, ".") {
		child, ok := k.child(name)
		if !ok || k.value.Kind() == reflect.Map {
			return keyValue{}, false
		}
		k = child
	}
	return k, true
}

// fixed lists the keys of every project: all values that are not blocks, with lists and maps as one key each.
func (k keyValue) fixed() []keyValue { return k.list(func(t reflect.Type) bool { return isBlock(t) }) }

// all lists all values, including those in maps and lists of blocks. Empty maps and lists of blocks are left out.
func (k keyValue) all() []keyValue {
	return k.list(func(t reflect.Type) bool {
		return isBlock(t) || t.Kind() == reflect.Map || t.Kind() == reflect.Slice && isBlock(t.Elem())
	})
}

func (k keyValue) list(inside func(reflect.Type) bool) (keys []keyValue) {
	if !inside(k.value.Type()) {
		return []keyValue{k}
	}
	for _, child := range k.children() {
		keys = append(keys, child.list(inside)...)
	}
	return keys
}

// Default returns the settings of a project that sets nothing. They are valid: the demo model in the web chat on
// loopback and in the terminal.
func Default() Settings {
	var s Settings
	table(&s).setDefaults()
	return s
}

// setDefaults gives the keys of a block their defaults, which are read like texts of variables.
func (k keyValue) setDefaults() {
	if !isBlock(k.value.Type()) {
		return
	}
	for _, c := range k.children() {
		if c.initial == "" {
			c.setDefaults()
			continue
		}
		d := decoder{reader: &reader{origins: origins{}, errors: map[string]string{}}}
		n, _ := textNode(c.value.Type(), c.initial) // TestTableIsComplete reads all defaults.
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
