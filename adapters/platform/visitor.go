package platform

import (
	"encoding/json"
	"time"
)

// Visitor is somebody who has access, or has requested it.
type Visitor struct {
	ID   string    `json:"id"`
	Name string    `json:"name,omitempty"`
	At   time.Time `json:"at,omitzero"`
	// Language is that of the person's client, if the platform reports it.
	Language string `json:"language,omitempty"`
	// Chat is the person's private chat with the bot, if it has an id of its own.
	Chat string `json:"chat,omitempty"`
	// Group: the visitor is a group to which somebody has added the bot.
	Group bool `json:"group,omitempty"`
}

// PairingCode is an open pairing code.
type PairingCode struct {
	Code    string    `json:"code"`
	Expires time.Time `json:"expires"`
	// For is who requested access; nil means that the code makes its bearer the owner.
	For *Visitor `json:"for,omitempty"`
	// First is the message waiting for the owner's decision, in the platform's encoding.
	First json.RawMessage `json:"first,omitempty"`
	// Shown is when the owner was asked; zero means not yet.
	Shown time.Time `json:"shown,omitzero"`
	// Adder is who added the bot to the requesting group, if known.
	Adder *Visitor `json:"adder,omitempty"`
	// Message is the platform's id of the message that asks the owner. It is empty while no such
	// message is known to have been sent.
	Message string `json:"message,omitempty"`
}

// AccessRequest is an access request of a person or a group.
type AccessRequest struct {
	Who   Person
	Group bool
	Chat  string  // the private chat, if it has an id of its own
	Adder *Person // who added the bot to the group, if known
	// First is the message that waits for the decision.
	First json.RawMessage
	// At is when the request arose, by the platform's clock, or zero if unknown.
	At time.Time
}

// Ended is a request that ended without a press on a button below the owner's question.
type Ended struct {
	PairingCode

	Outcome Choice    `json:"outcome"`
	At      time.Time `json:"ended,omitzero"`
	// Left is when the bot left the group, by the platform's clock.
	Left time.Time `json:"left,omitzero"`
	// Seen: the owner's message shows the outcome in place of the buttons, or never will.
	Seen bool `json:"seen,omitempty"`
}

// Arrival is somebody whom the owner has just given access. It is kept until they were notified and
// the waiting message was handed over.
type Arrival struct {
	Code  string          `json:"code"`
	Who   Visitor         `json:"who"`
	Once  bool            `json:"once,omitempty"`
	First json.RawMessage `json:"first,omitempty"`
}

// AccessState is the owner of a bot, the pending requests, the people who were just given access, and
// the questions to the owner that ended without a press.
type AccessState struct {
	Owner    *Visitor
	Codes    []PairingCode
	Arrivals []Arrival
	Ended    []Ended
}

// Choice is what the owner decides about an access request.
type Choice = string

// The choices.
const (
	LetIn   Choice = "in"
	LetOnce Choice = "once" // the waiting message is answered, and the next one requires a new decision
	Block   Choice = "block"
	// Withdrawn is not a person's choice: the bot has left the group that requested access.
	Withdrawn Choice = "withdrawn"
)
