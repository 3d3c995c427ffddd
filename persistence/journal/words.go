package journal

import (
	"encoding/json"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// SentWords returns the text of a successful call of chat_send.
func SentWords(call uimessage.Tool) (string, bool) {
	if call.Name != "chat_send" || call.State != uimessage.ToolOutputAvailable {
		return "", false
	}
	var in struct {
		Text string `json:"text"`
	}
	err := json.Unmarshal(call.Input, &in)
	return in.Text, err == nil
}

// Words returns what people read of a message: the texts sent by tool if there are any, otherwise the text parts,
// joined by newlines.
func Words(m uimessage.Message) string {
	var sent []string
	for _, p := range m.Parts {
		if call, ok := p.(uimessage.Tool); ok {
			if words, ok := SentWords(call); ok && strings.TrimSpace(words) != "" {
				sent = append(sent, words)
			}
		}
	}
	if len(sent) > 0 {
		return strings.Join(sent, "\n")
	}
	return Text(m)
}
