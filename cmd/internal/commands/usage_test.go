package commands_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/cmd/internal/commands"
	"github.com/shipmyagent/shipmyagent/messages"
)

// People read what their chat and they themselves have used, whatever they ask for. Only the owner reads about others,
// and only in a private chat.
func TestUsage(t *testing.T) {
	c := commands.New(commands.Options{
		Zone: time.UTC, Chinese: func() bool { return false },
		Role: func(bot, person string) string {
			if bot == "telegram" && person == "1" {
				return platform.RoleOwner
			}
			return platform.RoleStranger
		},
		Usage: func(chat messages.ChatKey, person string, owner bool) (string, string) {
			return fmt.Sprint(chat, " ", person, " ", owner), ""
		},
	})
	for _, tt := range []struct {
		chat     messages.ChatKey
		by, kind string
		args     string
		want     string
	}{
		{"telegram-chat-1", "1", "private", "", "telegram-chat-1 telegram-1 true"},
		{"telegram-chat-2", "2", "private", "telegram-chat-1", "telegram-chat-2 telegram-2 false"},
		{"telegram-chat--5", "1", "group", "", "telegram-chat--5 telegram-1 false"},
		{"telegram-chat--5", "2", "group", "", "telegram-chat--5 telegram-2 false"},
		{"telegram@other-chat-1", "1", "private", "", "telegram@other-chat-1 telegram-1 false"},
		{"api-chat-1", "owner", "api", "", "api-chat-1 api-owner false"},
		{"web-chat-1", "owner", "web", "", "web-chat-1 web-owner true"},
		{"feishu-chat-1", "1", "private", "", "feishu-chat-1 feishu-1 false"},
	} {
		a, _ := tt.chat.Address()
		got, ok := c.Answer(decision.Command{Name: "usage", ChatKey: tt.chat, Args: tt.args, ChatType: tt.kind, By: messages.Asker{Platform: a.Platform, ID: tt.by}})
		if got != tt.want || !ok {
			t.Errorf("%s in %s: %q, want %q", tt.by, tt.chat, got, tt.want)
		}
	}
}
