package web

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/request"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// resultOfDecision returns what followed a message that decided requests. The result is nil until the run has ended.
// found is false if the turn decided nothing.
func (p *Platform) resultOfDecision(key messages.ChatKey, view platform.ChatView, turn string) (result *executeResult, found bool) {
	a, found := request.DecidedBy(view, request.IngressPrefix(key, request.KeyPrefix+turn))
	if !found {
		if a, found = request.DecidedBy(view, request.IngressPrefix(key, turn)); !found {
			return nil, false
		}
	}
	return p.resultAfter(key, view, a), true
}

// resultAfter returns what followed a decision: what the message that asked, or the new one for a late decision, has
// from the decided call on. It is nil until the run has ended.
func (p *Platform) resultAfter(key messages.ChatKey, view platform.ChatView, a journal.Asked) *executeResult {
	id := a.Turn.ID
	if a.Request.Late {
		id = a.Request.Outcome
	}
	i := request.Index(view.Messages, id)
	if i < 0 && id != "" { // a person went back to before it
		return withoutAnswer()
	}
	if i < 0 || view.Running && i == len(view.Messages)-1 {
		return nil
	}
	t := journal.NewTurn(view.Messages[i])
	at := slices.IndexFunc(t.Parts, func(part uimessage.Part) bool {
		call, ok := part.(uimessage.Tool)
		return ok && call.Approval != nil && call.Approval.ID == a.Request.ID
	})
	if at < 0 {
		return nil
	}
	if call, _ := t.Parts[at].(uimessage.Tool); call.State == uimessage.ToolApprovalResponded {
		return nil
	}
	gained := t.Message
	gained.Parts = t.Parts[at:]
	result := newResult([]uimessage.Message{gained}, t.Meta)
	result.outcome = outcomeOf(key, []uimessage.Message{t.Message}, t.Meta, uimessage.FateRecord{Fate: uimessage.FateAnswered})
	switch next := result.asked; {
	case next.Request.Late:
		return p.resultAfter(key, view, next)
	case next.Turn.ID != "":
		return nil
	}
	p.conclude(result, t.Meta)
	result.decided = true
	return result
}
