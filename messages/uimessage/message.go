// Package uimessage is the one record of a conversation: the UIMessage of the AI
// SDK 6.0.326, as it is stored, streamed and converted, with a JSON codec that
// loses nothing.
//
// A message is a value. A part, a raw value or a slice must not be changed after
// the message was passed on; a changed message is a new one. Under that rule
// everything here is safe for concurrent use.
//
// The codec keeps what it does not know: unknown members of messages and parts
// and parts of unknown types are written back. Output is byte-stable: decoding
// what AppendJSON wrote and appending it again gives the same bytes, in one line,
// with the metadata as the last member.
package uimessage

import (
	"encoding/json"

	"github.com/shipmyagent/shipmyagent/messages/internal/rawjson"
)

// Role says who speaks.
type Role string

// The roles of a UI message. A history holds user and assistant only.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Message is one turn. Raw values are nil when absent; null is the value null.
//
//codec:object
type Message struct {
	ID   string `codec:"id"`
	Role Role   `codec:"role"`
	// Extra holds the members this package does not know, in their order.
	Extra []Member
	// Parts is nil only if the message has no parts, or null.
	Parts []Part `codec:"parts,func"`
	// Metadata is any JSON value; DecodeMetadata reads that of our own turns.
	Metadata json.RawMessage `codec:"metadata"`
}

// Member is a member of a JSON object that is kept as it is: Name and Value.
type Member = rawjson.Member

// Optional is a value that may be absent: Value and Set, with Get and Or.
type Optional[T any] = rawjson.Optional[T]

// Some is a value that is present.
func Some[T any](v T) Optional[T] { return Optional[T]{Value: v, Set: true} }
