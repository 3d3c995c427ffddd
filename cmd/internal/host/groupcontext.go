package host

import (
	"strings"

	"github.com/shipmyagent/shipmyagent/messages"
)

// groupContext is how many ignored messages of a group are quoted with the turn that
// addresses the bot; 0 in chats that are no groups.
func (h *Host) groupContext(key messages.ChatKey) int {
	a, ok := key.Address()
	switch {
	case ok && a.Platform == nameTelegram && strings.HasPrefix(a.Chat, "-"):
		return h.opts.Settings.Settings.Adapters.Telegram.GroupContext
	case ok && a.Platform == nameFeishu: // in private nothing is ignored
		s := h.opts.Settings.Settings.Adapters.Feishu
		if own := s.Groups[a.Chat].GroupContext; own != nil {
			return *own
		}
		return s.GroupContext
	}
	return 0
}
