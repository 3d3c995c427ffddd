package uimessage

import "slices"

// AnsweredMember is the member of a turn's metadata with the message that the turn
// answers, as a [Quoted].
const AnsweredMember = "answers"

// ForwardedMember is the member of a turn's metadata, true, that says that somebody else wrote its words.
const ForwardedMember = "forwarded"

// Forwarded reports whether somebody else than the sender wrote the words of the turn.
func (m Metadata) Forwarded() bool {
	return slices.ContainsFunc(m.Extra, func(e Member) bool { return e.Name == ForwardedMember })
}
