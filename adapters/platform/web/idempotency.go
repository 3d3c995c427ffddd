package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// A request with an Idempotency-Key is accepted once, however often it is sent: the key is the id
// of its ingress, which the chat stores durably. A repeated request gets the answer of the same
// turn, live or afterwards, also after a restart.

const (
	keyHeader = "Idempotency-Key"
	keyPrefix = "key:" // prefix of ingress ids that are keys
)

// keyOf returns the ingress id for the request's key, or an empty string without a key.
func keyOf(r *http.Request) (string, *respond.Problem) {
	key := strings.TrimSpace(r.Header.Get(keyHeader))
	switch {
	case key == "":
		return "", nil
	case len(key) > maxMessageID || hasControl(key):
		return "", respond.BadRequest("bad_key", "An Idempotency-Key is at most 256 bytes of text without control characters.")
	}
	return keyPrefix + key, nil
}

// keyedID returns the id of a turn whose client gave only a key.
func keyedID(ingress string) string {
	sum := sha256.Sum256([]byte(ingress))
	return "m-" + hex.EncodeToString(sum[:12])
}

// byIngress finds the user turn that an ingress created.
func byIngress(view platform.ChatView, ingress string) (uimessage.Message, bool) {
	if ingress == "" {
		return uimessage.Message{}, false
	}
	for _, m := range slices.Concat(view.Messages, view.Waiting) {
		meta, _ := uimessage.DecodeMetadata(m.Metadata) // foreign metadata has no ingress
		if m.Role == uimessage.RoleUser && meta.IngressID == ingress {
			return m, true
		}
	}
	return uimessage.Message{}, false
}

func keyReused() *respond.Problem {
	return respond.Refused(http.StatusUnprocessableEntity, "key_reused", "This Idempotency-Key belongs to another message.")
}

// repeated returns the turn of an ingress that was handled before.
func (p *Platform) repeated(ctx context.Context, in platform.Inbound) (string, *respond.Problem) {
	view, refusal := p.look(ctx, in.ChatKey)
	if refusal != nil {
		return "", refusal
	}
	m, found := byIngress(view, in.IngressID)
	keyed := strings.HasPrefix(in.IngressID, keyPrefix)
	switch {
	case found && keyed && !sameWords(m, words{in.Text, in.Parts}):
		return "", keyReused()
	case found:
		return m.ID, nil
	case keyed:
		return "", respond.Refused(http.StatusGone, "folded", "The answer for this Idempotency-Key is no longer in the history.")
	}
	return "", nil
}
