package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// field is one row of the table of keys: what the struct tags say about a key. See
// [Settings] for the tags.
type field struct {
	name     string
	index    int
	optional bool // the string may be empty
	enum     []string
	min, max *float64
	initial  string // the default as text
	rule     string
	variable string
	address  bool // the folder may set it only with the operator's agreement
}

// fieldsOf reads the tags of a struct type, in the order of its fields.
func fieldsOf(t reflect.Type) []field {
	fields := make([]field, 0, t.NumField())
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		name, options, _ := strings.Cut(tag.Get("json"), ",")
		f := field{
			name: name, index: i, optional: options != "", initial: tag.Get("default"), rule: tag.Get("rule"),
			variable: tag.Get("variable"), address: tag.Get("reach") == "address",
		}
		for limit := range strings.SplitSeq(tag.Get("jsonschema"), ",") {
			f.limit(limit)
		}
		fields = append(fields, f)
	}
	return fields
}

func (f *field) limit(limit string) {
	name, value, _ := strings.Cut(limit, "=")
	number, err := strconv.ParseFloat(value, 64)
	switch {
	case name == "enum":
		f.enum = append(f.enum, value)
	case name == "minimum" && err == nil:
		f.min = &number
	case name == "maximum" && err == nil:
		f.max = &number
	}
}

// fieldNamed finds a key of a block.
func fieldNamed(t reflect.Type, name string) (field, bool) {
	fields := fieldsOf(t)
	i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
	if i < 0 {
		return field{}, false
	}
	return fields[i], true
}

// Default returns the settings of a project that sets nothing. They are valid: the demo model in the web chat on
// loopback and in the terminal.
func Default() Settings {
	var s Settings
	setDefaults(settingsValue(&s))
	return s
}

// setDefaults writes the defaults of the table to a block. Default lists have one word.
func setDefaults(block reflect.Value) {
	for _, f := range fieldsOf(block.Type()) {
		v := block.Field(f.index)
		number, _ := strconv.ParseInt(f.initial, 10, 64)
		switch {
		case isBlock(v.Type()):
			setDefaults(v)
		case f.initial == "":
		case v.Kind() == reflect.String:
			v.SetString(f.initial)
		case v.Kind() == reflect.Bool:
			v.SetBool(f.initial == "true")
		case v.Kind() == reflect.Slice:
			v.Set(reflect.Append(v, reflect.ValueOf(f.initial)))
		default:
			v.SetInt(number)
		}
	}
}

// keyValue is a key with its field in Settings.
type keyValue struct {
	key string
	field
	value reflect.Value
}

// children are the keys of a block, or the elements of a map or of a list of blocks.
func (k keyValue) children() []keyValue {
	var out []keyValue
	switch t := k.value.Type(); {
	case isBlock(t):
		for _, f := range fieldsOf(t) {
			out = append(out, keyValue{key: joinKey(k.key, f.name), field: f, value: k.value.Field(f.index)})
		}
	case t.Kind() == reflect.Map:
		for _, name := range k.names() {
			out = append(out, keyValue{key: joinKey(k.key, name), field: field{name: name}, value: k.value.MapIndex(reflect.ValueOf(name))})
		}
	case t.Kind() == reflect.Slice && isBlock(t.Elem()):
		for i := range k.value.Len() {
			out = append(out, keyValue{key: fmt.Sprintf("%s[%d]", k.key, i), value: k.value.Index(i)})
		}
	}
	return out
}

// names are the sorted keys of a map.
func (k keyValue) names() []string {
	var names []string
	for _, name := range k.value.MapKeys() {
		names = append(names, name.String())
	}
	slices.Sort(names)
	return names
}

// walk visits a value and then, if visit returns true, the values in it, in the order of the table.
func (k keyValue) walk(visit func(keyValue) (inside bool)) {
	if !visit(k) {
		return
	}
	for _, child := range k.children() {
		child.walk(visit)
	}
}

// fixedKeys lists the keys of every project: all values that are not blocks, with lists and maps as one key each.
func fixedKeys(v reflect.Value) (keys []keyValue) {
	keyValue{value: v}.walk(func(k keyValue) bool {
		inside := isBlock(k.value.Type())
		if !inside {
			keys = append(keys, k)
		}
		return inside
	})
	return keys
}

// allKeys lists all values, including those inside maps and lists of blocks. Empty maps and lists of blocks are left
// out.
func allKeys(v reflect.Value) (keys []keyValue) {
	keyValue{value: v}.walk(func(k keyValue) bool {
		t := k.value.Type()
		inside := isBlock(t) || t.Kind() == reflect.Map || t.Kind() == reflect.Slice && isBlock(t.Elem())
		if !inside {
			keys = append(keys, k)
		}
		return inside
	})
	return keys
}

// settingsValue is the reflect value of settings.
func settingsValue(s *Settings) reflect.Value { return reflect.ValueOf(s).Elem() }

// isBlock reports whether a type is a block of keys rather than a value.
func isBlock(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != reflect.TypeFor[Secret]()
}

// keyAt finds a fixed key or block by its path.
func keyAt(v reflect.Value, key string) (keyValue, bool) {
	k := keyValue{key: key, value: v}
	for name := range strings.SplitSeq(key, ".") {
		if !isBlock(k.value.Type()) {
			return keyValue{}, false
		}
		f, ok := fieldNamed(k.value.Type(), name)
		if !ok {
			return keyValue{}, false
		}
		k.field, k.value = f, k.value.Field(f.index)
	}
	return k, true
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
