package telegramtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxRich is how long the text of a rich message may be, in characters.
const maxRich = 32768

// richTags are the allowed tags of rich messages with their attributes. The service knows more, such as pictures, maps,
// mentions and buttons, but texts of people and models must never become one of those, so they are errors here.
func richTags() map[string][]string {
	return map[string][]string{
		"b": nil, "i": nil, "u": nil, "s": nil, "code": {"class"}, "a": {"href"}, "pre": nil, "p": nil, "hr": nil, "br": nil,
		"h1": nil, "h2": nil, "h3": nil, "h4": nil, "h5": nil, "h6": nil, "ul": nil, "ol": nil, "li": {"value"}, "blockquote": nil,
		"table": {"bordered"}, "tr": nil, "th": nil, "td": {"align"},
	}
}

// richOuter returns the allowed parent of each block tag. If it is empty, the tag must be at the top level, in an item or
// in a quote. Tags without an entry are inline and allowed anywhere except in code.
func richOuter() map[string][]string {
	block := []string{"", "li", "blockquote"}
	out := map[string][]string{"li": {"ul", "ol"}, "tr": {"table"}, "th": {"tr"}, "td": {"tr"}}
	for _, tag := range []string{"p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "blockquote", "table", "pre", "hr"} {
		out[tag] = block
	}
	return out
}

// ParseRich reads the HTML of a rich message and returns what people see, with a
// line for each block.
func ParseRich(src string) (string, error) {
	p := &htmlParser{src: src, tags: richTags(), outer: richOuter()}
	return p.parse()
}

func readRich(p Params) (string, *refused) {
	var m struct {
		HTML     *string `json:"html"`
		Markdown *string `json:"markdown"`
		Skip     bool    `json:"skip_entity_detection"`
	}
	dec := json.NewDecoder(strings.NewReader(p.Text("rich_message")))
	dec.DisallowUnknownFields()
	switch err := dec.Decode(&m); {
	case err != nil:
		return "", badRequest("can't parse InputRichMessage: %v", err)
	case m.HTML == nil || m.Markdown != nil:
		return "", badRequest("exactly one of html and markdown must be used, and markdown is read as nobody foresees")
	case !m.Skip:
		return "", badRequest("a mention in the text would call somebody")
	}
	text, err := ParseRich(*m.HTML)
	if err != nil {
		return "", badRequest("can't parse rich message: %v", err)
	}
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return "", badRequest("RICH_MESSAGE_CONTENT_REQUIRED")
	case utf8.RuneCountInString(text) > maxRich:
		return "", badRequest("message is too long")
	}
	return text, nil
}

// WithoutRich makes the fake a server that does not know rich messages.
func (a *API) WithoutRich() { a.mu.Do(func() { a.noRich = true }) }

// sendText is called with the lock held.
func (a *API) sendText(c *Call) (any, *refused) {
	if c.Method == "sendRichMessage" {
		return a.sendRich(c.Params)
	}
	return a.send(c.Params, "text", 4096)
}

// sendRich is called with the lock held.
func (a *API) sendRich(p Params) (any, *refused) {
	if a.noRich {
		return nil, &refused{code: 404, text: "Not Found: method not found"}
	}
	if no := unknownOf(p, "chat_id", "message_thread_id", "rich_message", "reply_parameters", "reply_markup"); no != nil {
		return nil, no
	}
	text, no := readRich(p)
	if no != nil {
		return nil, no
	}
	plain := Params{"text": text}
	for name, value := range p {
		if name != "rich_message" {
			plain[name] = value
		}
	}
	sent, no := a.send(plain, "text", maxRich)
	if no == nil {
		m := sent.(map[string]any) //nolint:forcetypeassert,errcheck // made by send
		c := a.chats[p.Int("chat_id")]
		last := c.sent[len(c.sent)-1]
		last.Rich, c.forms[last.ID] = true, form(p, "text")
		delete(m, "text")
		m["rich_message"] = map[string]any{"blocks": []any{map[string]any{"type": "paragraph", "text": fmt.Sprint(text)}}}
	}
	return sent, no
}
