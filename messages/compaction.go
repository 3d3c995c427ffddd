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
	CauseThreshold Cause = "threshold" // it is larger than it should be
	CauseCommand   Cause = "command"   // a person asked for it
	CauseOverflow  Cause = "overflow"  // the model takes no request that long
)

// Compact makes a compaction of a chat as it is now. Sent once by the chat to its
// child; answered with one [CompactionFinished], whatever happens, within the
// child's deadline.
type Compact struct {
	ChatKey      ChatKey
	CompactionID string
	RequestID    string
	Cause        Cause
	System       string // of the chat's requests; it counts, and nothing else
	SystemTokens int    // known from an earlier compaction; 0: they are not
	Turns        []FoldTurn
	// Memory is what Agent.md says about what is worth keeping.
	Memory string
	// Reported is how many tokens the model said that system text and the first
	// Covers turns are; 0: unknown.
	Reported int64
	Covers   int
	// Extract makes the summary without the model.
	Extract bool
	// Whole: nothing is archived, so that no outputs of tools may be left out.
	Whole bool
}

// FoldTurn is a turn of a [Compact].
type FoldTurn struct {
	Message uimessage.Message
	// Ends: no user turn up to this one is open; the history may be cut behind it.
	Ends bool
	// Held: a call in it waits for a person; it has to stay.
	Held bool
	// Summary: it stands for turns that were folded before, as many as Count.
	Summary bool
	Range   uimessage.SourceRange
	// Tokens are known from an earlier compaction; 0: they are not.
	Tokens int
}

// The results of a compaction.
const (
	ResultFolded    = "folded"    // there is a summary
	ResultExtracted = "extracted" // there is one that the model did not write
	ResultEnough    = "enough"    // the chat is not too long when it is counted exactly
	ResultNothing   = "nothing"   // nothing that may be folded is worth it
	ResultAged      = "aged"      // likewise, but there are outputs to leave out
	ResultLonger    = "longer"    // the summary saves too little
	ResultFailed    = "failed"    // the model gave none
)

// CompactionFinished answers [Compact]. The chat puts the summary in the place of
// its first To turns if those are still the ones with this hash. One that comes
// again, or of another compaction than the chat waits for, changes nothing.
type CompactionFinished struct {
	ChatKey       ChatKey
	CompactionID  string
	Result        string
	To            int
	Hash          string // of the turns, see [PrefixHash]
	Summary       string
	SummaryTokens int
	Range         uimessage.SourceRange
	// Aged are turns that stay and are too large: their large outputs of tools are to be
	// left out.
	Aged []AgedTurn
	// Before and After are the tokens of the messages without and with the summary.
	Before, After int
	// System and Tokens are what system text and turns were counted as.
	System int
	Tokens []int
	Err    string // for the log
}

// AgedTurn is a turn whose large outputs are to be left out, and what it counts then.
type AgedTurn struct {
	ID     string
	Tokens int
}

// ShortenInput asks the chat to fold its history, since the model takes no
// request of this length. Sent by a run at most once; answered with [InputShortened].
type ShortenInput struct {
	RunID string
	Step  int
}

// InputShortened answers [ShortenInput]. Without Shorter the input stays what it
// was.
type InputShortened struct {
	RunID   string
	Shorter bool
	Input   StepInput
}

// PrefixHash names a list of turns by all that they hold.
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
