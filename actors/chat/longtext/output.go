package longtext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/internal/approval/visible"
	"github.com/shipmyagent/shipmyagent/messages"
)

// maxNested is the depth to which results are formatted. Deeper values are left out.
const maxNested = 32

// Said is the output of a tool in a form for people.
type Said struct {
	Text  string
	Whole string // pointer to the full output; empty if it is not kept
	// Archive holds the original message if a large output was left out.
	Archive string
}

// SaidBy formats a tool result: a text is used as it is, and so is the member output if there is one. Everything else
// is formatted line by line, because people should not read JSON.
func SaidBy(output json.RawMessage) Said {
	output = bytes.TrimSpace(output)
	if len(output) == 0 || bytes.Equal(output, []byte("null")) {
		return Said{}
	}
	var text string
	if json.Unmarshal(output, &text) == nil {
		return Said{Text: text}
	}
	var short struct {
		Truncated bool            `json:"truncated"`
		Bytes     int             `json:"bytes"`
		Head      *string         `json:"head"`
		Tail      string          `json:"tail"`
		Whole     string          `json:"whole"`
		Archive   string          `json:"archive"`
		Note      *string         `json:"note"`
		Output    json.RawMessage `json:"output"`
	}
	if json.Unmarshal(output, &short) == nil {
		switch {
		case short.Truncated && short.Head != nil:
			return Said{Text: fmt.Sprintf("%s\n… %d bytes …\n%s", *short.Head, short.Bytes, short.Tail), Whole: short.Whole}
		case short.Truncated && short.Note != nil && short.Archive != "":
			return Said{Whole: short.Whole, Archive: short.Archive}
		case len(short.Output) > 0:
			return SaidBy(short.Output)
		}
	}
	var b strings.Builder
	dec := json.NewDecoder(bytes.NewReader(output))
	dec.UseNumber()
	written(&b, dec, "", 0)
	return Said{Text: b.String()}
}

// written formats the next value of a JSON text as lines. It returns false at a syntax error, where the text ends.
func written(b *strings.Builder, dec *json.Decoder, key string, depth int) bool {
	tok, err := dec.Token()
	if err != nil {
		return false
	}
	indent := strings.Repeat("  ", depth)
	label := indent + key
	open, ok := tok.(json.Delim)
	if !ok {
		text := "-"
		if tok != nil {
			text = fmt.Sprint(tok)
		}
		if strings.Contains(text, "\n") {
			b.WriteString(label + "\n" + indent + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+indent) + "\n")
			return true
		}
		b.WriteString(label + sep(key) + text + "\n")
		return true
	}
	if key != "" {
		b.WriteString(label + "\n")
		depth++
	}
	var deep strings.Builder
	into := b
	if depth > maxNested {
		into = &deep // discarded
	}
	for dec.More() {
		name := "-"
		if open == '{' {
			tok, err := dec.Token()
			if err != nil {
				return false
			}
			name = strings.Join(strings.Fields(fmt.Sprint(tok)), " ") + ":"
		}
		if !written(into, dec, name, min(depth, maxNested)) {
			return false
		}
		deep.Reset()
	}
	_, err = dec.Token() // the closing delimiter
	return err == nil
}

func sep(key string) string {
	if key == "" {
		return ""
	}
	return " "
}

// Fenced returns a text as a code block that the text itself cannot end.
func Fenced(text string) string { return visible.Block("", strings.TrimRight(text, "\n")) }

// maxBack is how far back an output can be requested.
const maxBack = 1000

// OutputArgs parses the arguments of /output: how far back, and which page.
func OutputArgs(args string) (back, page int, ok bool) {
	back, page = 1, 1
	fields := strings.Fields(args)
	if len(fields) > 2 {
		return 0, 0, false
	}
	for i, n := range []*int{&back, &page} {
		if i >= len(fields) {
			break
		}
		v, isNumber := messages.NumberOf(fields[i])
		if !isNumber || v > maxBack {
			return 0, 0, false
		}
		*n = v
	}
	return back, page, true
}

// Part returns one of the pages of a given size into which a text is cut, and how many there are.
func Part(text string, size, page int) (part string, pages int) {
	for text != "" {
		end := cut(text, size)
		if pages++; pages == page {
			part = text[:end]
		}
		text = text[end:]
	}
	return part, pages
}
