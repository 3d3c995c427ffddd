package web

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/request"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// A message that decides requests is not in the history, but each request keeps the request id of its decision. That
// id is therefore made of the message: of its ingress, and of its words, so that a repeated message is known.

// requestID returns the request id of a message.
func requestID(in platform.Inbound) string {
	words := sha256.Sum256([]byte(in.Command.Name + "\n" + in.Command.Args + "\n" + in.Text))
	return requestPrefix(in.ChatKey, in.IngressID) + hex.EncodeToString(words[:4])
}

// requestPrefix is how the request ids of an ingress begin, whatever its words are.
func requestPrefix(key messages.ChatKey, ingress string) string {
	sum := sha256.Sum256([]byte(string(key) + "\n" + ingress))
	return "r-" + hex.EncodeToString(sum[:9])
}

// decidedBy returns the newest message with a request that was decided under a request id with this prefix, and the
// first such request in it.
func decidedBy(view platform.ChatView, prefix string) (journal.Asked, bool) {
	for _, m := range slices.Backward(view.Messages) {
		t := journal.NewTurn(m)
		for _, r := range t.Requests {
			if strings.HasPrefix(r.RequestID, prefix) {
				return journal.Asked{Turn: t, Request: r}, true
			}
		}
	}
	return journal.Asked{}, false
}

// resultOfDecision returns what followed a message that decided requests: what the message that asked, or the new one
// for a late decision, has from the decided call on. The result is nil until the run has ended. found is false if the
// turn decided nothing.
func (p *Platform) resultOfDecision(key messages.ChatKey, view platform.ChatView, turn string) (result *executeResult, found bool) {
	a, found := decidedBy(view, requestPrefix(key, request.KeyPrefix+turn))
	if !found {
		if a, found = decidedBy(view, requestPrefix(key, turn)); !found {
			return nil, false
		}
	}
	id := a.Turn.ID
	if a.Request.Late {
		id = a.Request.Outcome
	}
	i := request.Index(view.Messages, id)
	if i < 0 || view.Running && i == len(view.Messages)-1 {
		return nil, true
	}
	t := journal.NewTurn(view.Messages[i])
	at := slices.IndexFunc(t.Parts, func(part uimessage.Part) bool {
		call, ok := part.(uimessage.Tool)
		return ok && call.Approval != nil && call.Approval.ID == a.Request.ID
	})
	if at < 0 || t.Answered() {
		return nil, true
	}
	gained := t.Message
	gained.Parts = t.Parts[at:]
	result = newResult([]uimessage.Message{gained}, t.Meta)
	result.outcome = outcomeOf(key, []uimessage.Message{t.Message}, t.Meta, uimessage.FateRecord{Fate: uimessage.FateAnswered})
	if result.Success = result.State != turnFailed; !result.Success {
		result.Error = p.failureText(result.Reason, false)
	}
	result.decided = true
	return result, true
}
