package telegram

import (
	"context"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

// announceWithin bounds the time for sending the list of commands to the service.
const announceWithin = 20 * time.Second

// announce sends the list of commands to the service, once and in the background: commands can be
// typed without it.
func (p *Platform) announce() {
	if len(p.opts.Menu) == 0 || !p.announced.CompareAndSwap(false, true) {
		return
	}
	p.life.Go(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, announceWithin)
		defer cancel()
		for _, params := range menus(p.opts.Menu) {
			if _, err := call[bool](ctx, p.client, "setMyCommands", params); err != nil {
				p.log.Warn("the list of commands could not be registered", "error", err)
				p.announced.Store(false) // retried when the bot next asks for its identity
				return
			}
		}
	})
}

// menus returns the lists of commands, for everybody and for people who read Chinese.
func menus(entries []platform.MenuEntry) []bot.SetMyCommandsParams {
	english, chinese := bot.SetMyCommandsParams{}, bot.SetMyCommandsParams{LanguageCode: "zh"}
	for _, e := range entries {
		english.Commands = append(english.Commands, models.BotCommand{Command: e.Command, Description: e.English})
		chinese.Commands = append(chinese.Commands, models.BotCommand{Command: e.Command, Description: e.Chinese})
	}
	return []bot.SetMyCommandsParams{english, chinese}
}
