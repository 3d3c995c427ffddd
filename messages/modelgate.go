package messages

// ToModelGate is everything that reaches the model gate.
//
//sumtype:decl
type ToModelGate interface{ toModelGate() }

// AcquireSlot asks for admission of one model call. Sent by a run; answered
// with [SlotGranted] in fair order over chats.
type AcquireSlot struct {
	ChatKey ChatKey
	RunID   string
}

// ReleaseSlot gives the sender's slot back, or withdraws its question. Slots of
// runs that end without it come back when the run's actor ends.
type ReleaseSlot struct{ RunID string }

func (AcquireSlot) toModelGate() {}
func (ReleaseSlot) toModelGate() {}
