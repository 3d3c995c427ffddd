package feishu

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu/internal/api"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/messages"
)

// ShowOutcomes implements [platform.Outcomer]: the card is replaced by one that shows how each
// request ended. The new card is made from the text, so it also works after a restart.
func (p *Platform) ShowOutcomes(ctx context.Context, _ platform.Target, messageID string, part platform.Part, asks []messages.AskOutcome) error {
	made := newCard(part, p.opts.Decide != nil)
	if made == nil {
		return nil
	}
	for _, a := range asks {
		if a.Answer != "" {
			made.shown[a.ApprovalID] = outcomeLine(a)
		}
	}
	return p.replaceCard(ctx, messageID, made)
}

// replaceCard replaces the content of a card that was sent.
func (p *Platform) replaceCard(ctx context.Context, message string, made *card) error {
	if _, err := api.Post[json.RawMessage](ctx, p.client, http.MethodPatch, api.MessagePath(message), nil, map[string]string{"content": made.content()}); err != nil {
		return sendError(err)
	}
	if _, known := p.cards.Get(message); known {
		p.cards.Put(message, made)
	}
	return nil
}

// outcomeLine describes how a request ended, to replace its buttons. Who decided is mentioned, because only the service
// knows people's names; somebody who decided elsewhere, for example in the console, is no user of the service.
func outcomeLine(a messages.AskOutcome) object {
	mark := botkit.Mark(a.Answer)
	if a.Answer != "approved" && a.Answer != "denied" {
		return line(mark)
	}
	if id, here := strings.CutPrefix(a.By, "feishu-"); here && isID(id) {
		return object{"tag": "markdown", "content": mark + " <at id=" + id + "></at>"}
	}
	return line(strings.TrimSpace(mark + " " + botkit.Tidy(a.ByName, botkit.MaxName)))
}
