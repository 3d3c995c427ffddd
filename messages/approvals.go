package messages

// RevokeGrants revokes grants of a chat by their numbers. Sent by the host on behalf of a person
// who may decide in the chat; answered with [GrantsRevoked] once the revocation is durable. Grants
// that were already revoked count as revoked.
type RevokeGrants struct {
	ChatKey   ChatKey
	RequestID string
	By        Asker
	Numbers   []int // if empty, all active grants
}

// GrantsRevoked answers [RevokeGrants]: all of them, or none and a reason.
type GrantsRevoked struct {
	ChatKey ChatKey
	Numbers []int
	// Reason says why nothing was revoked: not_found, forbidden.
	Reason string
	Err    string // nothing was revoked; try again later
}

// GrantsChanged gives a run the grants that remain after some were revoked. No call starts under a
// grant that is missing from it.
type GrantsChanged struct {
	RunID  string
	Grants []Grant
}

func (RevokeGrants) toChat() {}
func (GrantsChanged) toRun() {}

func (m RevokeGrants) key() ChatKey { return m.ChatKey }
