package host

import (
	"context"

	"github.com/shipmyagent/shipmyagent/config"
)

// Summary is what people want to know when a host is ready.
type Summary struct {
	Status
	Web string // where the web chat is; empty: nowhere
	// Login is the link that logs a browser in; empty: none is needed, or the operator
	// chose the token. It belongs on a terminal and into no log.
	Login config.Secret
	// OwnerCode pairs the bot's owner; empty: there is one, or nobody is needed.
	OwnerCode string
}

// Summary describes a host that has started. A bot without an owner gets a new
// pairing code by it.
func (h *Host) Summary(ctx context.Context) (Summary, error) {
	out := Summary{Status: h.Status(ctx), Web: h.webAddr, Login: h.loginLink()}
	bot, a := "", h.opts.Settings.Settings.Adapters
	switch {
	case h.ports[nameTelegram] != nil && a.Telegram.Access != config.AccessOpen:
		bot = nameTelegram
	case h.ports[nameFeishu] != nil && a.Feishu.Access != config.AccessOpen:
		bot = nameFeishu
	}
	if h.access == nil || bot == "" {
		return out, nil
	}
	code, err := h.access.OwnerCode(ctx, bot)
	out.OwnerCode = code
	return out, err
}
