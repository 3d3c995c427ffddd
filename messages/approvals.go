package messages

// RevokeGrants takes grants of a chat back, by their numbers. Sent by the host on
// behalf of somebody who may decide in the chat; answered with [GrantsRevoked] once
// that is durable. What was taken back before counts as taken back.
type RevokeGrants struct {
	ChatKey   ChatKey
	RequestID string
	By        Asker
	Numbers   []int // none: all that count
}

// GrantsRevoked answers [RevokeGrants]: all of them, or none and a reason.
type GrantsRevoked struct {
	ChatKey ChatKey
	Numbers []int
	// Reason says why nothing was taken back: not_found, forbidden.
	Reason string
	Err    string // nothing was taken back; try again later
}

// GrantsChanged tells a run what people allow from now on, because they took
// something back. No call begins any more under a grant that is missing.
type GrantsChanged struct {
	RunID  string
	Grants []Grant
}

func (RevokeGrants) toChat() {}
func (GrantsChanged) toRun() {}

// Key is the chat's.
func (m RevokeGrants) Key() ChatKey { return m.ChatKey }
