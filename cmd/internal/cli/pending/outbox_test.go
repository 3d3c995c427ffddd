package pending

import (
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
)

// A line of the outbox has what people call the chat, if it is known.
func TestOutboxTextNamesChats(t *testing.T) {
	a := &console.Console{Env: func(string) (string, bool) { return "", false }}
	now := time.Now()
	line := query.OutboxLine{ChatKey: "c", ID: "e1", Kind: messages.OutboxEgress, State: messages.OutboxWaiting, Since: now, Text: "hi"}
	for name, want := range map[string]string{"": "c  e1  to people", "Ann": "c (Ann)  e1  to people"} {
		line.Name = name
		if got := outboxText(a, []query.OutboxLine{line}, now); !strings.HasPrefix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
