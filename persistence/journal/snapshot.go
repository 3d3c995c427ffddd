package journal

import (
	"encoding/json"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// Snapshot is a chat as it was read.
type Snapshot struct {
	History []uimessage.Message // superseding lines applied, checksums stripped
	Journal []Record
	Meta    Meta
	// LedgerN is the number of the last record whose entry is in the ledger.
	LedgerN int64
	Damage  []Damage
}

// Damage is one place that could not be read.
type Damage struct {
	File   string `json:"file"` // below the chat's folder
	Offset int64  `json:"offset"`
	Bytes  int64  `json:"bytes"`
	Why    string `json:"why"`
}

// MetaVersion is the version of the meta that this program writes. [Replay]
// refuses a chat with a higher one.
const MetaVersion = 1

// Meta is a cache beside the history. All of it can be rebuilt, but for the
// members that say otherwise.
type Meta struct {
	Version int `json:"v"`
	// IngressIDs are the last ones handled, oldest first, at least 2,000 if there
	// were so many. Not rebuildable; may name ids that were never handled here
	// before a crash, never misses one.
	IngressIDs []string `json:"ingressIds,omitempty"`
	// Pinned are the skills a chat has loaded, as [messages.SkillPin] writes them. Not
	// rebuildable.
	Pinned []string `json:"pinned,omitempty"`
	// Cursor is the archive that the history's summary names. Not rebuildable.
	Cursor string `json:"cursor,omitempty"`
	// Tries are the compactions of late that changed nothing, in Unix milliseconds. Not
	// rebuildable.
	Tries []int64 `json:"compactionTries,omitempty"`
	// Shown and Read are those of the state. Not rebuildable: requests count as not
	// shown without them.
	Shown []Showing `json:"shown,omitempty"`
	Read  Reading   `json:"read,omitzero"`
	// Referrals, Referred and Buttons are those of the state. Not rebuildable: people of
	// other chats are then asked anew, and buttons say what became of them when pressed.
	Referrals []Referral        `json:"referrals,omitempty"`
	Referred  []ReferredRequest `json:"guests,omitempty"`
	Buttons   []ButtonRow       `json:"buttons,omitempty"`
	// Tokens are what the turns were counted as.
	Tokens TokenCounts `json:"turnTokens,omitzero"`
	// N and Seq are the highest record and turn numbers ever given.
	N   int64 `json:"n,omitempty"`
	Seq int64 `json:"seq,omitempty"`
	// Depth and DepthAt are those of the state. Not rebuildable.
	Depth   int64 `json:"depth,omitempty"`
	DepthAt int64 `json:"depthAt,omitempty"`
	// Requests is the highest number that a request for approval ever had. It is rebuilt
	// from the history and the archives.
	Requests int `json:"requests,omitempty"`
	// Counts sum up the ledger as far as N.
	Counts Counts `json:"counts"`
}

// Counts are how the ingresses of a chat ended. Accepted is the sum of the
// fates and of what is still open.
type Counts struct {
	Accepted int64            `json:"accepted"`
	Fates    map[Fate]int64   `json:"fates,omitempty"`
	Egress   map[string]int64 `json:"egress,omitempty"`
}

// Fold is what moves out of the journal.
type Fold struct {
	History []uimessage.Message
	Ledger  []LedgerEntry
	Meta    Meta
	Rest    []Record // what stays in the journal, normally nothing
}

// LedgerEntry is one line of the platform's ledger: an ingress with its fate
// or a delivered egress with its receipt. It is never model input.
type LedgerEntry struct {
	N  int64 `json:"n"`  // of the record that settled it
	TS int64 `json:"ts"` // when it was settled, unix milliseconds
	// Arrived is when the message came in, or when the answer was queued, unix
	// milliseconds. Lines of older versions have none.
	Arrived   int64    `json:"arrived,omitempty"`
	Dir       string   `json:"dir"` // in, out
	MessageID string   `json:"messageId,omitempty"`
	TurnID    string   `json:"turnId,omitempty"`
	UserID    string   `json:"userId,omitempty"`
	Username  string   `json:"username,omitempty"`
	Text      string   `json:"text,omitempty"`
	Fate      Fate     `json:"fate,omitempty"`
	Reason    string   `json:"reason,omitempty"`
	RequestID string   `json:"requestId,omitempty"`
	RunID     string   `json:"runId,omitempty"`
	Step      int      `json:"step,omitempty"`
	Receipt   []string `json:"receipt,omitempty"` // the platform's ids of the parts
	Maybe     bool     `json:"maybe,omitempty"`   // may have been delivered twice
}

// Rewrite replaces the history.
type Rewrite struct {
	// ArchiveID names the archive; empty: none is written.
	ArchiveID string
	At        time.Time
	// From and To are the first and last archived place, half open, in the
	// history as loaded and appended to since.
	From, To int
	// Insert stands in their place.
	Insert []uimessage.Message
	// Context is archived before the history is replaced; nil: none is. One of its
	// id that is there already must be the same.
	Context *Context
	// Meta is written after the history.
	Meta Meta
}

// Archive holds the exact lines that a rewrite took out.
type Archive struct {
	Version     int              `json:"v"`
	ChatKey     messages.ChatKey `json:"chatKey"`
	ArchivedAt  int64            `json:"archivedAt"`
	SourceRange json.RawMessage  `json:"sourceRange"`
	Lines       []string         `json:"lines"`
}
