package decision

import (
	"context"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval/referral"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/permission"
)

// Queue modes: what happens with a turn that arrives during a run.
const (
	ModeMerge     = "merge"     // the run sees it from its next step on
	ModeFollowup  = "followup"  // it waits for the next run
	ModeInterrupt = "interrupt" // it stops the run
)

// Defaults of [Options].
const (
	DefaultMaxQueued = 200
	DefaultMaxSends  = 30
)

// Options of chats; one value serves all chats of a host. Its functions have no side effects and return at once; one
// decision may call them any number of times.
type Options struct {
	// Adapter finds the adapter of a platform by the first word of a chat key.
	Adapter func(platform string) (Adapter, bool)
	// Documents returns the texts of a chat's system prompt.
	Documents func(key messages.ChatKey) Documents
	// Tools returns the names of the tools offered to a chat, which depend on whether its answers go out by tool, and of
	// those that can do nothing there yet.
	Tools func(key messages.ChatKey, toolEgress bool) (offered, later []string)

	// ToolName returns the name by which the model knows a tool. If nil, tools keep their own names.
	ToolName func(name string) string

	Mode      string // default [ModeMerge]
	MaxQueued int    // turns in the lane; default [DefaultMaxQueued]
	// FairToSenders makes the sender with the most queued turns lose one when the lane is full. Otherwise new turns
	// are declined.
	FairToSenders bool
	// Debounce is how long an idle chat waits for more messages; 0 means not at all.
	Debounce time.Duration
	// Compacts enables compaction. Otherwise histories only grow.
	Compacts bool
	// MaxTokens is the size of system text and history above which a chat is compacted. KeepLast is the number of
	// turns that stay.
	MaxTokens, KeepLast int
	// NoArchive discards compacted turns instead of archiving them.
	NoArchive bool
	// Remembers enables memory extraction, every MemoryTurns turns.
	Remembers   bool
	MemoryTurns int
	// MemoryGroups is the mode of extraction in chats of several people.
	MemoryGroups MemoryGroups
	MaxSends     int // chat_send calls in one run; default [DefaultMaxSends]
	// MayDecide reports whether someone may decide requests for approval. If nil, nobody may.
	MayDecide func(approval.Claim) bool
	// AdminsUnknown reports whether a group's administrators might be allowed to decide but the platform has not said
	// who they are. May be nil.
	AdminsUnknown func(key messages.ChatKey) bool
	// Deciders returns those who may decide about requests from someone's turn, with their private chats. If nil, only
	// people of the chat itself are asked.
	Deciders func(approval.Claim) []approval.Decider
	// TaskFacts describes the task that runs in a chat. Without it, only the id of the task is known.
	TaskFacts func(messages.ChatKey) referral.TaskFacts
	// Gathers allows a private chat to show the requests of all other chats.
	Gathers bool
	// Refers allows requests to be shown in other chats.
	Refers bool
	// Grants reads grants. If nil, people cannot grant anything for a time.
	Grants Grants
	// Uptime returns a clock that cannot be set, and an id of the boot that it belongs to. May be nil.
	Uptime func() (boot string, up time.Duration)
	// RepeatSends allows the same text to be sent twice in a run.
	RepeatSends bool

	Project string // its name or folder, for the system prompt
	// Models returns the main model and those that people may choose for a chat in its place, in the order in which
	// they are listed. It may be nil. MayChoose reports whether the sender of a command may; if nil, no sender may.
	Models    func() []ModelChoice
	MayChoose func(Command) bool
	Demo      bool // answers are labelled as the demo model's
	Location  *time.Location

	// Audits and RecordsRuns enable the audit log and the run log.
	Audits, RecordsRuns bool
	// Contexts allows people to leave the working context and to load an archived one.
	Contexts bool
	// Language returns the language people chose for a chat, [LanguageEnglish] or [LanguageChinese]. If it is nil or
	// returns empty, people are answered in the language they write in.
	Language func(key messages.ChatKey) string
	// ExpectsChinese reports whether people are answered in Chinese where nobody has written words yet. If nil, they are not.
	ExpectsChinese func() bool
	// ClientLanguage is the language of the client of the person whose private chat it is, or empty if it is not known. It
	// is used where they have not written words yet, and may be nil.
	ClientLanguage func(messages.ChatKey) string
	// Paused reports whether an operator has paused a chat: what arrives is durable and waits, and a run in progress ends,
	// but no other starts. If it is nil, no chat is paused.
	Paused func(key messages.ChatKey) bool
	// Fetches makes a chat fetch the files of turns before the model sees the turns.
	Fetches bool
	// GroupContext is how many ignored messages of a group are quoted with the turn that addresses the bot. If nil,
	// none are quoted or kept.
	GroupContext func(key messages.ChatKey) int
	// Files stores the pages of long answers. If nil, long answers are not paged.
	Files Files
	// Whole reads the full output that a tool result refers to. If it is longer than [MaxOutput], only its size is
	// returned. If nil, full outputs are not kept.
	Whole func(key messages.ChatKey, pointer string) (text string, size int64, err error)
	// Mask removes secrets from what people are sent. May be nil.
	Mask func(text string) string
	// Forgets allows the deletion of everything that is kept of a chat.
	Forgets bool
	// MayForget reports whether the sender of a command may delete the chat. If nil, no sender may.
	MayForget func(Command) bool
	// Obeys is set if the host has commands in addition to those of the chat.
	Obeys bool
}

// Grants reads the timed grants of a chat.
type Grants interface {
	Grants(ctx context.Context, key messages.ChatKey) ([]permission.Grant, error)
}

// Files reads files that are stored with a chat. FilePath returns the path of a file for the host's own code.
type Files interface {
	ReadFile(ctx context.Context, key messages.ChatKey, name string) ([]byte, error)
	FilePath(key messages.ChatKey, name string) (string, error)
}

// Adapter describes the platform of a chat.
type Adapter struct {
	Ref        Ref
	Outbox     bool
	ToolEgress bool
	Drafts     bool
	Typing     bool
	Reactions  bool // people's messages get a reaction that shows their state
	// PrivateType is the platform's type of a private chat; empty means private.
	PrivateType string
	// MaxText is the maximum length of a platform message in UTF-16 units, and Parts returns how many messages a text
	// needs. If both are set, long texts are paged.
	MaxText int
	Parts   func(text string) int
	// Documents is set if the platform can send files, for example for texts that are too long for messages.
	Documents bool
	// Self returns the name by which people mention the bot in texts, or empty while it is not known. It is nil if the
	// bot has no such name.
	Self func() string
}

// Documents are the current texts of a chat. A value never changes; newer texts are a new value with another revision.
type Documents struct {
	Revision                  string
	Primary, Other            string // the profile
	ChatMemory, ProjectMemory string
	UserMemory                func(userKey string) string // may be nil
	Agent                     string                      // Agent.md
	// Skills are the skills that can be loaded, sorted by name. Skill returns the text of a skill with a given digest,
	// or false if the skill has changed or no longer exists. Both may be nil.
	Skills []messages.Skill
	Skill  func(pin messages.SkillPin) (messages.SkillText, bool)
}

// Command is a person's command to the host, with the data that an answer may need.
type Command struct {
	ChatKey messages.ChatKey
	Name    string
	Args    string
	At      string // see [Base.At]
	Turns   int
	Running bool
	Waiting int // turns that no model has seen yet
	Counts  journal.Counts
	// Tokens is the estimated size of the working context in the model's window.
	Tokens int
	// Usage is what the last answer has cost, if its provider said so. Requests is how many wait for a decision here.
	// Both are set for the command status.
	Usage    uimessage.Usage
	Requests int
	By       messages.Asker // who sent the command
	ChatType string         // private, group, …
	// Language is what people chose for the chat, or empty. Chinese is set if they write in Chinese.
	Language string
	Chinese  bool
	// Why is set for the command why: the message that it replies to, or else the last one here that was ignored,
	// declined or merged. It is nil if no such message is known.
	Why *journal.LedgerEntry
	// Compaction is set for the command compact.
	Compaction Compaction
	// Contexts is set for the commands new, contexts and load.
	Contexts ContextsAnswer
	// Model is the model of the chat, and what the command model did.
	Model ModelAnswer
	// Offer adds buttons to the answer, where the platform has them.
	Offer func(asks ...messages.Ask)
}

// ModelChoice is a model that can answer in a chat.
type ModelChoice struct {
	Name    string   // by which people choose it; [MainModel] for the main model
	Label   string   // the name of the model itself, for the metadata of answers
	Efforts []string // the words with which people choose how much it thinks, least first
}

// ModelOutcome is the outcome of a person's command about the model.
type ModelOutcome string

// Outcomes of a command about the model.
const (
	ModelListed    ModelOutcome = "listed"
	ModelChanged   ModelOutcome = "changed"
	ModelUnknown   ModelOutcome = "unknown" // there is no model of this name
	ModelUnable    ModelOutcome = "unable"  // the model does not think as asked
	ModelForbidden ModelOutcome = "forbidden"
)

// ModelAnswer is the answer to a person's command about the model.
type ModelAnswer struct {
	Outcome     ModelOutcome // set for the command model
	ModelChoice              // what answers in the chat
	Effort      string       // how much it thinks; empty if that is left to its settings
	Unable      ModelChoice  // the model that does not support the effort, if Outcome is ModelUnable
}

// MainModel is the name by which people choose the main model.
const MainModel = "main"

// Compaction is the outcome of a person's command to compact a chat.
type Compaction string

// Outcomes of a command to compact.
const (
	CompactionUnderWay Compaction = "under way"
	CompactionNothing  Compaction = "nothing" // there is nothing to compact
	CompactionOff      Compaction = "off"
)

// AuditEntry is one line of the audit log: what happened, never what was said.
type AuditEntry struct {
	TS        time.Time
	Event     string // ingress, run, model, tool, approval, execution, egress, stop, forget, order
	ChatKey   messages.ChatKey
	RequestID string
	RunID     string
	Name      string
	Result    string
	Reason    string
	Step      int
	By        string        // who decided, as <platform>-<userId>
	Digest    string        // of the tool, the exact input and what the approval is bound to
	Call      string        // id of the tool call
	Rule      string        // what allowed the call: a person's decision, a grant or an operator's rule
	Took      time.Duration // of a model call or tool call
	// The tokens are of a model call.
	InputTokens, CachedTokens, OutputTokens int64
}

// The events of calls.
const (
	AuditModel = "model" // Name is the model, Result the finish reason or error
	AuditTool  = "tool"  // Name is the tool, Result ok or error
)

// AuditOrder is the event of an order that an operator gave: Name is the order, Reason what it was about, Result ok or
// refused.
const AuditOrder = "order"

// WithDefaults fills in the defaults of unset options.
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

// MemoryGroups says what is remembered automatically in a chat of several people.
type MemoryGroups string

// Modes for chats of several people. The zero value means [MemoryAuto].
const (
	MemoryAuto MemoryGroups = "auto" // what members said, quoted, with who said it
	MemoryAsk  MemoryGroups = "ask"  // nothing; only a tool that asks a person may write
	MemoryOff  MemoryGroups = "off"  // nothing, and earlier statements are not used
)

// ContextsOutcome is the outcome of a person's command about contexts.
type ContextsOutcome string

// Outcomes of a command about contexts.
const (
	ContextsNew    ContextsOutcome = "new"    // the chat starts a new context
	ContextsLoaded ContextsOutcome = "loaded" // Items holds the loaded context
	ContextsListed ContextsOutcome = "listed" // Items holds the newest contexts
	ContextsChoose ContextsOutcome = "choose" // no single context matches; Items holds the best matches
	ContextsEmpty  ContextsOutcome = "empty"  // there is no history to leave
	ContextsBusy   ContextsOutcome = "busy"   // a run is in progress
	ContextsFailed ContextsOutcome = "failed"
	ContextsOff    ContextsOutcome = ""
)

// ContextsAnswer is the answer to a person's command about contexts.
type ContextsAnswer struct {
	Outcome ContextsOutcome
	Items   []journal.ContextItem
}
