package chat

import "hash/maphash"

// fingerprint tells whether texts are others than the last time, without keeping them.
// The zero value has seen none.
type fingerprint struct {
	seed maphash.Seed
	last uint64
}

// changed takes the texts as they are now. The first ones are no change.
func (f *fingerprint) changed(texts ...string) bool {
	first := f.last == 0
	if first {
		f.seed = maphash.MakeSeed()
	}
	var h maphash.Hash
	h.SetSeed(f.seed)
	for _, text := range texts {
		_, _ = h.WriteString(text) // never fails
		_ = h.WriteByte(0)         // never fails
	}
	before := f.last
	f.last = max(h.Sum64(), 1)
	return !first && f.last != before
}

// fingerprints are those of what a chat's requests begin with.
type fingerprints struct{ agent, profile, skills, memories fingerprint }

// began counts it when a request is about to begin with other texts than the one before.
func (c *chat) began(f *fingerprint, cause string, texts ...string) {
	if f.changed(texts...) {
		c.prefixBroken(cause)
	}
}
