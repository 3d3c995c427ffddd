package uimessage

// QuotedMember is the member of a turn's metadata with the messages that are quoted with it.
const QuotedMember = "groupContext"

// Quoted is a message that is not a turn of ours, as a later turn quotes it.
type Quoted struct {
	TS        int64  `json:"ts"`
	From      string `json:"from,omitempty"`
	User      string `json:"user,omitempty"`
	MessageID string `json:"messageId,omitempty"`
	Text      string `json:"text"`
}
