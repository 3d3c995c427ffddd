package chat

import (
	"context"
	"log/slog"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/chat/chatmetrics"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/runlog"
)

// Options of chats; one value serves all chats of a host, until the settings change. It never changes itself. The embedded
// options control how chats decide. [Options.Complete] sets those that follow from the functions here.
type Options struct {
	decision.Options

	Store persistence.Store
	// Spares is the memory that the decisions of all chats share.
	Spares machine.Spares
	// Grants stores what people allow for a time. If nil, they cannot allow anything for a time.
	Grants persistence.GrantStore
	// Files stores the pages of long answers. If nil, long answers are not paged.
	Files persistence.FileStore

	// Run returns the actor of a run. The memo belongs to the chat, because each of its requests extends the last one.
	Run func(memo *model.Memo) *actor.Props
	// Compaction returns the actor that compacts a chat's history. If nil, histories only grow.
	Compaction func() *actor.Props
	// Memory returns the actor that extracts facts from a chat. If nil, no facts are extracted.
	Memory func() *actor.Props
	// Router takes messages to other chats. If nil, requests are not shown in other chats.
	Router *actor.PID

	// Fetch fetches the files of turns before the model sees the turns. May be nil.
	Fetch Fetch
	// Gather asks all other chats to show their requests in a person's private chat. It returns the number of open
	// requests that the person cannot decide from there. If nil, there is no such list.
	Gather func(ctx context.Context, to messages.ChatKey, person string) (others int)
	// Commands carries out and answers the commands of the host. It returns false for unknown commands. May be nil.
	Commands func(decision.Command) (answer string, ok bool)
	// Forget deletes everything that is kept of a chat whose store is closed, except what the intent contains. After
	// an error, the next start of the host continues the deletion. If nil, chats cannot be deleted.
	Forget func(journal.Forgetting) error

	Logger  *slog.Logger
	Metrics *chatmetrics.Metrics // may be nil
	// Audit receives the entries of the audit log, RunEnded those of the run log, and PrefixBroken the reasons why a
	// chat's next request will not begin like the previous one. They must not block, and each may be nil.
	Audit        func(decision.AuditEntry)
	RunEnded     func(key messages.ChatKey, entry runlog.Entry)
	PrefixBroken func(cause string)
}

// Fetch replaces the files of a user turn that are still on their platform with what the model reads, for example a
// voice message with its transcript. In the result, every file is fetched or carries the reason why it is missing.
// Fetch returns when ctx ends.
type Fetch func(ctx context.Context, key messages.ChatKey, turn uimessage.Message) []uimessage.Part

// Complete returns the options with what follows from them, as [Factory] needs them.
func (o Options) Complete() *Options {
	m := &o.Options
	*m = m.WithDefaults()
	m.Compacts, m.Remembers, m.Fetches, m.Gathers, m.Forgets = o.Compaction != nil, o.Memory != nil, o.Fetch != nil, o.Gather != nil, o.Forget != nil
	m.Refers, m.Obeys, m.Audits, m.RecordsRuns = o.Router != nil, o.Commands != nil, o.Audit != nil, o.RunEnded != nil
	m.Grants, m.Files = o.Grants, o.Files
	return &o
}
