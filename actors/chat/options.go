package chat

import (
	"context"
	"log/slog"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Options of chats; one value serves all chats of a host. The embedded ones say how chats
// decide. What a chat can do follows from the functions here: those are left out of
// [machine.Options].
type Options struct {
	machine.Options

	Store persistence.Store
	// Grants keeps what people allow for a time; nil: they cannot.
	Grants persistence.GrantStore
	// Files keeps the pages of long answers; nil: they are sent whole.
	Files persistence.FileStore

	// Run makes the actor of a run. The memo is the chat's: its requests extend each other.
	Run func(memo *model.Memo) *actor.Props
	// Compaction makes the actor that compacts a chat's history; nil: histories only grow.
	Compaction func() *actor.Props
	// Memory makes the actor that takes facts from a chat; nil: none are taken.
	Memory func() *actor.Props
	// Router takes messages to other chats; nil: no request is shown in another one.
	Router *actor.PID

	// Fetch fetches the files of turns before the model sees them; nil: nothing does.
	Fetch Fetch
	// Gather has the requests of all other chats shown in a person's private chat, and says
	// how many wait that they cannot decide about from there; nil: there is no such list.
	Gather func(ctx context.Context, to messages.ChatKey, person string) (others int)
	// Commands carries out the commands that the host knows, beside those of the chat
	// itself, and answers them; nil: it knows none.
	Commands func(machine.Command) (answer string, ok bool)
	// Forget deletes all that is kept of a chat, which has closed its store; what is to be
	// kept of it is in the intent. After an error the next start of the host continues
	// with it. Nil: nothing is deleted.
	Forget func(journal.Forgetting) error

	Logger  *slog.Logger
	Metrics *Metrics // may be nil
	// Audit takes what the audit log keeps, RunEnded what is kept of a run for later ones,
	// and PrefixBroken why a chat's next request does not begin with the one before. They
	// never block, and each may be nil.
	Audit        func(machine.AuditEntry)
	RunEnded     func(key messages.ChatKey, entry persistence.RunEntry)
	PrefixBroken func(cause string)
}

// Fetch replaces, in the parts of a user turn, the files that are still with their
// platform by what the model reads of them, a voice by its words for example. Nothing
// it returns stands for such a file any more: what cannot be had says so. It ends when
// ctx does.
type Fetch func(ctx context.Context, key messages.ChatKey, turn uimessage.Message) []uimessage.Part

func (o Options) withDefaults() Options {
	m := &o.Options
	*m = m.WithDefaults()
	m.Compacts, m.Remembers, m.Fetches, m.Gathers, m.Forgets = o.Compaction != nil, o.Memory != nil, o.Fetch != nil, o.Gather != nil, o.Forget != nil
	m.Refers, m.Obeys, m.Audits, m.RecordsRuns = o.Router != nil, o.Commands != nil, o.Audit != nil, o.RunEnded != nil
	if o.Grants != nil {
		m.Grants = o.Grants
	}
	if o.Files != nil {
		m.Files = o.Files
	}
	return o
}
