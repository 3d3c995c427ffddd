package protocol

import (
	"crypto/rand"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// NewID returns a new id of a call.
func NewID(prefix string) string { return prefix + strings.ToLower(rand.Text()) }

// UsedIDs reports which call ids a history contains. The history is scanned when the first call
// arrives.
func UsedIDs(messages []modelmessage.Message) func(string) bool {
	var ids map[string]bool
	return func(id string) bool {
		if ids == nil {
			ids = map[string]bool{}
			for _, m := range messages {
				for _, part := range m.Parts {
					if c, ok := part.(modelmessage.ToolCall); ok {
						ids[c.ToolCallID] = true
					}
				}
			}
		}
		return ids[id]
	}
}
