package loop_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"

	"github.com/shipmyagent/shipmyagent/actors/internal/loop"
)

// errSignature is the reason of a wrong signature.
var errSignature = errors.New("invalid signature")

// signer signs approval requests like the SDK does, so that a request which a client returns is
// known to be genuine. The zero value has an empty key.
type signer struct{ key []byte }

// newSigner takes the key to sign with.
func newSigner(key []byte) signer { return signer{key: key} }

// sign is for Config.Sign.
func (s signer) sign(a loop.Approval) string {
	return base64.RawURLEncoding.EncodeToString(s.mac(a))
}

// verify is for Config.Verify.
func (s signer) verify(a loop.Approval, signature string) error {
	got, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil || !hmac.Equal(got, s.mac(a)) {
		return errSignature
	}
	return nil
}

// mac binds the approval to its call and to the exact input.
func (s signer) mac(a loop.Approval) []byte {
	input := sha256.Sum256(loop.Canonical(a.Call.Input))
	m := hmac.New(sha256.New, s.key)
	m.Write([]byte(a.ID + "\n" + a.Call.ID + "\n" + a.Call.Name + "\n" +
		base64.RawURLEncoding.EncodeToString(input[:])))
	return m.Sum(nil)
}
