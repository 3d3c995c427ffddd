package jsonpos

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestParsePositions(t *testing.T) {
	src := []byte("\xef\xbb\xbf{\n  \"a\": [1, \"é\\u00e9\\ud83d\\ude00\"],\n  \"é\": null, \"a\": {}\n}\n")
	root, err := Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	at := NewLocator(src).At
	var got []string
	for _, m := range root.Members {
		line, col := at(m.KeyPos)
		vLine, vCol := at(m.Value.Pos)
		got = append(got, fmt.Sprintf("%s %d:%d %s %d:%d %q", m.Key, line, col, m.Value.Kind, vLine, vCol, src[m.Value.Pos:m.Value.End]))
	}
	want := []string{
		`a 2:3 a list 2:8 "[1, \"é\\u00e9\\ud83d\\ude00\"]"`,
		`é 3:3 null 3:8 "null"`,
		`a 3:14 an object 3:19 "{}"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("positions (-want +got):\n%s", diff)
	}
	if got, want := root.Members[0].Value.Items[1].Text, "éé😀"; got != want {
		t.Errorf("text = %q, want %q", got, want)
	}
	if line, col := at(root.Pos); line != 1 || col != 1 {
		t.Errorf("root at %d:%d, want 1:1", line, col)
	}
}

func TestParseFaults(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"empty", "", "1:1: the text ends where a value should stand"},
		{"trailing comma in object", "{\n\"a\": 1,\n}", "2:7: trailing comma before }; remove the comma"},
		{"trailing comma in list", "[1,]", "1:3: trailing comma before ]; remove the comma"},
		{"missing comma", "{\"a\": 1\n \"b\": 2}", "1:8: a comma is missing here; put a comma between two values"},
		{"comment", "{ // note\n}", "1:3: JSON has no comments; remove it, or keep notes in another file"},
		{"hash comment", "{} # x", "1:4: JSON has no comments; remove it, or keep notes in another file"},
		{"bare key", "{a: 1}", `1:2: a key has no quotes; put it into double quotes: "key"`},
		{"single quotes", "{'a': 1}", `1:2: a key stands in single quotes; use double quotes: "key"`},
		{"single quoted value", "['a']", "1:2: a string stands in the wrong quotes; use double quotes"},
		{"no closing quote", "{\"a\": \"x,\n\"b\": 1}", `1:7: the string that starts here has no end; add the closing " on the same line; a line break is written \n`},
		{"no opening quote", `{"a: "x"}`, `1:7: a colon is missing after the key; write "key": value, and check the quotes`},
		{"windows path", `["C:\path"]`, `1:5: \ starts an escape that JSON does not have; write a backslash as \\`},
		{"short unicode escape", `["\u12"]`, `1:3: \u needs four hexadecimal digits; write a backslash as \\`},
		{"tab in a string", "[\"a\tb\"]", `1:4: a control character stands in a string; write it as \t or \u00XX`},
		{"python word", "[True]", "1:2: this word is no value; put text into double quotes; bare words are only true, false and null"},
		{"leading zero", "[007]", "1:2: this is no number; write it like 12, -3 or 0.5, or put text into double quotes"},
		{"date", "[2024-01-01]", "1:2: this is no number; write it like 12, -3 or 0.5, or put text into double quotes"},
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
		{"text ends in an escape", `["\`, `1:3: the text ends inside a string; add the closing "`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n, err := Parse([]byte(tt.src))
			fault, ok := errors.AsType[*SyntaxError](err)
			if !ok {
				t.Fatalf("Parse = %v, %v; want a *SyntaxError", n, err)
			}
			line, col := NewLocator([]byte(tt.src)).At(fault.Pos)
			if got := fmt.Sprintf("%d:%d: %v", line, col, fault); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestLocatorInLongText(t *testing.T) {
	src := []byte(strings.Repeat("é", 1000) + "\n" + strings.Repeat("x", 1000) + "!")
	at := NewLocator(src).At
	for _, tt := range []struct{ offset, line, col int }{
		{-5, 1, 1}, {0, 1, 1}, {512, 1, 257}, {2000, 1, 1001}, {2001, 2, 1}, {len(src) - 1, 2, 1001}, {len(src) + 9, 2, 1002},
	} {
		if line, col := at(tt.offset); line != tt.line || col != tt.col {
			t.Errorf("offset %d at %d:%d, want %d:%d", tt.offset, line, col, tt.line, tt.col)
		}
	}
}

// FuzzParse holds Parse against encoding/json: the same texts are accepted and
// mean the same, but for what the package comment excludes.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e+3,"\ud800x\n"],"b":{"c":null,"d":true}}`, `[1,]`, `{"a" 1}`, "\xef\xbb\xbf{}", `"\ud83d\ude00"`, `01`, `[[[]]]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		n, err := Parse(src)
		if err != nil {
			fault, ok := errors.AsType[*SyntaxError](err)
			if !ok || fault.Pos < 0 || fault.Pos > len(src) {
				t.Fatalf("bad error %#v", err)
			}
			if utf8.Valid(src) && !hasBOM(src) && json.Valid(src) && !strings.Contains(fault.Msg, "nest more than") {
				t.Fatalf("refused %q: %v", src, err)
			}
			return
		}
		plain := src
		if hasBOM(src) {
			plain = src[len(bom):]
		}
		d := json.NewDecoder(strings.NewReader(string(plain)))
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
