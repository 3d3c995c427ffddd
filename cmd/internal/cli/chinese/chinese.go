// Package chinese has the Chinese words for texts that commands show in English, wherever they arise: help, failures,
// and the findings about settings and of doctor, also those of a running host. A command's own texts that arise in no
// other form have both languages side by side where they are written.
//
// words.json has both languages of every text. What is put into a text is %s in it, or %v if it is a text itself.
// The lines of a text that is not in the list are translated one by one, and so are the parts of a line before and
// after a semicolon or colon. What the list lacks remains English; the tests find such texts.
package chinese

import (
	_ "embed"
	"fmt"
	"regexp"
	"sort"
	"strings"

	"github.com/shipmyagent/shipmyagent/config/packed"
)

// packedWords is words.json; a test fails when they differ.
//
//go:embed words.json.gz
var packedWords []byte

// longest is how long a line may be in which texts of the list are sought.
const longest = 2000

// Words are the Chinese words of English texts.
type Words struct {
	whole map[string]string // by the English text, with single spaces
	forms []form            // those with most words of their own first
}

// form is a text that something is put into.
type form struct {
	pieces  []string // the English text around the holes
	texts   []bool   // whether a hole has a text that is translated
	length  int      // of all pieces
	chinese string
}

// Read unpacks the words.
func Read() Words {
	var w Words
	_ = packed.Read(packedWords, &w.whole) // the tests read it
	hole := regexp.MustCompile(`%[sv]`)
	for english, chinese := range w.whole {
		if !hole.MatchString(english) {
			continue
		}
		f := form{pieces: hole.Split(english, -1), chinese: chinese}
		for _, verb := range hole.FindAllString(english, -1) {
			f.texts = append(f.texts, verb == "%v")
		}
		f.length = len(english) - len("%s")*len(f.texts)
		w.forms = append(w.forms, f)
	}
	sort.Slice(w.forms, func(i, j int) bool {
		a, b := w.forms[i], w.forms[j]
		return a.length > b.length || a.length == b.length && a.chinese < b.chinese
	})
	return w
}

// Of is an English text in Chinese, as far as the list has it.
func (w Words) Of(text string) string {
	words := strings.TrimSpace(text)
	if words == "" {
		return text
	}
	before, after, _ := strings.Cut(text, words)
	return before + w.of(words) + after
}

func (w Words) of(text string) string {
	if chinese, ok := w.whole[strings.Join(strings.Fields(text), " ")]; ok {
		return chinese
	}
	if lines := strings.Split(text, "\n"); len(lines) > 1 {
		for i, line := range lines {
			lines[i] = w.Of(line)
		}
		return strings.Join(lines, "\n")
	}
	if len(text) > longest {
		return text
	}
	for _, f := range w.forms {
		if values, ok := f.match(text); ok {
			for i, isText := range f.texts {
				if isText {
					values[i] = w.Of(fmt.Sprint(values[i]))
				}
			}
			return fmt.Sprintf(f.chinese, values...)
		}
	}
	for _, mark := range [][2]string{{"; ", "；"}, {": ", "："}} {
		if head, rest, ok := strings.Cut(text, mark[0]); ok {
			chinese := w.Of(head)
			if chinese == head {
				mark[1] = mark[0]
			}
			return chinese + mark[1] + w.Of(rest)
		}
	}
	return text
}

// match returns what is in the holes of a form. Only a hole after a colon may hold another sentence.
func (f form) match(text string) (values []any, ok bool) {
	rest, ok := strings.CutPrefix(text, f.pieces[0])
	for i, piece := range f.pieces[1:] {
		at := strings.Index(rest, piece)
		if i == len(f.texts)-1 {
			at = len(strings.TrimSuffix(rest, piece))
			ok = ok && strings.HasSuffix(rest, piece)
		}
		if !ok || at < 0 {
			return nil, false
		}
		value := rest[:at]
		switch {
		case strings.HasSuffix(f.pieces[i], ": "):
		case strings.Contains(value, "; "), !f.texts[i] && strings.Contains(value, ": "):
			return nil, false
		}
		values, rest = append(values, value), rest[at+len(piece):]
	}
	return values, ok
}
