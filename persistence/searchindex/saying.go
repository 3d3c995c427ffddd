package searchindex

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
)

// maxSaying is how much of one turn is indexed, in bytes.
const maxSaying = 256 << 10

// saying is the text of a turn: its text parts, and the texts in inputs of its tool calls, because
// answers may be sent by a tool. It contains no metadata and no outputs of tools.
func saying(m uimessage.Message, skip []string) string {
	var b strings.Builder
	add := func(text string) {
		if text == "" || b.Len() >= maxSaying {
			return
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(shorten(text, maxSaying-b.Len()))
	}
	for _, part := range m.Parts {
		switch p := part.(type) {
		case uimessage.Text:
			add(p.Text)
		case uimessage.Tool:
			if !slices.Contains(skip, p.Name) {
				eachString(p.Input, add)
			}
		case uimessage.Reasoning, uimessage.SourceURL, uimessage.SourceDocument, uimessage.File, uimessage.Data, uimessage.StepStart, uimessage.Unknown:
		}
	}
	return b.String()
}

// requestOf is the request that a turn belongs to; empty if unknown.
func requestOf(m uimessage.Message) string {
	meta, _ := uimessage.DecodeMetadata(m.Metadata) // metadata of another origin has none
	return meta.RequestID
}

// eachString yields the strings among the values of a JSON document, in order.
func eachString(raw json.RawMessage, yield func(string)) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	type level struct{ object, value bool }
	var levels []level
	for {
		t, err := dec.Token()
		if err != nil {
			return
		}
		in := len(levels) - 1
		name := in >= 0 && levels[in].object && !levels[in].value
		if in >= 0 && levels[in].object {
			levels[in].value = !levels[in].value
		}
		switch v := t.(type) {
		case string:
			if !name {
				yield(v)
			}
		case json.Delim:
			if v == '{' || v == '[' {
				levels = append(levels, level{object: v == '{'})
				continue
			}
			levels = levels[:in]
		}
	}
}

// shorten truncates a text to at most n bytes of whole characters.
func shorten(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

const (
	excerptBefore = 160 // bytes before the first word that was found
	excerptBytes  = 900
)

// excerpt is the text around the first of the terms.
func excerpt(text string, terms []term) persistence.Excerpt {
	if len(text) <= excerptBytes {
		return persistence.Excerpt{Text: text}
	}
	from := max(0, first(text, terms)-excerptBefore)
	from = min(from, len(text)-excerptBytes)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from++
	}
	if at := strings.IndexFunc(text[from:], unicode.IsSpace); from > 0 && at >= 0 && at < excerptBefore/4 {
		from += at
	}
	piece := shorten(text[from:], excerptBytes)
	return persistence.Excerpt{Text: strings.TrimSpace(piece), Before: from > 0, After: from+len(piece) < len(text)}
}

// first is the position of the first of the terms, or 0.
func first(text string, terms []term) int {
	found := split(text)
	words := make([]string, len(found))
	for i, w := range found {
		words[i] = w.text
	}
	for i := range words {
		for _, t := range terms {
			if len(t.words) <= len(words)-i && t.at(words[i:]) {
				return found[i].at
			}
		}
	}
	return 0
}
