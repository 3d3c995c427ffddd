package searchindex

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestBodyOf(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"signs only", " -- …!?\"' ", ""},
		{"words", "Hello, World 42", "hello world 42"},
		{"accents, composed or not", "Café Cafe\u0301", "cafe cafe"},
		{"full width", "ＡＰＩ１２", "api12"},
		{"numbers of orders", "INV-2024_001", "inv 2024 001"},
		{"Chinese", "今天天气", "今天 天天 天气 气"},
		{"one character", "好", "好"},
		{"mixed", "用Go写的bot", "用 go 写的 的 bot"},
		{"Japanese", "サーバー", "サー ーバ バー ー"},
		{"half-width Japanese", "ｶﾅ", "カナ ナ"},
		{"Korean", "서버는", "서버 버는 는"},
		{"a letter in signs", "㈀", "ᄀ"},
		{"a long word", strings.Repeat("a", 100), strings.Repeat("a", 64)},
		{"a long word of two-byte letters", "x" + strings.Repeat("б", 40), "x" + strings.Repeat("б", 31)},
		{"an emoji", "ok👍🏽 好", "ok 好"},
		{"no UTF-8", "a\xff\xfeb", "a b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body, n := bodyOf(tt.text)
			if body != tt.want || n != len(strings.Fields(tt.want)) {
				t.Errorf("bodyOf(%q) = %q, %d; want %q", tt.text, body, n, tt.want)
			}
		})
	}
}

func TestParseQuery(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"nothing", "…", nil},
		{"words", "deploy Friday", []string{`"deploy"`, `"friday"`}},
		{"twice", "deploy DEPLOY", []string{`"deploy"`}},
		{"what stands together", "INV-2024-001 a@b.c", []string{`"inv 2024 001"`, `"a b c"`}},
		{"Chinese", "天气预报", []string{`"天气 气预 预报"`}},
		{"one character", "气", []string{`"气" *`}},
		{"mixed", "天气API", []string{`"天气"`, `"api"`}},
		{"the language of the index", `a" OR chat : "c1" NEAR(b) * ^x`, []string{`"a"`, `"or"`, `"chat"`, `"c1"`, `"near b"`, `"x"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, term := range parseQuery(tt.text) {
				got = append(got, term.expression())
			}
			stdtest.Diff(t, fmt.Sprintf("parseQuery(%q)", tt.text), tt.want, got)
		})
	}
	if n := len(parseQuery(strings.Repeat("a b c d e f g h i j k l m n o p q r s t u v w x y z ", 3))); n != maxTerms {
		t.Errorf("%d terms, want %d", n, maxTerms)
	}
}

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("等等 and so on. ", 200)
	tests := []struct {
		name, text, query string
		want              string // the expected start
		before, after     bool
	}{
		{"short", "all of it", "it", "all of it", false, false},
		{"at the beginning", "found " + long, "found", "found 等等", false, true},
		{"in the middle", long + "there it is: 目标 " + long, "目标", "", true, true},
		{"at the end", long + "目标", "目标", "", true, false},
		{"nowhere", long, "missing", "等等", false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := excerpt(tt.text, parseQuery(tt.query))
			if len(got.Text) > excerptBytes || !strings.HasPrefix(got.Text, tt.want) || got.Before != tt.before || got.After != tt.after {
				t.Errorf("excerpt = %+v", got)
			}
			if tt.name != "nowhere" && !strings.Contains(got.Text, tt.query) {
				t.Errorf("%q is not in %q", tt.query, got.Text)
			}
			if !strings.Contains(tt.text, got.Text) {
				t.Errorf("%q is no piece of the text", got.Text)
			}
		})
	}
}

func TestEachString(t *testing.T) {
	tests := []struct {
		name, raw string
		want      []string
	}{
		{"nothing", ``, nil},
		{"a string", `"a"`, []string{"a"}},
		{"names are no words", `{"text":"a","n":1,"list":["b",{"c":"d","e":null}],"f":{},"g":"h"}`, []string{"a", "b", "d", "h"}},
		{"cut off", `{"text":"a","more":"b`, []string{"a"}},
		{"no JSON", `]`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			eachString([]byte(tt.raw), func(s string) { got = append(got, s) })
			stdtest.Diff(t, "", tt.want, got)
		})
	}
}

// FuzzWords: for any text, words contain nothing with a meaning in the index's query language, and
// a text is found by itself.
func FuzzWords(f *testing.F) {
	for _, s := range []string{"Hello, World", "今天天气 ok", "a\"b*c", "㈀½ﬁ", "e\u0301\u0301", "กำลัง", "x\u3164y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		found := split(text)
		for i, w := range found {
			if w.text == "" || len(w.text) > maxWord || w.at < 0 || w.at >= len(text) || i > 0 && w.at < found[i-1].at {
				t.Fatalf("word %+v", w)
			}
			if strings.ContainsFunc(w.text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) }) {
				t.Fatalf("word %q", w.text)
			}
		}
		body, _ := bodyOf(text)
		for _, term := range parseQuery(text) {
			if term.count(strings.Split(body, " ")) == 0 {
				t.Fatalf("%q is not found in %q", term.expression(), body)
			}
		}
		excerpt(text, parseQuery(text))
	})
}
