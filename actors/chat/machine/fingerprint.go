package machine

import "github.com/cespare/xxhash/v2"

// fingerprint tells whether texts are others than the last time, without keeping them.
// The zero value has seen none.
type fingerprint uint64

// changed takes the texts as they are now. The first ones are no change.
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

// fingerprints are those of what a chat's requests begin with.
type fingerprints struct{ agent, profile, skills, memories fingerprint }

// began counts it when a request is about to begin with other texts than the one before.
func (c *Chat) began(f *fingerprint, cause string, texts ...string) {
	if f.changed(texts...) {
		c.prefixBroken(cause)
	}
}
