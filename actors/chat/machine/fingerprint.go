package machine

import "github.com/cespare/xxhash/v2"

// fingerprint detects changes of texts without keeping the texts. The zero value has seen none.
type fingerprint uint64

// changed reports whether the texts differ from the last call. The first call reports false.
func (f *fingerprint) changed(texts ...string) bool {
	var h xxhash.Digest
	h.Reset()
	for _, text := range texts {
		_, _ = h.WriteString(text) // never fails
		_, _ = h.Write([]byte{0})  // never fails
	}
	before := *f
	*f = fingerprint(max(h.Sum64(), 1))
	return before != 0 && *f != before
}

// fingerprints cover the texts that a chat's requests begin with.
type fingerprints struct{ agent, profile, skills, memories fingerprint }

// began reports a broken prefix if the texts at the beginning of a request differ from the previous request.
func (c *Chat) began(f *fingerprint, cause string, texts ...string) {
	if f.changed(texts...) {
		c.prefixBroken(cause)
	}
}
