package machine

import (
	"context"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Queue modes: what a turn does that arrives during a run.
const (
	ModeMerge     = "merge"     // visible from the next step on
	ModeFollowup  = "followup"  // the next run takes all that waits
	ModeInterrupt = "interrupt" // stops the run
)

// Defaults of [Options].
const (
	DefaultMaxQueued = 200
	DefaultMaxSends  = 30
)

// Options of chats; one value serves all chats of a host. Its functions change nothing and
// answer at once; they may be called any number of times for one decision.
type Options struct {
	// Adapter finds the adapter of a platform by the first word of a chat key.
	Adapter func(platform string) (Adapter, bool)
	// Documents are the texts that the system prompt of a chat is made of.
	Documents func(key messages.ChatKey) Documents
	// Tools are the names offered to a chat whose answers go out by tool or directly.
	Tools func(key messages.ChatKey, toolEgress bool) []string

	// ToolName is the name that the model knows a tool by; nil: its own.
	ToolName func(name string) string

	Mode      string // empty: [ModeMerge]
	MaxQueued int    // turns in the lane; 0: [DefaultMaxQueued]
	// FairToSenders: when the lane is full, whoever has most turns waiting loses one;
	// otherwise whoever comes last does.
	FairToSenders bool
	// Debounce is how long an idle chat waits for more messages; 0: not at all.
	Debounce time.Duration
	// Compacts: a child compacts the history; otherwise histories only grow.
	Compacts bool
	// MaxTokens of system text and history are what a chat is compacted above, and
	// KeepLast the turns that stay.
	MaxTokens, KeepLast int
	// NoArchive: what a compaction folds is not kept.
	NoArchive bool
	// Remembers: a child takes facts from the chat every MemoryTurns turns.
	Remembers   bool
	MemoryTurns int
	// MemoryGroups says what chats of several people have of this.
	MemoryGroups MemoryGroups
	MaxSends     int // chat_send calls a run; 0: [DefaultMaxSends]
	// MayDecide says who may decide requests for approval. Nil: in a chat of one person
	// that person, in groups the Approvers, as <platform>-<userId>.
	MayDecide func(approval.Claim) bool
	Approvers []string
	// AdminsUnknown reports that the administrators of a group might decide, if only its
	// platform said who they are; nil: they never do.
	AdminsUnknown func(key messages.ChatKey) bool
	// Deciders are those who may decide about what somebody's turn led to, with their
	// private chats; nil: only people of the chat itself are asked.
	Deciders func(approval.Claim) []approval.Decider
	// TaskPlace describes the task that runs in a chat. Without it, only the id of the task is known.
	TaskPlace func(messages.ChatKey) TaskPlace
	// Gathers: the requests of all other chats can be shown in a person's private chat.
	Gathers bool
	// Refers: requests can be shown in other chats.
	Refers bool
	// Grants reads what people allow for a time; nil: they cannot.
	Grants Grants
	// Uptime is a clock that nobody can set, and the running system it belongs to; nil: there is none.
	Uptime func() (boot string, up time.Duration)
	// RepeatSends lets the same text go out twice in a run.
	RepeatSends bool

	Project  string // its name or folder, for the system prompt
	Model    string // label of the model, for the metadata of answers
	Demo     bool   // answers are labelled as the demo model's
	Location *time.Location

	// Audits and RecordsRuns: somebody takes the lines of the audit log, and what is kept of
	// runs.
	Audits, RecordsRuns bool
	// Contexts: people may leave the working context and load an archived one.
	Contexts bool
	// Language is what people chose for a chat, [LanguageEnglish] or [LanguageChinese];
	// empty or nil: they are answered in the language they write in.
	Language func(key messages.ChatKey) string
	// Fetches: the files of turns are fetched before the model sees them.
	Fetches bool
	// GroupContext is how many ignored messages of a group are quoted with the turn that
	// addresses the bot; nil: none are, and none are kept.
	GroupContext func(key messages.ChatKey) int
	// Files reads the pages of long answers; nil: they are sent whole.
	Files Files
	// Whole reads what a result points to as kept elsewhere, or only says how long it is
	// when that is more than [MaxOutput]; nil: nothing is kept.
	Whole func(key messages.ChatKey, pointer string) (text string, size int64, err error)
	// Mask takes secrets out of what people are sent; nil: nothing is taken out.
	Mask func(text string) string
	// Forgets: all that is kept of the chat can be deleted.
	Forgets bool
	// MayForget says whether who gave an order may delete the chat; nil: nobody may.
	MayForget func(Command) bool
	// Obeys: the host knows commands beside those of the chat itself.
	Obeys bool
}

// Grants reads the timed grants of a chat.
type Grants interface {
	Grants(ctx context.Context, key messages.ChatKey) ([]persistence.Grant, error)
}

// Files reads files beside a chat. FilePath is where the host's own code finds one.
type Files interface {
	ReadFile(ctx context.Context, key messages.ChatKey, name string) ([]byte, error)
	FilePath(key messages.ChatKey, name string) (string, error)
}

// Adapter is what a chat knows of the platform it lives on.
type Adapter struct {
	Ref        Ref
	Outbox     bool
	ToolEgress bool
	Drafts     bool
	Typing     bool
	Reactions  bool // people's messages are marked with what became of them
	// MaxText is what a message of the platform holds, in UTF-16 units, and Parts how
	// many of them a text takes. With both, long texts are paged.
	MaxText int
	Parts   func(text string) int
	// Documents: files go to people as such, for example what is too long for messages.
	Documents bool
}

// Documents are texts as they are now. They never change; newer ones come as a
// new value with another revision.
type Documents struct {
	Revision                  string
	Primary, Other            string // the profile
	ChatMemory, ProjectMemory string
	UserMemory                func(userKey string) string // may be nil
	Agent                     string                      // Agent.md
	// Skills can be loaded, in the order of their names. Skill is the text of one at a
	// digest; false: it has another by now, or is gone. Both may be nil.
	Skills []messages.Skill
	Skill  func(pin messages.SkillPin) (messages.SkillText, bool)
}

// Command is a person's order to the host, with what an answer may need.
type Command struct {
	ChatKey messages.ChatKey
	Name    string
	Args    string
	Turns   int
	Running bool
	Waiting int // turns that no model has seen yet
	Counts  journal.Counts
	// Tokens is what the working context takes of the model's window, as far as it is known.
	Tokens int
	// By gave the order; Admin: the platform says that it administers the chat.
	By       messages.Asker
	Admin    bool
	ChatType string // private, group, …
	// Language is what people chose for the chat; empty: nothing. Chinese: they write so.
	Language string
	Chinese  bool
	// Why is set for the command why: the message that it answers, else the last one
	// here that was ignored, declined or merged; nil: there is none.
	Why *journal.LedgerEntry
	// Compaction is set for the command compact.
	Compaction Compaction
	// Contexts is set for the commands new, contexts and load.
	Contexts ContextsAnswer
	// Offer puts buttons below the answer, where people have any.
	Offer func(asks ...messages.Ask)
}

// Compaction says what became of a person's order to compact a chat.
type Compaction string

// What became of it.
const (
	CompactionUnderWay Compaction = "under way"
	CompactionNothing  Compaction = "nothing" // there is nothing to fold
	CompactionOff      Compaction = "off"
)

// AuditEntry is one line of the audit log: what happened, never what was said.
type AuditEntry struct {
	TS        time.Time
	Event     string // ingress, run, step, tool, approval, egress, stop
	ChatKey   messages.ChatKey
	RequestID string
	RunID     string
	Name      string
	Result    string
	Reason    string
	Step      int
	By        string // who decided, as <platform>-<userId>
	Digest    string // of the tool, the exact input and what the answer is bound to
	Call      string // id of the tool call
	Rule      string // what let a call run: a person's answer, a grant, a rule of the operator's
}

// WithDefaults sets what was left out.
func (o Options) WithDefaults() Options {
	if o.Mode == "" {
		o.Mode = ModeMerge
	}
	if o.MaxQueued <= 0 {
		o.MaxQueued = DefaultMaxQueued
	}
	if o.MaxSends <= 0 {
		o.MaxSends = DefaultMaxSends
	}
	if o.Location == nil {
		o.Location = time.Local
	}
	return o
}
