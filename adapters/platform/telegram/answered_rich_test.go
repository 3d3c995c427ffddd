package telegram

import (
	"encoding/json"
	"testing"

	"github.com/go-telegram/bot/models"

	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram/internal/wire"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestAnsweredRichMessage checks that a reply to a rich message includes that message, and that a forwarded rich
// message is read.
func TestAnsweredRichMessage(t *testing.T) {
	var msg wire.Message
	raw := `{"message_id":9,"chat":{"id":1,"type":"private"},"from":{"id":1},"rich_message":{"blocks":[{"type":"paragraph","text":"passed on"}]},
		"reply_to_message":{"message_id":8,"from":{"id":42,"is_bot":true},"rich_message":{"blocks":[{"type":"heading","text":"Plan","size":1},{"type":"paragraph","text":"go"}]}}}`
	stdtest.Must(t, json.Unmarshal([]byte(raw), &msg))
	m := mapper{me: models.User{ID: 42}}
	if got := m.answered(&msg); got == nil || got.Text != "Plan\ngo" || got.From != "you" {
		t.Errorf("answers %+v", got)
	}
	if got := m.message(&msg, false); got.in.Text != "passed on" || got.facts.Content == botkit.ContentService {
		t.Errorf("says %+v", got)
	}
}
