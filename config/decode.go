package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/shipmyagent/shipmyagent/config/internal/jsonpos"
)

// decoder writes a tree of JSON into settings. It is strict, continues after a fault, and reports all findings to the
// loader.
type decoder struct {
	*loader
	origin Origin // where the tree comes from
	// expands says whether ${…} in strings is replaced.
	expands bool
	// moved are values of older keys, to be read under their new key.
	moved []movedValue
}

// movedValue is a value found under an older name of a key.
type movedValue struct {
	to   string
	node *jsonpos.Node
}

// at is the origin of a node or key at a place.
func (d *decoder) at(p jsonpos.Place) Origin {
	o := d.origin
	if o.Source == FromFile {
		o.Line, o.Col = p.Line, p.Col
	}
	return o
}

func (d *decoder) fault(k keyValue, n *jsonpos.Node, format string, args ...any) {
	d.report(Error, d.at(n.Place), k.key, keyOrRoot(k.key)+" "+fmt.Sprintf(format, args...))
}

func keyOrRoot(key string) string {
	if key == "" {
		return FileName
	}
	return key
}

// value reads a node into a value that can be set.
func (d *decoder) value(k keyValue, n *jsonpos.Node) {
	if k.key != "" {
		d.origins[k.key] = d.at(n.Place)
	}
	t := k.value.Type()
	wanted, ok := scalarOf(t)
	switch {
	case ok:
		d.scalar(k, n, wanted)
	case t == reflect.TypeFor[Tags]():
		d.tags(k, n)
	case t == reflect.TypeFor[Secret](), t.Kind() == reflect.String:
		d.text(k, n)
	case t.Kind() == reflect.Pointer:
		k.value.Set(reflect.New(t.Elem()))
		k.value = k.value.Elem()
		d.value(k, n)
	case t.Kind() == reflect.Struct:
		d.block(k, n)
	case t.Kind() == reflect.Map:
		d.dictionary(k, n)
	case t.Kind() == reflect.Slice:
		d.list(k, n)
	case t.Kind() == reflect.Bool:
		if d.wants(k, n, jsonpos.Bool) {
			k.value.SetBool(n.Text == "true")
		}
	default:
		d.number(k, n)
	}
}

// wants checks the kind of a node, and reports a wrong one.
func (d *decoder) wants(k keyValue, n *jsonpos.Node, kind jsonpos.Kind) bool {
	if n.Kind == kind {
		return true
	}
	hint := ""
	switch {
	case !d.expands && n.Kind == jsonpos.String: // a variable has no quotes
		d.fault(k, n, "wants %s", kind)
		return false
	case n.Kind == jsonpos.Null:
		hint = "; leave the key out for its default"
	case n.Kind == jsonpos.String && (kind == jsonpos.Bool || kind == jsonpos.Number):
		hint = "; write it without quotes"
	case kind == jsonpos.String && (n.Kind == jsonpos.Number || n.Kind == jsonpos.Bool):
		hint = "; put it into double quotes"
	}
	d.fault(k, n, "wants %s, not %s%s", kind, n.Kind, hint)
	return false
}

func (d *decoder) block(k keyValue, n *jsonpos.Node) {
	if !d.wants(k, n, jsonpos.Object) {
		return
	}
	for _, m := range d.lastMembers(k.key, n) {
		f, ok := fieldNamed(k.value.Type(), m.Key)
		if !ok {
			d.unknown(k, m)
			continue
		}
		d.value(keyValue{key: joinKey(k.key, f.name), field: f, value: k.value.Field(f.index)}, m.Value)
	}
}

// lastMembers drops all but the last of members with the same key, with a warning.
func (d *decoder) lastMembers(block string, n *jsonpos.Node) []jsonpos.Member {
	last := map[string]int{}
	members := make([]jsonpos.Member, 0, len(n.Members))
	for _, m := range n.Members {
		i, twice := last[m.Key]
		if !twice {
			last[m.Key] = len(members)
			members = append(members, m)
			continue
		}
		d.report(Warn, d.at(m.Place), joinKey(block, m.Key),
			fmt.Sprintf("key %q appears twice in %s; this one counts, the one in line %d does not", shorten(m.Key), keyOrRoot(block), d.at(members[i].Place).Line))
		members[i] = m
	}
	return members
}

func (d *decoder) unknown(k keyValue, m jsonpos.Member) {
	key := joinKey(k.key, m.Key)
	switch {
	case d.full(): // Too many findings: only count it, which is fast for long files.
		d.report(d.unknownSeverity(), d.origin, "", "")
	case !d.older(key, m.Place, m.Value):
		d.report(d.unknownSeverity(), d.at(m.Place), key, unknownKey(k.key, m.Key, k.value.Type()))
	}
}

func (d *decoder) dictionary(k keyValue, n *jsonpos.Node) {
	if !d.wants(k, n, jsonpos.Object) {
		return
	}
	k.value.Set(reflect.MakeMap(k.value.Type()))
	for _, m := range d.lastMembers(k.key, n) {
		element := reflect.New(k.value.Type().Elem()).Elem()
		if isBlock(element.Type()) {
			setDefaults(element)
		}
		d.value(keyValue{key: joinKey(k.key, m.Key), value: element}, m.Value)
		k.value.SetMapIndex(reflect.ValueOf(m.Key), element)
	}
}

func (d *decoder) list(k keyValue, n *jsonpos.Node) {
	if !d.wants(k, n, jsonpos.Array) {
		return
	}
	list := reflect.MakeSlice(k.value.Type(), len(n.Items), len(n.Items))
	for i, item := range n.Items {
		d.value(keyValue{key: fmt.Sprintf("%s[%d]", k.key, i), value: list.Index(i)}, item)
	}
	k.value.Set(list)
}

func (d *decoder) number(k keyValue, n *jsonpos.Node) {
	if !d.wants(k, n, jsonpos.Number) {
		return
	}
	if k.value.Kind() == reflect.Float64 {
		v, err := strconv.ParseFloat(n.Text, 64)
		if err != nil {
			d.fault(k, n, "is out of range")
			return
		}
		k.value.SetFloat(v)
		return
	}
	v, ok := wholeNumber(n.Text)
	if !ok {
		d.fault(k, n, "wants a whole number")
		return
	}
	k.value.SetInt(v)
}

func (d *decoder) scalar(k keyValue, n *jsonpos.Node, wanted scalar) {
	text, isWord := n.Text, n.Kind == jsonpos.String
	if isWord {
		if text, isWord = d.expanded(k, n); !isWord {
			return
		}
	}
	v, inRange := wanted.number(text)
	switch {
	case isWord && text == wanted.word:
		k.value.SetZero()
	case n.Kind == jsonpos.Number && inRange:
		k.value.Set(v.Convert(k.value.Type()))
	default:
		d.fault(k, n, "%v", wanted)
	}
}

// tags reads tags: a list, a word, or true for the usual tag.
func (d *decoder) tags(k keyValue, n *jsonpos.Node) {
	switch n.Kind {
	case jsonpos.Bool:
		list := Tags{}
		if n.Text == "true" {
			list = Tags{usualTag}
		}
		k.value.Set(reflect.ValueOf(list))
	case jsonpos.String:
		d.list(k, &jsonpos.Node{Kind: jsonpos.Array, Place: n.Place, Items: []*jsonpos.Node{n}})
	case jsonpos.Array:
		d.list(k, n)
	case jsonpos.Null, jsonpos.Number, jsonpos.Object:
		d.fault(k, n, `wants the names of tags, such as ["think"], or true`)
	}
}

// text reads a string or a secret.
func (d *decoder) text(k keyValue, n *jsonpos.Node) {
	if !d.wants(k, n, jsonpos.String) {
		return
	}
	switch text, ok := d.expanded(k, n); {
	case !ok:
	case k.value.Kind() == reflect.String:
		k.value.SetString(text)
	default:
		k.value.Set(reflect.ValueOf(NewSecret(text)))
	}
}

// expanded returns the text of a string node. It returns false if a part of the text is unavailable; the fault is
// then reported, or recorded until it is known whether the key is used.
func (d *decoder) expanded(k keyValue, n *jsonpos.Node) (string, bool) {
	if !d.expands {
		return n.Text, true
	}
	x, err := d.expand(n.Text)
	d.addFiles(x.files...)
	d.notes[k.key] = x
	if err != nil {
		d.fault(k, n, "%v", err)
		return "", false
	}
	o := d.at(n.Place)
	o.Via = slices.Compact(x.via)
	d.origins[k.key] = o
	if len(x.missing) > 0 {
		d.missing[k.key] = missingValue{origin: o, what: x.missing}
		return "", false
	}
	if k.value.Type() == reflect.TypeFor[Secret]() {
		d.noteSecret(k, o, x)
	}
	return x.text, true
}
