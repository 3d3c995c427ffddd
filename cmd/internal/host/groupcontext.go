package host

import (
	"strings"

	"github.com/shipmyagent/shipmyagent/messages"
)

// groupContext is how many ignored messages of a group are quoted with the turn that
// addresses the bot; 0 in chats that are no groups.
func (h *Host) groupContext(key messages.ChatKey) int {
	a, ok := key.Address()
	if ok && a.Platform == nameTelegram && strings.HasPrefix(a.Chat, "-") {
		return h.opts.Settings.Settings.Adapters.Telegram.GroupContext
	}
	return 0
}
