package telegram

import (
	"context"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/messages"
)

// ShowOutcomes implements [platform.Outcomer]: an inactive button shows how each request ended.
func (p *Platform) ShowOutcomes(ctx context.Context, to platform.Target, messageID string, _ platform.Part, asks []messages.AskOutcome) error {
	if p.opts.Decide == nil {
		return nil
	}
	out, err := p.address(to)
	if err != nil {
		return err
	}
	id, err := strconv.ParseInt(messageID, 10, 64)
	if err != nil {
		return &platform.Error{Reason: platform.SendRefused, Err: err}
	}
	var rows [][]button
	for _, a := range asks {
		if a.Answer != "" {
			rows = append(rows, []button{newButton("#"+strconv.Itoa(a.N)+" "+outcomeWords(a), pressNothing)})
			continue
		}
		if open := buttons([]messages.Ask{a.Ask}); open != nil {
			rows = append(rows, open.InlineKeyboard...)
		}
	}
	return p.setKeyboard(ctx, out.Chat, id, keyboard{InlineKeyboard: rows})
}

// outcomeWords describes how a request ended, in the space that a button has.
func outcomeWords(a messages.AskOutcome) string {
	mark := botkit.Mark(a.Answer)
	if a.Answer == "expired" {
		return mark
	}
	name := a.ByName
	if name == "" {
		_, name, _ = strings.Cut(a.By, "-")
	}
	return strings.TrimSpace(mark + " " + botkit.Head(name, maxShownName))
}

// maxShownName is the length of a name on a button, in bytes.
const maxShownName = 64
