package request

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// A message that decides requests is not in the history, but each request keeps the request id of its decision. That
// id is therefore made of the message: of its ingress, and of its words, so that a repeated message is known.

// MessageRequestID returns the request id of a message.
func MessageRequestID(in platform.Inbound) string {
	words := sha256.Sum256([]byte(in.Command.Name + "\n" + in.Command.Args + "\n" + in.Text))
	return IngressPrefix(in.ChatKey, in.IngressID) + hex.EncodeToString(words[:4])
}

// IngressPrefix is how the request ids of an ingress begin, whatever its words are.
func IngressPrefix(key messages.ChatKey, ingress string) string {
	sum := sha256.Sum256([]byte(string(key) + "\n" + ingress))
	return "r-" + hex.EncodeToString(sum[:9])
}

// DecidedBy returns the newest message with a request that was decided under a request id with this prefix, and the
// first such request in it.
func DecidedBy(view platform.ChatView, prefix string) (journal.Asked, bool) {
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

// DecidedBefore reports whether an ingress that was handled before decided requests, with the same words.
func DecidedBefore(view platform.ChatView, in platform.Inbound) (bool, *respond.Problem) {
	if _, same := DecidedBy(view, MessageRequestID(in)); same {
		return true, nil
	}
	if _, other := DecidedBy(view, IngressPrefix(in.ChatKey, in.IngressID)); other {
		return false, KeyReused()
	}
	return false, nil
}
