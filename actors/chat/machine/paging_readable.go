package machine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// maxNested is how deep results are written out; what is deeper is left out.
const maxNested = 32

// said is what a tool said, for people.
type said struct {
	text  string
	whole string // where all of it is kept; empty: nowhere else
	// archive has the message as it was before large outputs were left out.
	archive string
}

// saidBy reads a result: a text is taken as it is, as is the member output of a
// result that has one; the rest is written line by line. Nobody is shown JSON.
func saidBy(output json.RawMessage) said {
	output = bytes.TrimSpace(output)
	if len(output) == 0 || bytes.Equal(output, []byte("null")) {
		return said{}
	}
	var text string
	if json.Unmarshal(output, &text) == nil {
		return said{text: text}
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
			return said{text: fmt.Sprintf("%s\n… %d bytes …\n%s", *short.Head, short.Bytes, short.Tail), whole: short.Whole}
		case short.Truncated && short.Note != nil && short.Archive != "":
			return said{whole: short.Whole, archive: short.Archive}
		case len(short.Output) > 0:
			return saidBy(short.Output)
		}
	}
	var b strings.Builder
	dec := json.NewDecoder(bytes.NewReader(output))
	dec.UseNumber()
	written(&b, dec, "", 0)
	return said{text: b.String()}
}

// written writes the next value of a JSON text as lines. What breaks off ends there.
func written(b *strings.Builder, dec *json.Decoder, key string, depth int) {
	tok, err := dec.Token()
	if err != nil {
		return
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
			return
		}
		b.WriteString(label + sep(key) + text + "\n")
		return
	}
	if key != "" {
		b.WriteString(label + "\n")
		depth++
	}
	var deep strings.Builder
	into := b
	if depth > maxNested {
		into = &deep // and dropped
	}
	for dec.More() {
		name := "-"
		if open == '{' {
			tok, err := dec.Token()
			if err != nil {
				return
			}
			name = strings.Join(strings.Fields(fmt.Sprint(tok)), " ") + ":"
		}
		written(into, dec, name, min(depth, maxNested))
		deep.Reset()
	}
	_, _ = dec.Token() // what closes it
}

func sep(key string) string {
	if key == "" {
		return ""
	}
	return " "
}
