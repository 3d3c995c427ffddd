package loop_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"

	"github.com/shipmyagent/shipmyagent/actors/internal/loop"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// signer signs approval requests like the SDK does, so that a request which a client returns is
// known to be genuine. The zero value has an empty key.
type signer struct{ key []byte }

func newSigner(key []byte) signer { return signer{key: key} }

// sign binds the approval to its call and to the exact input.
func (s signer) sign(id string, call uimessage.Tool) string {
	input := sha256.Sum256(loop.Canonical(call.Input))
	m := hmac.New(sha256.New, s.key)
	m.Write([]byte(id + "\n" + call.ToolCallID + "\n" + call.Name + "\n" +
		base64.RawURLEncoding.EncodeToString(input[:])))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}
