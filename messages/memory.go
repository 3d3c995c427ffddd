package messages

// ToMemory is everything that reaches a memory extraction from its chat and the
// model gate.
//
//sumtype:decl
type ToMemory interface{ toMemory() }

// ExtractMemory takes facts from the turns of a chat that no extraction has seen.
// Sent once by the chat to its child; answered with one [MemoryExtracted],
// whatever happens, within the child's deadline.
type ExtractMemory struct {
	ChatKey      ChatKey
	ExtractionID string
	RequestID    string
	Turns        []FoldTurn
	// Folds: a compaction is about to fold turns, so few are worth it, too.
	Folds bool
	// Guidance is what Agent.md says about what is worth keeping.
	Guidance string
	// Group: several people write in the chat. What is taken is then no more than what
	// one of them said.
	Group bool
}

// The results of an extraction, beside [ResultFailed].
const (
	ResultRemembered = "remembered" // the turns were read; there may be no fact in them
	ResultFew        = "few"        // too few turns are new
)

// MemoryExtracted answers [ExtractMemory]. What it found is in the memory already.
// One of another extraction than the chat waits for changes nothing.
type MemoryExtracted struct {
	ChatKey      ChatKey
	ExtractionID string
	Result       string
	Facts        int    // that are new
	Dropped      int    // that the model offered and the host refused
	Left         int    // turns that no extraction has seen
	Condensed    string // empty: it was not too long; else how that went: [ResultRemembered] or [ResultFailed]
	Err          string // for the log
}

func (ExtractMemory) toMemory() {}
func (SlotGranted) toMemory()   {}

func (MemoryExtracted) toChat() {}
