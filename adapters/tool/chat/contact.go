package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
)

// ContactName is the name of the tool that writes to another chat.
const ContactName = "chat_contact_send"

// longestName limits the name of a chat that people see, in characters.
const longestName = 40

// Contact is the tool chat_contact_send.
type Contact struct {
	tool.Described

	name func(messages.ChatKey) string
}

// NewContact makes the tool. name returns the name of a chat to show in requests, or "" if it is unknown.
func NewContact(name func(messages.ChatKey) string) *Contact {
	return &Contact{tool.DescribedBy(docs, "contact", &tool.Spec{Name: ContactName, Title: "Write to another chat"}), name}
}

type contactInput struct {
	ChatKey string `json:"chatKey"`
	Text    string `json:"text"`
}

// target parses a call. A key that does not name a chat on a platform is an error.
func target(input json.RawMessage) (contactInput, messages.Address, error) {
	var in contactInput
	if err := json.Unmarshal(input, &in); err != nil {
		return in, messages.Address{}, fmt.Errorf("%w: %w", tool.ErrInput, err)
	}
	key, err := messages.ParseChatKey(in.ChatKey)
	if err != nil {
		return in, messages.Address{}, fmt.Errorf("%w: /chatKey: %w", tool.ErrInput, err)
	}
	a, ok := key.Address()
	if !ok || a.Platform == "task" {
		return in, messages.Address{}, fmt.Errorf("%w: /chatKey: %q has not the form <platform>-chat-<id>", tool.ErrInput, in.ChatKey)
	}
	return in, a, nil
}

// CheckCall implements [tool.Checker]. Writing to the run's own chat or to the asker's private chat needs no approval;
// anything else does. Only ids are compared, never names. On Telegram the id of a private chat is that of its user;
// elsewhere equal ids mean nothing.
func (*Contact) CheckCall(call tool.Call) tool.Verdict {
	in, a, err := target(call.Input)
	if err != nil {
		return tool.Verdict{Decision: tool.Ask, Reason: "the chat cannot be told"}
	}
	asker, _, _ := strings.Cut(call.Run.Asker.Platform, "@")
	private := call.Run.Asker.ID != "" && a.Platform == "telegram" && a.Platform == asker && a.Chat == call.Run.Asker.ID && a.Topic == 0
	if private || messages.ChatKey(in.ChatKey) == call.Run.ChatKey {
		return tool.Verdict{Decision: tool.Allow}
	}
	return tool.Verdict{Decision: tool.Ask, Reason: "it writes to another chat, " + in.ChatKey}
}

// Explain implements [tool.Explainer].
func (c *Contact) Explain(call tool.Call) (tool.Explanation, error) {
	in, _, err := target(call.Input)
	if err != nil {
		return tool.Explanation{}, err
	}
	name := tool.Shorten(c.name(messages.ChatKey(in.ChatKey)), longestName)
	e, err := tool.Describe(ContactName, struct{ Chat, Name string }{in.ChatKey, name})
	e.Exact = in.Text
	return e, err
}

// Invoke implements [tool.Tool].
func (*Contact) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	in, _, err := target(call.Input)
	if err != nil {
		return tool.Result{}, err
	}
	if strings.TrimSpace(in.Text) == "" {
		return report(tool.Delivery{Skipped: "empty"}).result("")
	}
	d, err := call.Egress.SendTo(ctx, messages.ChatKey(in.ChatKey), call.ID, tool.Outgoing{Text: in.Text})
	if err != nil {
		return tool.Result{}, fmt.Errorf("send to %s: %w", in.ChatKey, err)
	}
	return report(d).result(in.ChatKey + ": " + in.Text)
}
