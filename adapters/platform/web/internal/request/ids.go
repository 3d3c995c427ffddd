package request

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

const (
	// KeyHeader is the header of a client's idempotency key.
	KeyHeader = "Idempotency-Key"
	// KeyPrefix begins the ingress ids that are keys.
	KeyPrefix = "key:"
)

// KeyOf returns the ingress id for the request's key, or an empty string without a key.
func KeyOf(r *http.Request) (string, *respond.Problem) {
	key := strings.TrimSpace(r.Header.Get(KeyHeader))
	switch {
	case key == "":
		return "", nil
	case len(key) > maxMessageID || HasControl(key):
		return "", respond.BadRequest("bad_key", "An Idempotency-Key is at most 256 bytes of text without control characters.")
	}
	return KeyPrefix + key, nil
}

// keyedID returns the id of a turn whose client gave only a key.
func keyedID(ingress string) string {
	sum := sha256.Sum256([]byte(ingress))
	return "m-" + hex.EncodeToString(sum[:12])
}

// ByIngress finds the user turn that an ingress created.
func ByIngress(view platform.ChatView, ingress string) (uimessage.Message, bool) {
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

// KeyReused refuses a key that came with another message before.
func KeyReused() *respond.Problem {
	return respond.Refused(http.StatusUnprocessableEntity, "key_reused", "This Idempotency-Key or messageId belongs to another message.")
}

// BadMessageID returns why an id of a message cannot be used, or nil.
func BadMessageID(id string) *respond.Problem {
	if len(id) > maxMessageID || HasControl(id) {
		return respond.BadRequest("bad_message_id", "A message id is at most 256 bytes of text without control characters.")
	}
	return nil
}

const maxMessageID = 256

// HasControl reports control characters, and bytes that are not UTF-8.
func HasControl(s string) bool {
	for _, r := range s {
		if r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\uFFFD' {
			return true
		}
	}
	return false
}

// NewID returns a random id. rand.Read never fails.
func NewID(prefix string) string {
	var b [9]byte
	_, _ = rand.Read(b[:])
	return prefix + hex.EncodeToString(b[:])
}
