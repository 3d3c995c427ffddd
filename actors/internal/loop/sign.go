package loop

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
)

// errSignature is the reason of a wrong signature.
var errSignature = errors.New("invalid signature")

// Signer signs approval requests like the SDK does, so that a request which a client returns is
// known to be genuine. The zero value has an empty key.
type Signer struct{ key []byte }

// NewSigner takes the key to sign with.
func NewSigner(key []byte) Signer { return Signer{key: key} }

// Sign is for Config.Sign.
func (s Signer) Sign(a Approval) string {
	return base64.RawURLEncoding.EncodeToString(s.mac(a))
}

// Verify is for Config.Verify.
func (s Signer) Verify(a Approval, signature string) error {
	got, err := base64.RawURLEncoding.DecodeString(signature)
	if err != nil || !hmac.Equal(got, s.mac(a)) {
		return errSignature
	}
	return nil
}

// mac binds the approval to its call and to the exact input.
func (s Signer) mac(a Approval) []byte {
	input := sha256.Sum256(Canonical(a.Call.Input))
	m := hmac.New(sha256.New, s.key)
	m.Write([]byte(a.ID + "\n" + a.Call.ID + "\n" + a.Call.Name + "\n" +
		base64.RawURLEncoding.EncodeToString(input[:])))
	return m.Sum(nil)
}
