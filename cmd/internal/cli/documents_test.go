package cli

import (
	"bytes"
	"encoding"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/cmd/internal/audit"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/chats"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/config/catalog"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestReferenceOfDocuments: docs/reference/documents.schema.json describes the JSON document of every command that
// writes one. The scripts of cmd/sma compare every document that they get with it.
func TestReferenceOfDocuments(t *testing.T) {
	commands := map[string]any{"sma models --all": valueSchema(reflect.ValueOf(map[string]any{"models": []catalog.Model{}}))}
	// Its own flag has no type: the document is a reply, or the settings.
	unknown := map[string]any{"sma send": sent{}, "sma trust": trusted{}, "sma config show": nil, "sma logs": audit.Line{}}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for _, child := range c.Commands() {
			walk(child)
		}
		f := c.Flags().Lookup("json")
		if f == nil {
			return
		}
		document, known := f.Value.(interface{ Document() any })
		empty, listed := unknown[c.CommandPath()]
		switch {
		case known == listed:
			t.Errorf("the document of %s is known: %v, listed as unknown: %v", c.CommandPath(), known, listed)
		case known:
			empty = document.Document()
		}
		if empty != nil {
			commands[c.CommandPath()] = valueSchema(reflect.ValueOf(empty))
		}
	}
	walk((&app{Console: &console.Console{}}).root())
	commands["sma chats show -f"] = map[string]any{"oneOf": []any{typeSchema(reflect.TypeFor[chats.FollowedMessage](), nil), typeSchema(reflect.TypeFor[query.Happening](), nil)}}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	stdtest.Must(t, enc.Encode(map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": commands,
		"$comment": "What commands write with --json, by command: one document, and of sma logs and of chats show -f one in each line. Later versions may add members, and never rename or remove them.",
	}))
	const file = "../../../docs/reference/documents.schema.json"
	if *update {
		stdtest.Must(t, os.WriteFile(file, b.Bytes(), 0o644))
	}
	got := stdtest.Read(t, file)
	if diff := cmp.Diff(b.String(), string(got)); diff != "" {
		t.Errorf("%s (-code +file; go test ./cmd/internal/cli -run ReferenceOfDocuments -update writes it):\n%s", file, diff)
	}
}

// valueSchema describes a value whose members may have types that only their values tell.
func valueSchema(v reflect.Value) any {
	if v.Kind() != reflect.Map || v.Type().Elem().Kind() != reflect.Interface {
		return typeSchema(v.Type(), nil)
	}
	members, names := map[string]any{}, []string{}
	for _, key := range v.MapKeys() {
		names = append(names, key.String())
		members[key.String()] = valueSchema(v.MapIndex(key).Elem())
	}
	return map[string]any{"type": "object", "properties": members, "required": names}
}

// typeSchema describes what encoding/json makes of a type. within are the structures around it.
func typeSchema(t reflect.Type, within []reflect.Type) any {
	is := func(kind string) any { return map[string]any{"type": kind} }
	switch {
	case t == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case t.Kind() == reflect.Pointer:
		return typeSchema(t.Elem(), within)
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()):
		return true
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return is("string")
	}
	switch t.Kind() {
	case reflect.Bool:
		return is("boolean")
	case reflect.String:
		return is("string")
	case reflect.Float64, reflect.Float32:
		return is("number")
	case reflect.Slice, reflect.Array:
		return map[string]any{"type": "array", "items": typeSchema(t.Elem(), within)}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": typeSchema(t.Elem(), within)}
	case reflect.Struct:
		if slices.Contains(within, t) {
			return is("object")
		}
		members, required := map[string]any{}, []string{}
		structSchema(t, append(slices.Clip(within), t), members, &required)
		return map[string]any{"type": "object", "properties": members, "required": required}
	case reflect.Interface:
		return true
	default:
		return is("integer")
	}
}

func structSchema(t reflect.Type, within []reflect.Type, members map[string]any, required *[]string) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case f.Anonymous && name == "":
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			structSchema(inner, within, members, required)
		default:
			if name == "" {
				name = f.Name
			}
			members[name] = typeSchema(f.Type, within)
			if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
				*required = append(*required, name)
			}
		}
	}
}
