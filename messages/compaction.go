package messages

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// ToCompaction is everything that reaches a compaction from its chat and the model
// gate.
//
//sumtype:decl
type ToCompaction interface{ toCompaction() }

// Cause says why a chat is compacted.
type Cause string

// The causes.
const (
	CauseThreshold Cause = "threshold" // it is larger than the threshold
	CauseCommand   Cause = "command"   // a person asked for it
	CauseOverflow  Cause = "overflow"  // the model refuses a request of this length
)

// Compact makes a compaction of the current state of a chat. Sent once by the chat to its
// child, and always answered with one [CompactionFinished] within the child's deadline.
type Compact struct {
	ChatKey      ChatKey
	CompactionID string
	RequestID    string
	Cause        Cause
	System       string // of the chat's requests; only its length matters
	SystemTokens int    // known from an earlier compaction, or 0
	Turns        []CompactTurn
	// Memory is what Agent.md says about what to remember.
	Memory string
	// Reported is the number of tokens that the model reported for the system text and the
	// first Covers turns, or 0 if it is unknown.
	Reported int64
	Covers   int
	// Extract makes the summary without the model.
	Extract bool
	// Whole is set if nothing is archived, so that outputs of tools must not be left out.
	Whole bool
}

// CompactTurn is a turn of a [Compact].
type CompactTurn struct {
	Message uimessage.Message
	// Ends is set if no user turn up to this one is open: the history may be cut after it.
	Ends bool
	// Waits is set if a call in it waits for a person, so that it has to stay.
	Waits bool
	// Summary is set if it replaces turns that were compacted before, which Range names.
	Summary bool
	Range   uimessage.SourceRange
	// Tokens are known from an earlier compaction, or 0.
	Tokens int
}

// The results of a compaction.
const (
	ResultCompacted = "compacted" // there is a summary
	ResultExtracted = "extracted" // there is a summary that the model did not write
	ResultEnough    = "enough"    // an exact count shows that the chat is not too long
	ResultNothing   = "nothing"   // compacting what may be compacted saves too little
	ResultAged      = "aged"      // like nothing, but there are outputs to leave out
	ResultLonger    = "longer"    // the summary saves too little
	ResultFailed    = "failed"    // the model wrote no summary
)

// CompactionFinished answers [Compact]. The chat replaces its first To turns with the
// summary if they still have this hash. A duplicate, or the answer of a compaction that the
// chat does not wait for, changes nothing.
type CompactionFinished struct {
	ChatKey       ChatKey
	CompactionID  string
	Result        string
	To            int
	Hash          string // of the turns, see [PrefixHash]
	Summary       string
	SummaryTokens int
	Range         uimessage.SourceRange
	// Aged are turns that stay but are too large: the large outputs of their tools are to be
	// left out.
	Aged []AgedTurn
	// Before and After are the tokens of the messages without and with the summary.
	Before, After int
	// System and Tokens are the counted tokens of the system text and of the turns.
	System int
	Tokens []int
}

// AgedTurn is a turn whose large outputs are to be left out, and its tokens without them.
type AgedTurn struct {
	ID     string
	Tokens int
}

// ShortenInput asks the chat to compact its history, because the model refuses a request of
// this length. Sent by a run at most once; answered with [InputShortened].
type ShortenInput struct {
	RunID string
	Step  int
}

// InputShortened answers [ShortenInput]. Without Shorter the input did not change.
type InputShortened struct {
	RunID   string
	Shorter bool
	Input   StepInput
}

// PrefixHash identifies a list of turns by their whole contents.
func PrefixHash(turns []uimessage.Message) string {
	h := sha256.New()
	var buf []byte
	for _, m := range turns {
		buf = append(uimessage.AppendJSON(buf[:0], m), '\n')
		h.Write(buf) // never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (Compact) toCompaction()     {}
func (SlotGranted) toCompaction() {}

func (CompactionFinished) toChat() {}
func (ShortenInput) toChat()       {}

func (InputShortened) toRun() {}
