package host

import (
	"context"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/config"
)

// Summary is what people want to know when a host is ready.
type Summary struct {
	Status
	Web string // where the web chat is; empty: nowhere
	// Login is the link that logs a browser in; empty: none is needed, or the operator
	// chose the token. It belongs on a terminal and into no log.
	Login config.Secret
	// OwnerCode pairs the owner of OwnerBot, which is a platform's name; empty: the bot has
	// one, or needs none.
	OwnerCode, OwnerBot string
}

// Summary describes a host that has started. A bot without an owner gets a new
// pairing code by it.
func (h *Host) Summary(ctx context.Context) (Summary, error) {
	h.awaitNames(ctx)
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
	out.OwnerCode, out.OwnerBot = code, bot
	return out, err
}

// namesWithin is how long a summary waits for services to say who their bots are.
const namesWithin = 2 * time.Second

// awaitNames waits until all bots are known by name, or are known not to be reachable.
func (h *Host) awaitNames(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, namesWithin)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		var list Status
		h.board.fill(&list)
		if h.nameBots(list.Platforms) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
	}
}

// nameBots adds what bots are called, as far as is known. It reports whether there is
// nothing left to wait for.
func (h *Host) nameBots(list []PlatformStatus) bool {
	complete := true
	for i, p := range list {
		made := h.ports[p.Name]
		if made == nil {
			continue
		}
		if named, ok := made.platform.(platform.Named); ok {
			list[i].Bot, list[i].Link = named.Bot()
			complete = complete && (list[i].Bot != "" || p.Note != starting)
		}
	}
	return complete
}
