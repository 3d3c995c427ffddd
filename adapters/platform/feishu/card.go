package feishu

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// maxCardText is the maximum length of a card's text that is passed on, in bytes, and maxCardDepth
// the maximum nesting.
const (
	maxCardText  = 16 << 10
	maxCardDepth = 16
)

// readCard reads the text of a card, as far as it is available. Events contain cards in one of two
// forms: flattened to rows of elements like rich text, or as they were sent, in user_dsl. The
// service does not say who wrote a card, so its text is not attributed to the sender.
func readCard(msg message) said {
	var c struct {
		Title    string      `json:"title"`
		Elements [][]element `json:"elements"`
		DSL      string      `json:"user_dsl"`
	}
	_ = json.Unmarshal([]byte(msg.Content), &c) // use whatever could be decoded
	var lines []string
	for _, row := range c.Elements {
		var line strings.Builder
		for _, e := range row {
			text, _ := e.read(message{}) // pictures in cards cannot be downloaded
			line.WriteString(text)
		}
		lines = append(lines, line.String())
	}
	var sent map[string]any
	if c.DSL != "" && json.Unmarshal([]byte(c.DSL), &sent) == nil {
		c.Title = cmp.Or(c.Title, strings.Join(cardWords(sent["header"], 0), " "))
		delete(sent, "header")
		lines = cardWords(sent, 0)
	}
	lines = slices.DeleteFunc(lines, func(s string) bool { return strings.TrimSpace(s) == "" })
	text := note("card", botkit.Tidy(c.Title, 300)).parts
	if words := strings.TrimSpace(botkit.Head(strings.Join(lines, "\n"), maxCardText)); words != "" {
		text = []uimessage.Part{uimessage.Text{Text: botkit.Placeholder("card", botkit.Tidy(c.Title, 300)) + "\n" + words}}
	}
	return said{parts: text, forwarded: true}
}

// cardWords returns the texts of a part of a card as it was sent, in display order.
func cardWords(v any, depth int) []string {
	if depth > maxCardDepth {
		return nil
	}
	var out []string
	switch x := v.(type) {
	case []any:
		for _, inner := range x {
			out = append(out, cardWords(inner, depth+1)...)
		}
	case map[string]any:
		if s, ok := x["content"].(string); ok && s != "" {
			out = append(out, s)
		}
		for _, name := range []string{"title", "subtitle", "text", "fields", "header", "body", "columns", "elements", "actions"} {
			if _, words := x[name].(string); !words {
				out = append(out, cardWords(x[name], depth+1)...)
			}
		}
	}
	return out
}
