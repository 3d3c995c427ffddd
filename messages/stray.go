package messages

// Stray tells that an actor got a message that it does not know, a mistake of
// whoever sent it. It is published to the actor system's event stream, for the host
// to count; it names kinds and never contents.
type Stray struct {
	Actor string // the actor's id
	Kind  string // of the message
}
