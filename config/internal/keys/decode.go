package keys

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/config/internal/jsonpos"
)

// decoder writes a tree of JSON into settings. It is strict, continues after a fault, and reports all findings to the
// reader.
type decoder struct {
	*Reader
	origin Origin // where the tree comes from; only strings of files are expanded
	// moved are values of older keys, to be read under their new key.
	moved []movedValue
}

// movedValue is a value found under an older name of a key.
type movedValue struct {
	to   string
	node *jsonpos.Node
}

// at is the origin of a node or key at a place.
func (d *decoder) at(p jsonpos.Position) Origin {
	o := d.origin
	if o.Source == FromFile {
		o.Line, o.Col = p.Line, p.Col
	}
	return o
}

// wrong reports a value that cannot be read.
func (d *decoder) wrong(k Key, n *jsonpos.Node, message string) {
	d.Report(Error, d.at(n.Position), k.Path, d.keyOrFile(k.Path)+" "+message)
}

func (r *Reader) keyOrFile(key string) string {
	if key == "" {
		return r.Name
	}
	return key
}

// value reads a node into a value that can be set.
func (d *decoder) value(k Key, n *jsonpos.Node) {
	if k.Path != "" {
		d.Origins[k.Path] = d.at(n.Position)
	}
	t := k.Value.Type()
	if wanted, ok := scalarOf(t); ok {
		d.scalar(k, n, wanted)
		return
	}
	kind := jsonpos.Number
	switch {
	case t == reflect.TypeFor[Tags]():
		d.tags(k, n)
		return
	case t.Kind() == reflect.Pointer:
		k.Value.Set(reflect.New(t.Elem()))
		k.Value = k.Value.Elem()
		d.value(k, n)
		return
	case t == reflect.TypeFor[Secret](), t.Kind() == reflect.String:
		kind = jsonpos.String
	case t.Kind() == reflect.Struct, t.Kind() == reflect.Map:
		kind = jsonpos.Object
	case t.Kind() == reflect.Slice:
		kind = jsonpos.Array
	case t.Kind() == reflect.Bool:
		kind = jsonpos.Bool
	}
	if d.wants(k, n, kind) {
		d.read(k, n)
	}
}

// read reads a node of the right kind.
func (d *decoder) read(k Key, n *jsonpos.Node) {
	switch v := k.Value; n.Kind {
	case jsonpos.Object:
		d.object(k, n)
	case jsonpos.Array:
		v.Set(reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items)))
		for i, item := range n.Items {
			d.value(k.item(i), item)
		}
	case jsonpos.String:
		if text, ok := d.text(k, n); ok && v.Kind() == reflect.String {
			v.SetString(text)
		} else if ok {
			v.Set(reflect.ValueOf(NewSecret(text)))
		}
	case jsonpos.Number:
		d.number(k, n)
	case jsonpos.Bool:
		v.SetBool(n.Text == "true")
	case jsonpos.Null:
	}
}

// wants checks the kind of a node, and reports a wrong one.
func (d *decoder) wants(k Key, n *jsonpos.Node, kind jsonpos.Kind) bool {
	message := fmt.Sprintf("wants %s, not %s", kind, n.Kind)
	switch {
	case n.Kind == kind:
		return true
	case d.origin.Source != FromFile && n.Kind == jsonpos.String: // a variable has no quotes
		message = fmt.Sprintf("wants %s", kind)
	case n.Kind == jsonpos.Null:
		message += "; leave the key out for its default"
	case n.Kind == jsonpos.String && (kind == jsonpos.Bool || kind == jsonpos.Number):
		message += "; write it without quotes"
	case kind == jsonpos.String && (n.Kind == jsonpos.Number || n.Kind == jsonpos.Bool):
		message += "; put it into double quotes"
	}
	d.wrong(k, n, message)
	return false
}

// object reads the keys of a block or the elements of a map.
func (d *decoder) object(k Key, n *jsonpos.Node) {
	isMap := k.Value.Kind() == reflect.Map
	if isMap {
		k.Value.Set(reflect.MakeMap(k.Value.Type()))
	}
	for _, m := range d.lastMembers(k.Path, n) {
		child, ok := k.Child(m.Key)
		if !ok {
			d.unknown(k, m)
			continue
		}
		d.value(child, m.Value)
		if isMap {
			k.Value.SetMapIndex(reflect.ValueOf(m.Key), child.Value)
		}
		if isMap && IsBlock(child.Value.Type()) {
			d.Origins[child.Path] = d.at(m.Position) // What is said about the element is about its name.
		}
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
		d.Report(Warn, d.at(m.Position), Join(block, m.Key),
			fmt.Sprintf("key %q appears twice in %s; this one counts, the one in line %d does not", Shorten(m.Key), d.keyOrFile(block), d.at(members[i].Position).Line))
		members[i] = m
	}
	return members
}

func (d *decoder) unknown(k Key, m jsonpos.Member) {
	key := Join(k.Path, m.Key)
	switch {
	case d.full(): // Too many findings: only count it, which is fast for long files.
		d.Report(d.unknownSeverity(), d.at(m.Position), key, "unknown key")
	case !d.older(key, m.Position, m.Value):
		d.Report(d.unknownSeverity(), d.at(m.Position), key, d.unknownKey(k, m.Key))
	}
}

func (d *decoder) number(k Key, n *jsonpos.Node) {
	if k.Value.Kind() == reflect.Float64 {
		v, err := strconv.ParseFloat(n.Text, 64)
		if err != nil {
			d.wrong(k, n, "is out of range")
		}
		k.Value.SetFloat(v)
		return
	}
	v, ok := wholeNumber(n.Text)
	if !ok {
		d.wrong(k, n, "wants a whole number")
	}
	k.Value.SetInt(v)
}

func (d *decoder) scalar(k Key, n *jsonpos.Node, wanted scalar) {
	text, isWord := n.Text, n.Kind == jsonpos.String
	if isWord {
		if text, isWord = d.text(k, n); !isWord {
			return
		}
	}
	v, inRange := wanted.number(text)
	switch {
	case isWord && text == wanted.word:
		k.Value.SetZero()
	case n.Kind == jsonpos.Number && inRange:
		k.Value.Set(v.Convert(k.Value.Type()))
	default:
		d.wrong(k, n, wanted.String())
	}
}

// tags reads tags: a list, a word, or true for the usual tag.
func (d *decoder) tags(k Key, n *jsonpos.Node) {
	switch n.Kind {
	case jsonpos.Bool:
		list := Tags{}
		if n.Text == "true" {
			list = Tags{usualTag}
		}
		k.Value.Set(reflect.ValueOf(list))
	case jsonpos.String:
		d.read(k, &jsonpos.Node{Kind: jsonpos.Array, Position: n.Position, Items: []*jsonpos.Node{n}})
	case jsonpos.Array:
		d.read(k, n)
	case jsonpos.Null, jsonpos.Number, jsonpos.Object:
		d.wrong(k, n, `wants the names of tags, such as ["think"], or true`)
	}
}

// text returns the text of a string node. It returns false if a part of the text is unavailable; the fault is then
// reported, or noted until it is known whether the key is used.
func (d *decoder) text(k Key, n *jsonpos.Node) (string, bool) {
	if d.origin.Source != FromFile {
		return n.Text, true
	}
	x, err := d.expand(n.Text)
	x.Written, x.Secret, x.variable = n.Text, err == nil && k.Value.Type() == reflect.TypeFor[Secret](), k.Variable
	x.at = d.at(n.Position)
	x.at.Via = slices.Compact(x.Via)
	d.Notes[k.Path] = x
	if err != nil {
		d.wrong(k, n, err.Error())
		return "", false
	}
	d.Origins[k.Path] = x.at
	return x.Text, len(x.missing) == 0
}

// ReadText sets a key from the text of a variable or flag.
func (r *Reader) ReadText(k Key, text string, at Origin) {
	n, err := textNode(k.Value.Type(), text)
	if err != nil {
		r.Report(Error, at, k.Path, k.Path+" wants JSON: "+err.Error())
		return
	}
	r.Origins.Replace(k.Path, at)
	(&decoder{Reader: r, origin: at}).value(k, n)
	r.Origins.Replace(k.Path, at)
}

// textNode makes the node that a file would have for a plain text.
func textNode(t reflect.Type, text string) (*jsonpos.Node, error) {
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
	return &jsonpos.Node{Kind: jsonpos.String, Text: text}, nil
}

// older reports a key of an earlier version, and keeps its value if a current key replaces it. It returns false for
// keys that no version had.
func (d *decoder) older(key string, at jsonpos.Position, n *jsonpos.Node) bool {
	_, row, found := strings.Cut(d.Older, "\n"+strings.ReplaceAll(key, " ", "\n")+" ") // Keys contain no spaces.
	row, _, _ = strings.Cut(row, "\n")
	switch to, moved := strings.CutPrefix(row, "-> "); {
	case moved:
		d.moved = append(d.moved, movedValue{to: to, node: n})
		d.Report(Warn, d.at(at), key, fmt.Sprintf("%s is now called %s; its value counts where that is not set, but please rename it", key, to))
	case found:
		d.withoutEffect(key, at, row)
	case strings.Contains(d.Older, "\n"+key+".") && n.Kind == jsonpos.Object:
		for _, m := range d.lastMembers(key, n) {
			if !d.older(key+"."+m.Key, m.Position, m.Value) {
				d.withoutEffect(key+"."+m.Key, m.Position, "nothing replaces it")
			}
		}
	default:
		return false
	}
	return true
}

func (d *decoder) withoutEffect(key string, at jsonpos.Position, note string) {
	d.Report(d.unknownSeverity(), d.at(at), key, fmt.Sprintf("%s is a key of an earlier version and has no effect; %s", key, note))
}

// readMoved applies the values of older keys whose current key is not set. For blocks, this is decided for each key
// in them.
func (d *decoder) readMoved() {
	for len(d.moved) > 0 {
		m := d.moved[0]
		d.moved = d.moved[1:]
		k, ok := d.Table.At(m.to)
		if _, set := d.Origins[m.to]; set && ok && IsBlock(k.Value.Type()) {
			m.node.Members = slices.DeleteFunc(m.node.Members, func(inner jsonpos.Member) bool {
				_, set := d.Origins[Join(m.to, inner.Key)]
				return set
			})
		} else if set {
			continue
		}
		if ok {
			d.value(k, m.node)
		}
	}
}
