package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// field is one key of a block, as its struct tags describe it.
type field struct {
	name     string
	index    int
	optional bool // a string may be empty
	enum     []string
	min, max *float64
	variable string
}

// fieldsOf reads the tags of a struct type, in the order of its fields.
func fieldsOf(t reflect.Type) []field {
	fields := make([]field, 0, t.NumField())
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		name, options, _ := strings.Cut(tag.Get("json"), ",")
		f := field{name: name, index: i, optional: options != "", variable: tag.Get("variable")}
		for rule := range strings.SplitSeq(tag.Get("jsonschema"), ",") {
			f.addRule(rule)
		}
		fields = append(fields, f)
	}
	return fields
}

func (f *field) addRule(rule string) {
	name, value, _ := strings.Cut(rule, "=")
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

// keyValue is a place in Settings.
type keyValue struct {
	key string
	field
	value reflect.Value
}

// fixedKeys lists the keys that every project has: all values that are not
// blocks, with lists and maps as one key each.
func fixedKeys(v reflect.Value) []keyValue {
	var keys []keyValue
	var walk func(block string, v reflect.Value)
	walk = func(block string, v reflect.Value) {
		for _, f := range fieldsOf(v.Type()) {
			k := keyValue{key: joinKey(block, f.name), field: f, value: v.Field(f.index)}
			if isBlock(k.value.Type()) {
				walk(k.key, k.value)
			} else {
				keys = append(keys, k)
			}
		}
	}
	walk("", v)
	return keys
}

// allKeys lists the values that are set, those inside maps and lists of blocks
// included. Empty maps and lists of blocks are left out.
func allKeys(v reflect.Value) []keyValue {
	var keys []keyValue
	var walk func(k keyValue)
	walk = func(k keyValue) {
		switch t := k.value.Type(); {
		case isBlock(t):
			for _, f := range fieldsOf(t) {
				walk(keyValue{key: joinKey(k.key, f.name), field: f, value: k.value.Field(f.index)})
			}
		case t.Kind() == reflect.Map:
			for _, name := range sortedKeys(k.value) {
				walk(keyValue{key: joinKey(k.key, name), value: k.value.MapIndex(reflect.ValueOf(name))})
			}
		case t.Kind() == reflect.Slice && isBlock(t.Elem()):
			for i := range k.value.Len() {
				walk(keyValue{key: fmt.Sprintf("%s[%d]", k.key, i), value: k.value.Index(i)})
			}
		default:
			keys = append(keys, k)
		}
	}
	walk(keyValue{value: v})
	return keys
}

func sortedKeys(m reflect.Value) []string {
	names := make([]string, 0, m.Len())
	for _, k := range m.MapKeys() {
		names = append(names, k.String())
	}
	slices.Sort(names)
	return names
}

// isBlock reports whether a type is a block of keys, and not a value.
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
		switch {
		case r == '.':
			b.WriteByte('_')
		case unicode.IsUpper(r) && !unicode.IsUpper(previous):
			b.WriteByte('_')
			b.WriteRune(r)
		default:
			b.WriteRune(unicode.ToUpper(r))
		}
		previous = r
	}
	return b.String()
}
