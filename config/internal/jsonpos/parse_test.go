package jsonpos

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestParsePositions(t *testing.T) {
	src := []byte("\xef\xbb\xbf{\n  \"a\": [1, \"é\\u00e9\\ud83d\\ude00\"],\n  \"é\": null, \"a\": {}\n}\n")
	root, err := Parse(src)
	stdtest.Must(t, err)
	var got []string
	for _, m := range root.Members {
		got = append(got, fmt.Sprintf("%s %d:%d %s %d:%d %q", m.Key, m.Line, m.Col, m.Value.Kind, m.Value.Line, m.Value.Col, m.Value.Text))
	}
	want := []string{
		`a 2:3 a list 2:8 ""`,
		`é 3:3 null 3:8 "null"`,
		`a 3:14 an object 3:19 ""`,
	}
	stdtest.Diff(t, "positions", want, got)
	if got, want := root.Members[0].Value.Items[1].Text, "éé😀"; got != want {
		t.Errorf("text = %q, want %q", got, want)
	}
	if (root.Position != Position{1, 1}) {
		t.Errorf("root at %v, want 1:1", root.Position)
	}
	if item := root.Members[0].Value.Items[1]; (item.Position != Position{2, 12}) {
		t.Errorf("item at %v, want 2:12", item.Position)
	}
}

func TestParseFaults(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"empty", "", "1:1: the text ends where a value is expected"},
		{"trailing comma in object", "{\n\"a\": 1,\n}", "2:7: trailing comma before }; remove the comma"},
		{"trailing comma in list", "[1,]", "1:3: trailing comma before ]; remove the comma"},
		{"missing comma", "{\"a\": 1\n \"b\": 2}", "1:8: a comma is missing here; put a comma between two values"},
		{"comment", "{ // note\n}", "1:3: JSON has no comments; remove it, or keep notes in another file"},
		{"hash comment", "{} # x", "1:4: JSON has no comments; remove it, or keep notes in another file"},
		{"bare key", "{a: 1}", `1:2: a key has no quotes; put it into double quotes: "key"`},
		{"single quotes", "{'a': 1}", `1:2: a key is in single quotes; use double quotes: "key"`},
		{"single quoted value", "['a']", "1:2: a string is in the wrong quotes; use double quotes"},
		{"no closing quote", "{\"a\": \"x,\n\"b\": 1}", `1:7: the string that starts here has no end; add the closing " on the same line; a line break is written \n`},
		{"no opening quote", `{"a: "x"}`, `1:7: a colon is missing after the key; write "key": value, and check the quotes`},
		{"windows path", `["C:\path"]`, `1:5: \ starts an escape that JSON does not have; write a backslash as \\`},
		{"short unicode escape", `["\u12"]`, `1:3: \u needs four hexadecimal digits; write a backslash as \\`},
		{"tab in a string", "[\"a\tb\"]", `1:4: a string contains a control character; write it as \t or \u00XX`},
		{"python word", "[True]", "1:2: this word is not a value; put text into double quotes; bare words are only true, false and null"},
		{"leading zero", "[007]", "1:2: this is not a number; write it like 12, -3 or 0.5, or put text into double quotes"},
		{"date", "[2024-01-01]", "1:2: this is not a number; write it like 12, -3 or 0.5, or put text into double quotes"},
		{"equals sign", `{"a" = 1}`, `1:6: a colon is missing after the key; write "key": value, and check the quotes`},
		{"value missing", `{"a": }`, "1:7: a value is missing before }"},
		{"two commas", `[1,,2]`, "1:4: a value is missing before the comma; write the value, or remove the comma"},
		{"unclosed object", "{\n \"a\": {\"b\": 1\n}\n", "4:1: the text ends, but the { of line 1, column 1 is still open; add }"},
		{"wrong bracket", "{\n\"a\": [1, 2}", "2:11: } closes nothing here; line 2 opened with [, so it closes with ]"},
		{"bracket too many", "{}}", "1:3: } closes nothing here; remove it"},
		{"two values", "{} {}", "1:4: text follows after the end of the value; keep one { … } in the file"},
		{"utf-16", "\xff\xfe{\x00}\x00", "1:1: the file is encoded in UTF-16; save it as UTF-8"},
		{"latin-1", "[\"caf\xe9\"]", "1:6: this byte is not UTF-8 text; save the file as UTF-8"},
		{"too deep", strings.Repeat("[", MaxDepth+1), fmt.Sprintf("1:%d: values nest more than %d deep", MaxDepth+1, MaxDepth)},
		{"text ends after a key", `{"a"`, "1:5: the text ends after a key"},
		{"text ends in a value", "{\"a\":\n", "2:1: the text ends where a value is expected"},
		{"text ends in a string", `["a`, `1:2: the string that starts here has no end; add the closing " on the same line; a line break is written \n`},
		{"text ends in a word", "[tru", "1:2: this word is not a value; put text into double quotes; bare words are only true, false and null"},
		{"text ends after a number", "[1", "1:3: the text ends, but the [ of line 1, column 1 is still open; add ]"},
		{"missing comma after a word", `[true "a"]`, "1:6: a comma is missing here; put a comma between two values"},
		{"comment after a number", "[1/2]", "1:3: JSON has no comments; remove it, or keep notes in another file"},
		{"list closes an object", `{"a": 1, ]`, "1:10: ] closes nothing here; an object closes with }"},
		{"comma for a key", "{,}", "1:2: a comma too many; remove it"},
		{"sign for a key", "{!}", `1:2: ! is where a key is expected; write "key": value`},
		{"sign for a value", `{"a": *}`, "1:7: * is where a value is expected"},
		{"colon for a value", `{"a":: 1}`, `1:6: : too many; write "key": value`},
		{"word after a word", "[1x]", "1:2: this is not a number; write it like 12, -3 or 0.5, or put text into double quotes"},
		{"text ends in an escape", `["\`, `1:3: the text ends inside a string; add the closing "`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n, err := Parse([]byte(tt.src))
			fault, ok := errors.AsType[*SyntaxError](err)
			if !ok {
				t.Fatalf("Parse = %v, %v; want a *SyntaxError", n, err)
			}
			if got := fmt.Sprintf("%d:%d: %v", fault.Line, fault.Col, fault); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestPlacesInLongText(t *testing.T) {
	root, err := Parse([]byte(`["` + strings.Repeat("é", 1000) + `", 1,` + "\n" + strings.Repeat(" ", 1000) + "2, [],\r\n{}]"))
	stdtest.Must(t, err)
	var got []Position
	for _, n := range root.Items {
		got = append(got, n.Position)
	}
	stdtest.Diff(t, "places", []Position{{1, 2}, {1, 1006}, {2, 1001}, {2, 1004}, {3, 1}}, got)
}

// FuzzParse compares Parse with encoding/json: both accept the same texts with the same meaning,
// except for the differences that the package comment lists.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e+3,"\ud800x\n"],"b":{"c":null,"d":true}}`, `[1,]`, `{"a" 1}`, "\xef\xbb\xbf{}", `"\ud83d\ude00"`, `01`, `[[[]]]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		n, err := Parse(src)
		if err != nil {
			fault, ok := errors.AsType[*SyntaxError](err)
			if !ok || fault.Line < 1 || fault.Col < 1 || fault.Line > 1+strings.Count(string(src), "\n") || fault.Col > 1+len(src) {
				t.Fatalf("bad error %#v", err)
			}
			if utf8.Valid(src) && json.Valid(src) && !strings.Contains(fault.Msg, "nest more than") {
				t.Fatalf("refused %q: %v", src, err)
			}
			return
		}
		d := json.NewDecoder(strings.NewReader(strings.TrimPrefix(string(src), bom)))
		d.UseNumber()
		var want any
		if err := d.Decode(&want); err != nil {
			t.Fatalf("accepted %q, encoding/json says %v", src, err)
		}
		if diff := cmp.Diff(want, plainValue(n)); diff != "" {
			t.Errorf("%q (-encoding/json +jsonpos):\n%s", src, diff)
		}
	})
}

func plainValue(n *Node) any {
	switch n.Kind {
	case Null:
		return nil
	case Bool:
		return n.Text == "true"
	case Number:
		return json.Number(n.Text)
	case String:
		return n.Text
	case Array:
		list := []any{}
		for _, item := range n.Items {
			list = append(list, plainValue(item))
		}
		return list
	case Object:
		object := map[string]any{}
		for _, m := range n.Members {
			object[m.Key] = plainValue(m.Value)
		}
		return object
	}
	return nil
}
