package journal

import (
	"encoding/json"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// SentWords is the text of a call of chat_send that was taken.
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

// Words are what people read of a message: what was sent by tool, if anything was, and
// otherwise its text, in lines.
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
