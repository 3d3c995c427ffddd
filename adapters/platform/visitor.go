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
}

// Arrival is somebody whom the owner has just let in. It is kept until they were told and
// the message that waited was handed over.
type Arrival struct {
	Code  string          `json:"code"`
	Who   Visitor         `json:"who"`
	Once  bool            `json:"once,omitempty"`
	First json.RawMessage `json:"first,omitempty"`
}

// Guests are the owner of a bot, who wants to be let in, and who has just been.
type Guests struct {
	Owner    *Visitor
	Codes    []PairingCode
	Arrivals []Arrival
}

// Choice is what the owner decides about a request to be let in.
type Choice = string

// The choices.
const (
	LetIn   Choice = "in"
	LetOnce Choice = "once" // the message that waits is answered, and the next one asks again
	Block   Choice = "block"
)
