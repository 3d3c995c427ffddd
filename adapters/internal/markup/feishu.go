package markup

import (
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/plainjson"
)

// maxPost is the longest rich text that Feishu accepts, in bytes, minus a reserve for the message
// around it.
const maxPost = 24 << 10

// postElement is a piece of Feishu's rich text. Its content is never interpreted as markup.
type postElement struct {
	Tag      string   `json:"tag"`
	Text     string   `json:"text"`
	Href     string   `json:"href,omitempty"`
	Style    []string `json:"style,omitempty"`
	Language string   `json:"language,omitempty"`
}

// SplitFeishu renders a text as Feishu's rich text, in parts within the limits, like
// [Renderer.Split]. Markup is the content of a message of the type post; it is empty if that would
// be too long.
func (r *Renderer) SplitFeishu(src string, lim Limits) []Part {
	parts := r.split(src, lim, feishu, nil)
	for i := range parts {
		if len(parts[i].Markup) > maxPost {
			parts[i].Markup = ""
		}
	}
	return parts
}

// FeishuText returns the content of a message of the type post that shows a text literally.
func FeishuText(text string) string { return post([][]postElement{{{Tag: "text", Text: text}}}) }

func post(rows [][]postElement) string {
	out, err := plainjson.Append(nil, map[string]any{"zh_cn": map[string]any{"content": rows}})
	if err != nil { // Unreachable: only strings
		return ""
	}
	return string(out)
}

// feishu renders blocks, each on lines of its own.
func feishu(blocks []leaf) string {
	var rows [][]postElement
	for i, l := range blocks {
		if i > 0 && l.blank {
			rows = append(rows, []postElement{{Tag: "text", Text: " "}})
		}
		if l.kind == leafCode {
			rows = append(rows, []postElement{{Tag: "code_block", Text: l.code, Language: feishuLanguage(l.lang)}})
			continue
		}
		if row := feishuText(l); len(row) > 0 {
			rows = append(rows, row)
		}
	}
	return post(rows)
}

func feishuText(l leaf) []postElement {
	prefix := strings.Repeat(quoteMark, min(l.quote, maxQuote))
	var row []postElement
	if prefix != "" {
		row = append(row, postElement{Tag: "text", Text: prefix})
	}
	for _, s := range l.spans {
		if s.style&aside != 0 || s.text == "" {
			continue
		}
		text := s.text
		if prefix != "" {
			text = strings.ReplaceAll(text, "\n", "\n"+prefix)
		}
		e := postElement{Tag: "text", Text: text}
		switch {
		case s.href != "":
			e.Tag, e.Href = "a", s.href
		case s.style&code != 0: // Feishu has no such style
			e.Text = "`" + text + "`"
		}
		e.Style = s.style.named("bold", "italic", "lineThrough")
		row = append(row, e)
	}
	return row
}

// feishuLanguage returns a language that Feishu knows, or an empty string.
func feishuLanguage(lang string) string {
	short := map[string]string{"js": "JAVASCRIPT", "ts": "TYPESCRIPT", "py": "PYTHON", "sh": "SHELL", "golang": "GO", "c++": "CPP", "yml": "YAML", "rs": "RUST"}
	if long, ok := short[strings.ToLower(lang)]; ok {
		return long
	}
	known := []string{
		"BASH", "C", "CPP", "CSS", "DART", "GO", "HTML", "JAVA", "JAVASCRIPT", "JSON", "KOTLIN", "PHP", "PYTHON", "RUBY", "RUST",
		"SHELL", "SQL", "SWIFT", "TYPESCRIPT", "XML", "YAML",
	}
	if up := strings.ToUpper(lang); slices.Contains(known, up) {
		return up
	}
	return ""
}
