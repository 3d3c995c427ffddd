package web

import (
	"context"
	"net/http"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/request"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
)

// A request with an Idempotency-Key is accepted once, however often it is sent: the key is the id
// of its ingress, which the chat stores durably. A repeated request gets the answer of the same
// turn, live or afterwards, also after a restart.

// repeated returns the turn of an ingress that was handled before. decided is true if it decided requests instead.
func (p *Platform) repeated(ctx context.Context, in platform.Inbound) (turn string, decided bool, refusal *respond.Problem) {
	view, refusal := p.look(ctx, in.ChatKey)
	if refusal != nil {
		return "", false, refusal
	}
	m, found := request.ByIngress(view, in.IngressID)
	switch {
	case found && !request.SameWords(m, request.Words{Text: in.Text, Parts: in.Parts}):
		return "", false, request.KeyReused()
	case found:
		return m.ID, false, nil
	}
	if decided, refusal = request.DecidedBefore(view, in); decided || refusal != nil {
		return "", decided, refusal
	}
	if strings.HasPrefix(in.IngressID, request.KeyPrefix) {
		return "", false, respond.Refused(http.StatusGone, "compacted", "The answer for this Idempotency-Key is no longer in the history.")
	}
	return "", false, nil
}
