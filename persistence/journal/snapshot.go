package journal

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// Snapshot is the stored data of a chat.
type Snapshot struct {
	History []uimessage.Message // superseding lines applied, checksums stripped
	Journal []Record
	Meta    Meta
	// LedgerN is the number of the last record whose entry is in the ledger.
	LedgerN int64
	Damage  []Damage
}

// Damage is a part of the data that could not be read.
type Damage struct {
	File   string `json:"file"` // below the chat's folder
	Offset int64  `json:"offset"`
	Bytes  int64  `json:"bytes"`
	Why    string `json:"why"`
}

// MetaVersion is the version of the meta that this program writes. [Replay] refuses a higher version.
const MetaVersion = 1

// Meta is a cache that is stored with the history. It can be rebuilt, except for the members marked as not
// rebuildable.
type Meta struct {
	Version int `json:"v"`
	// IngressIDs are the most recently handled ids, oldest first, at least 2,000 if there were so many. Not
	// rebuildable. After a crash they may contain ids that were never handled here, but none is missing.
	IngressIDs []string `json:"ingressIds,omitempty"`
	// Pinned are the loaded skills, in the format of [messages.SkillPin]. Not rebuildable.
	Pinned []string `json:"pinned,omitempty"`
	// Cursor is the archive that the history's summary names. Not rebuildable.
	Cursor string `json:"cursor,omitempty"`
	// Model and Effort are the fields of the state. Not rebuildable; without them, the main model answers, and thinks
	// as its settings say.
	Model  string `json:"model,omitempty"`
	Effort string `json:"effort,omitempty"`
	// Tries are the recent compactions that changed nothing, in Unix milliseconds. Not rebuildable.
	Tries []int64 `json:"compactionTries,omitempty"`
	// Shown and Read are the fields of the state. Not rebuildable; without them, requests count as not shown.
	Shown []Showing `json:"shown,omitempty"`
	Read  Reading   `json:"read,omitzero"`
	// Referrals, Referred and Buttons are the fields of the state. Not rebuildable; without them, people of other
	// chats are asked again, and buttons show the outcome only when they are pressed.
	Referrals []Referral        `json:"referrals,omitempty"`
	Referred  []ReferredRequest `json:"guests,omitempty"`
	Buttons   []ButtonRow       `json:"buttons,omitempty"`
	// Tokens are the token counts of turns.
	Tokens TokenCounts `json:"turnTokens,omitzero"`
	// N and Seq are the highest record number and arrival number ever used.
	N   int64 `json:"n,omitempty"`
	Seq int64 `json:"seq,omitempty"`
	// Depth and DepthAt are the fields of the state. Not rebuildable.
	Depth   int64 `json:"depth,omitempty"`
	DepthAt int64 `json:"depthAt,omitempty"`
	// Requests is the highest number that a request ever had. It is rebuilt from the history and the archives.
	Requests int `json:"requests,omitempty"`
	// Counts sum up the ledger up to record N.
	Counts Counts `json:"counts"`
}

// Counts say how the ingresses of a chat ended. Accepted is the number of ingresses with a fate and of those still
// open.
type Counts struct {
	Accepted int64            `json:"accepted"`
	Fates    map[Fate]int64   `json:"fates,omitempty"`
	Egress   map[string]int64 `json:"egress,omitempty"`
}

// Checkpoint is a checkpoint: what moves out of the journal.
type Checkpoint struct {
	History []uimessage.Message
	Ledger  []LedgerEntry
	Meta    Meta
	Rest    []Record // what stays in the journal, usually nothing
}

// LedgerEntry is a line of the ledger: an ingress with its fate, or a delivered egress with its receipt. The model
// never reads it.
type LedgerEntry struct {
	N  int64 `json:"n"`  // number of the record that settled it
	TS int64 `json:"ts"` // when it was settled, unix milliseconds
	// Arrived is when the message arrived or the answer was queued, in Unix milliseconds. Lines of older versions lack
	// it.
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

// ErrDamaged means that the history is damaged and must be repaired before it can be rewritten.
var ErrDamaged = errors.New("history is damaged")

// Rewrite replaces a part of the history.
type Rewrite struct {
	// ArchiveID is the id of the archive; if empty, no archive is written.
	ArchiveID string
	At        time.Time
	// From (inclusive) and To (exclusive) delimit the turns to archive, in the history as loaded and appended to
	// since.
	From, To int
	// Insert replaces them.
	Insert []uimessage.Message
	// Context, if not nil, is archived before the history is replaced. A context with the same id that already exists
	// must be identical.
	Context *Context
	// Meta is written after the history.
	Meta Meta
}

// Archive contains the exact lines that a rewrite removed.
type Archive struct {
	Version     int              `json:"v"`
	ChatKey     messages.ChatKey `json:"chatKey"`
	ArchivedAt  int64            `json:"archivedAt"`
	SourceRange json.RawMessage  `json:"sourceRange"`
	Lines       []string         `json:"lines"`
}
