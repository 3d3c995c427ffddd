package feishutest

import (
	"slices"
	"strings"
)

// Button is a button of a card that is shown.
type Button struct {
	Text  string
	Value map[string]any
}

func walkCard(c map[string]any) (text string, buttons []Button, ok bool) {
	body, _ := c["body"].(map[string]any)
	elements, ok := body["elements"].([]any)
	var texts []string
	for _, e := range elements {
		ok = walkElement(e, &texts, &buttons) && ok
	}
	return strings.Join(texts, "\n"), buttons, ok && len(elements) > 0
}

func walkElement(e any, texts *[]string, buttons *[]Button) bool {
	m, _ := e.(map[string]any)
	switch m["tag"] {
	case "markdown":
		content, ok := m["content"].(string)
		*texts = append(*texts, content)
		return ok
	case "div":
		t, _ := m["text"].(map[string]any)
		content, ok := t["content"].(string)
		*texts = append(*texts, content)
		return ok && slices.Contains([]string{"plain_text", "lark_md"}, stringOf(t["tag"]))
	case "hr":
		return true
	case "column_set":
		columns, ok := m["columns"].([]any)
		for _, c := range columns {
			column, _ := c.(map[string]any)
			inner, _ := column["elements"].([]any)
			ok = ok && column["tag"] == "column"
			for _, e := range inner {
				ok = walkElement(e, texts, buttons) && ok
			}
		}
		return ok
	case "button":
		return walkButton(m, buttons)
	}
	return false
}

func walkButton(m map[string]any, buttons *[]Button) bool {
	t, _ := m["text"].(map[string]any)
	behaviors, _ := m["behaviors"].([]any)
	if t["tag"] != "plain_text" || stringOf(t["content"]) == "" || len(behaviors) != 1 {
		return false
	}
	b, _ := behaviors[0].(map[string]any)
	value, ok := b["value"].(map[string]any)
	*buttons = append(*buttons, Button{Text: stringOf(t["content"]), Value: value})
	return ok && b["type"] == "callback"
}

// Buttons are the buttons below a message of the bot, in order.
func (a *API) Buttons(message string) []Button {
	a.mu.Lock()
	defer a.mu.Unlock()
	if m := a.messages[message]; m != nil {
		_, buttons, _ := walkCard(decodeCard(m.Content))
		return buttons
	}
	return nil
}

// readCard is as strict as the service about cards of schema 2.0.
func (a *API) readCard(c map[string]any) (string, *feishuRefusal) {
	if c["type"] == "card" {
		return "", nil // checked when it is attached
	}
	if c["schema"] != "2.0" {
		return "", feishuNo(230099, "Failed to create card content, ext=ErrCode: 11310; ErrMsg: schema is not 2.0")
	}
	text, _, ok := walkCard(c)
	if !ok {
		return "", feishuNo(230099, "Failed to create card content, ext=ErrCode: 200621; ErrMsg: parse card json err")
	}
	return text, nil
}
