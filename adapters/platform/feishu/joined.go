package feishu

import (
	"context"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/messages"
)

// membership handles that the bot was added to a group or removed from it, in the order of the
// chat's events.
func (r *receiver) membership(e envelope) handler {
	m, err := decodeMembership(e.Event)
	if err != nil {
		return r.unreadable(e)
	}
	place := r.lines.Join(messages.NewChatKey("feishu", r.p.opts.Account, m.Chat, 0))
	joined := botkit.Membership{
		Group: platform.ChatInfo{ID: m.Chat, Title: botkit.Tidy(m.Name, botkit.MaxName)}, In: e.Header.Kind == eventAdded,
		At: message{Created: e.Header.Created}.time(), Listed: r.p.admission.Rules(m.Chat, "").Listed,
	}
	return func(ctx context.Context) (any, error) {
		defer place.Leave()
		return r.guarded(e, func() (any, error) {
			err := place.Await(ctx)
			if err == nil {
				joined.By = r.p.person(ctx, m.Operator.OpenID)
				err = r.p.admission.Joined(ctx, joined)
			}
			if err != nil {
				r.p.metrics.events.WithLabelValues("refused").Inc()
				r.p.log.Warn("it could not be stored that the bot was added to a group or removed from it", "chat", m.Chat, "in", joined.In, "error", err)
				return nil, err
			}
			r.p.metrics.events.WithLabelValues("membership").Inc()
			r.p.sendDue(ctx)
			return struct{}{}, nil
		})
	}
}

// settle replaces the buttons of a question to the owner by the outcome.
func (p *Platform) settle(ctx context.Context, q botkit.Question) error {
	parts := p.Plan(platform.Outbound{Text: q.Text, Asks: []messages.Ask{q.Ask}})
	if len(parts) == 0 { // Unreachable: a question has text
		return nil
	}
	made := newCard(parts[len(parts)-1], true)
	made.shown[q.Ask.ApprovalID] = line(q.Outcome)
	return p.replaceCard(ctx, q.Message, made)
}
