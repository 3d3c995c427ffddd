package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// A request with an Idempotency-Key is taken once, however often it comes: the key
// is the id of its ingress, which the chat keeps durably. Whoever sends it again gets
// the same turn's answer, while it comes or afterwards, after a restart too.

const (
	keyHeader = "Idempotency-Key"
	keyPrefix = "key:" // of ingress ids that are keys
)

// keyOf is the ingress id that the request's key makes; empty: it has none.
func keyOf(r *http.Request) (string, *problem) {
	key := strings.TrimSpace(r.Header.Get(keyHeader))
	switch {
	case key == "":
		return "", nil
	case len(key) > maxMessageID || hasControl(key):
		return "", badRequest("bad_key", "An Idempotency-Key is at most 256 bytes of text without control characters.")
	}
	return keyPrefix + key, nil
}

// keyedID is the id of a turn whose client gave only a key.
func keyedID(ingress string) string {
	sum := sha256.Sum256([]byte(ingress))
	return "m-" + hex.EncodeToString(sum[:12])
}

// byIngress finds the user turn that an ingress made.
func byIngress(view platform.ChatView, ingress string) (uimessage.Message, bool) {
	if ingress == "" {
		return uimessage.Message{}, false
	}
	for _, m := range slices.Concat(view.Messages, view.Waiting) {
		meta, _ := uimessage.DecodeMetadata(m.Metadata) // metadata that is not ours names no ingress
		if m.Role == uimessage.RoleUser && meta.IngressID == ingress {
			return m, true
		}
	}
	return uimessage.Message{}, false
}

func keyReused() *problem {
	return refused(http.StatusUnprocessableEntity, "key_reused", "This Idempotency-Key belongs to another message.")
}

// repeated is the turn of an ingress that was handled before.
func (p *Platform) repeated(ctx context.Context, in platform.Inbound) (string, *problem) {
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
		return "", refused(http.StatusGone, "folded", "The answer for this Idempotency-Key is no longer in the history.")
	}
	return "", nil
}
