package messages

// Stray reports that an actor received a message that it does not know, which is a mistake
// of the sender. It is published to the actor system's event stream for the host to count;
// it names kinds and never contents.
type Stray struct {
	Actor string // the actor's id
	Kind  string // of the message
}
