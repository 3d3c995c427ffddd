package messages

// ToMemory is everything that reaches a memory extraction from its chat and the
// model gate.
//
//sumtype:decl
type ToMemory interface{ toMemory() }

// ExtractMemory extracts facts from the turns of a chat that no extraction has seen.
// Sent once by the chat to its child, and always answered with one [MemoryExtracted]
// within the child's deadline.
type ExtractMemory struct {
	ChatKey      ChatKey
	ExtractionID string
	RequestID    string
	Turns        []CompactTurn
	// Compacts is set for turns that a compaction is about to replace, of which even a few are enough.
	Compacts bool
	// Guidance is what Agent.md says about what to remember.
	Guidance string
	// Group is set if several people write in the chat. A fact is then only a statement of
	// one of them.
	Group bool
}

// The results of an extraction, in addition to [ResultFailed].
const (
	ResultRemembered = "remembered" // the turns were read; there may be no fact in them
	ResultFew        = "few"        // there are too few new turns
)

// MemoryExtracted answers [ExtractMemory]. The facts are in the memory already. If the chat
// does not wait for this extraction, nothing changes.
type MemoryExtracted struct {
	ChatKey      ChatKey
	ExtractionID string
	Result       string
	Facts        int    // new facts
	Dropped      int    // facts that the model proposed and the host refused
	Left         int    // turns that no extraction has seen
	Condensed    string // the result of condensing a memory that was too long: [ResultRemembered] or [ResultFailed]
}

func (ExtractMemory) toMemory() {}
func (SlotGranted) toMemory()   {}

func (MemoryExtracted) toChat() {}
