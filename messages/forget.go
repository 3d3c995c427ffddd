package messages

// ForgetChat makes a chat delete everything stored about it, permanently. The ids of what it
// accepted and answered stay known, so that repeated messages do not bring it back. Sent by the
// host, in the name of an operator or of a person who may; answered with [ChatForgotten]. It may be
// repeated.
type ForgetChat struct {
	ChatKey ChatKey
	By      string // who asked for it, for the log
}

// ChatForgotten answers [ForgetChat].
type ChatForgotten struct {
	ChatKey ChatKey
	// Err says that something was not deleted; the next start of the host deletes it.
	Err string
}

func (ForgetChat) toChat() {}

func (m ForgetChat) key() ChatKey { return m.ChatKey }
