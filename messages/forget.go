package messages

// ForgetChat has a chat delete all that is kept of it, for good. What it has taken and
// answered before stays known by its ids, so that nothing that comes again brings it back.
// Sent by the host, in the name of an operator or of a person who may; answered with
// [ChatForgotten]. It may come again.
type ForgetChat struct {
	ChatKey ChatKey
	By      string // who wants it, for the log
}

// ChatForgotten answers [ForgetChat].
type ChatForgotten struct {
	ChatKey ChatKey
	// Err says that something is left; the next start of the host finishes it.
	Err string
}

func (ForgetChat) toChat() {}

// Key implements Addressed.
func (m ForgetChat) Key() ChatKey { return m.ChatKey }
