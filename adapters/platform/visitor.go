package platform

import (
	"encoding/json"
	"time"
)

// Visitor is somebody who is let in, or asks to be.
type Visitor struct {
	ID   string    `json:"id"`
	Name string    `json:"name,omitempty"`
	At   time.Time `json:"at,omitzero"`
	// Language is that of the person's client, where the platform tells it.
	Language string `json:"language,omitempty"`
	// Chat is the owner's private chat with the bot, where that has an id of its own.
	Chat string `json:"chat,omitempty"`
	// Group: it is no person, but a group that somebody has brought the bot into.
	Group bool `json:"group,omitempty"`
}

// PairingCode is an open pairing code.
type PairingCode struct {
	Code    string    `json:"code"`
	Expires time.Time `json:"expires"`
	// For is who asked for it; nil: it makes its bearer the owner.
	For *Visitor `json:"for,omitempty"`
	// First is the message that waits for the owner's answer, as its platform keeps it.
	First json.RawMessage `json:"first,omitempty"`
	// Shown is when the owner was asked; zero: not yet.
	Shown time.Time `json:"shown,omitzero"`
	// Adder is who added the bot to the group that asks; nil: nobody is known to have.
	Adder *Visitor `json:"adder,omitempty"`
	// Message is the message that asks the owner, by its platform's id; empty: it is not
	// known to be sent.
	Message string `json:"message,omitempty"`
}

// Wish is that of a person or a group to be let in.
type Wish struct {
	Who   Person
	Group bool
	Adder *Person // who added the bot to the group; nil: nobody is known to have
	// First is the message that waits meanwhile.
	First json.RawMessage
	// At is when the wish arose, by the platform's clock; zero: not known.
	At time.Time
}

// Ended is a request that waits no more, although no button below the owner's question
// was pressed.
type Ended struct {
	PairingCode

	Outcome Choice    `json:"outcome"`
	At      time.Time `json:"ended,omitzero"`
	// Left is when the bot left the group, by the platform's clock.
	Left time.Time `json:"left,omitzero"`
	// Seen: the owner reads the outcome in the place of the buttons, or never will.
	Seen bool `json:"seen,omitempty"`
}

// Arrival is somebody whom the owner has just let in. It is kept until they were told and
// the message that waited was handed over.
type Arrival struct {
	Code  string          `json:"code"`
	Who   Visitor         `json:"who"`
	Once  bool            `json:"once,omitempty"`
	First json.RawMessage `json:"first,omitempty"`
}

// Guests are the owner of a bot, who wants to be let in, who has just been, and which
// questions to the owner have ended otherwise.
type Guests struct {
	Owner    *Visitor
	Codes    []PairingCode
	Arrivals []Arrival
	Ended    []Ended
}

// Choice is what the owner decides about a request to be let in.
type Choice = string

// The choices.
const (
	LetIn   Choice = "in"
	LetOnce Choice = "once" // the message that waits is answered, and the next one asks again
	Block   Choice = "block"
	// Withdrawn is nobody's choice: the bot is no longer in the group that asked.
	Withdrawn Choice = "withdrawn"
)
