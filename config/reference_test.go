package config

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/config/internal/keys"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestReferenceOfSettings: docs/reference/settings.md has every key of ship.json with its values, default and meaning.
func TestReferenceOfSettings(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Settings\n\nThe keys of `ship.json`. A point leads into an object, `[]` into the elements of a list, `NAME` stands for any name.\n" +
		"Each key without them can also be set by a variable (`SMA_LLM_MODEL` is `llm.model`) or a flag (`--set llm.model=…`).\n" +
		"`sma config show --origin` prints what is in effect and where it comes from, `sma config check` every mistake.\n")
	table := keys.Table(new(Settings))
	table.SetDefaults()
	head := "\n| key | value | default | meaning |\n|---|---|---|---|\n"
	b.WriteString(head)
	var blocks []keys.Key
	for _, k := range table.Children() {
		if keys.IsBlock(k.Value.Type()) {
			blocks = append(blocks, k)
		} else {
			writeRows(&b, k)
		}
	}
	for _, k := range blocks {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n%s", k.Name, k.About, head)
		writeRows(&b, k)
	}
	const file = "../docs/reference/settings.md"
	if updating() {
		stdtest.Must(t, os.WriteFile(file, []byte(b.String()), 0o644))
	}
	got := stdtest.Read(t, file)
	if diff := cmp.Diff(b.String(), string(got)); diff != "" {
		t.Errorf("docs/reference/settings.md (-code +file; go test ./config -run ReferenceOfSettings -update writes it):\n%s", diff)
	}
}

// writeRows writes the row of a key, and the rows of what it contains.
func writeRows(b *strings.Builder, k keys.Key) {
	t := k.Value.Type()
	if !keys.IsBlock(t) {
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", k.Path, values(k), defaultOf(k), cell(k.About))
	}
	switch {
	case keys.IsBlock(t):
		for _, child := range k.Children() {
			if keys.IsBlock(child.Value.Type()) && strings.Contains(k.Path, ".") && child.About != "" {
				fmt.Fprintf(b, "| `%s` | object |  | %s |\n", child.Path, cell(child.About))
			}
			writeRows(b, child)
		}
	case (t.Kind() == reflect.Map || t.Kind() == reflect.Slice) && keys.IsBlock(t.Elem()):
		element := keys.Table(reflect.New(t.Elem()).Interface())
		element.Path = k.Path + map[bool]string{true: ".NAME", false: "[]"}[t.Kind() == reflect.Map]
		element.SetDefaults()
		writeRows(b, element)
	}
}

// values says what a key may be set to.
func values(k keys.Key) string {
	t := k.Value.Type()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case len(k.Words) > 0:
		return "`" + strings.Join(k.Words, "`, `") + "`"
	case k.Max != nil:
		return fmt.Sprintf("number from %.f to %.f", *k.Min, *k.Max)
	case t == reflect.TypeFor[keys.Secret]():
		return "secret"
	case t == reflect.TypeFor[keys.TokenBudget]():
		return "number or `auto`"
	case t == reflect.TypeFor[keys.Limit](), t == reflect.TypeFor[keys.Dollars]():
		return "number or `off`"
	case t.Kind() == reflect.Bool:
		return "`true`, `false`"
	case t == reflect.TypeFor[Tags]():
		return "text, list or `true`"
	case t.Kind() == reflect.Map:
		return "object"
	case t.Kind() == reflect.Slice:
		return "list"
	}
	return "text"
}

// defaultOf is the value of a key that nothing sets.
func defaultOf(k keys.Key) string {
	isText := k.Value.Kind() == reflect.String || k.Optional
	if isText && k.Value.IsZero() {
		return ""
	}
	text, err := keys.Encode(k.Value.Interface(), "")
	if err != nil || string(text) == "null" {
		return ""
	}
	return "`" + strings.Trim(string(text), `"`) + "`"
}

func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(text)
}
