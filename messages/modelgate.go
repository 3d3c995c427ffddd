package messages

// ToModelGate is everything that reaches the model gate.
//
//sumtype:decl
type ToModelGate interface{ toModelGate() }

// AcquireSlot asks for admission of one model call. Sent by a run; answered
// with [SlotGranted] in fair order over chats.
type AcquireSlot struct{ ChatKey ChatKey }

// ReleaseSlot returns the sender's slot, or withdraws its request. The slot of a run that
// ends without it is returned when the run's actor ends.
type ReleaseSlot struct{}

func (AcquireSlot) toModelGate() {}
func (ReleaseSlot) toModelGate() {}
