package keys

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// Rule says what is wrong with a text, or returns "". Its message continues a sentence that begins with the key and
// never quotes the text; {default} in it is the default of the key. For an entry of a map of texts, the text is the
// name and value the value.
type Rule func(text, value string) string

// Check reports what is wrong with a value, and with the values in it, by their rows.
func (r *Reader) Check(k Key) {
	if s := r.Origins[k.Path].Source; s == FromKey || s == FromCatalog {
		return // It is checked where it comes from.
	}
	v := reflect.Indirect(k.Value)
	secret, isSecret := reflect.TypeAssert[Secret](k.Value)
	switch {
	case isSecret && k.Variable != "" && strings.ContainsFunc(secret.Reveal(), notInToken):
		r.Fault(k.Path, "has blanks or characters that no key or token has; check what was pasted")
	case isSecret:
		r.checkText(k, secret.Reveal())
	case v.Kind() == reflect.String:
		r.checkWord(k, v.String())
		r.checkText(k, v.String())
	case v.CanInt():
		r.checkRange(k, float64(v.Int()))
	case v.CanFloat():
		r.checkRange(k, v.Float())
	case k.Rule == "":
	case v.Kind() == reflect.Map:
		for _, name := range k.names() {
			text, isText := reflect.TypeAssert[Secret](v.MapIndex(reflect.ValueOf(name)))
			why := r.Rules[k.Rule](name, text.Reveal())
			if !isText {
				r.Fault(Join(k.Path, name), why)
			} else if why != "" {
				r.Fault(k.Path, fmt.Sprintf("has %q, which %s", Shorten(name), why))
			}
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			at := fmt.Sprintf("%s[%d]", k.Path, i)
			if v.Type() == reflect.TypeFor[Tags]() {
				at = k.Path // One fault is enough, and the list may be a single word.
			}
			r.Fault(at, r.Rules[k.Rule](v.Index(i).String(), ""))
		}
	}
	for _, child := range k.Children() {
		r.Check(child)
	}
}

func (r *Reader) checkText(k Key, text string) {
	if k.Rule != "" && (text != "" || !k.Optional) {
		r.Fault(k.Path, strings.ReplaceAll(r.Rules[k.Rule](text, ""), "{default}", k.Default))
	}
}

func (r *Reader) checkWord(k Key, word string) {
	switch {
	case len(k.Words) == 0 && k.Path != "description" && strings.ContainsFunc(word, unicode.IsControl):
		r.Fault(k.Path, "has a line break or another control character")
	case len(k.Words) == 0 || slices.Contains(k.Words, word) || word == "" && k.Optional:
	default:
		hint := ""
		if near := Nearest(word, k.Words); near != "" && word != "" {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		r.Fault(k.Path, "wants "+oneOf(k.Words)+hint)
	}
}

func (r *Reader) checkRange(k Key, v float64) {
	if k.Min != nil && v < *k.Min || k.Max != nil && v > *k.Max {
		r.Fault(k.Path, fmt.Sprintf("wants a number from %.0f to %.0f", *k.Min, *k.Max))
	}
}

func notInToken(r rune) bool { return r <= ' ' || r >= 0x7f }
