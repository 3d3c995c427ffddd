package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sort"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/cmd/internal/agentdir"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/chatfile"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/searchindex"
)

// Desk answers questions about the chats of a state folder and has chats carry out orders. It works the same whether
// a host runs or not, except for asking a single chat: a running host asks the chat's actor, otherwise the answer is
// read from the chat's files.
type Desk struct {
	state string
	store *filestore.Store // nil if the folder does not exist yet
	index *searchindex.Index
	// latest is used by lists of chats.
	latest *latest
	// preferences are those of the chats. A host changes them, too, so the desk has the host's.
	preferences *agentdir.Preferences
	// chat asks one chat. Questions and answers are those of the chat's actor.
	chat func(ctx context.Context, question any) (any, error)
	live bool
	by   messages.Asker // who decides and revokes
	said string         // who gives the other orders
	// deciders are who may decide about a request.
	deciders func(approval.Claim) []ApprovalDecider
	log      *slog.Logger
	// named says that lists have the names of chats. Commands look them up themselves.
	named bool
}

// New makes the desk of a running host. chat asks the actor of a chat, and deciders says who may decide about a request.
func New(state string, store *filestore.Store, index *searchindex.Index, preferences *agentdir.Preferences, log *slog.Logger, chat func(ctx context.Context, question any) (any, error), deciders func(approval.Claim) []ApprovalDecider) *Desk {
	return &Desk{state: state, store: store, index: index, latest: &latest{}, preferences: preferences, log: log, chat: chat, deciders: deciders, live: true, by: operator(), said: "operator"}
}

// InConsole is the desk for the orders of people who use the console in a browser. They decide as the web chat's owner
// does, who need not be among the approvers, and records say that they used the console.
func (d *Desk) InConsole() *Desk {
	const console = "console"
	other := *d
	other.by, other.said, other.named = messages.Asker{Platform: "web", ID: console, Name: console}, console, true
	return &other
}

// StoppedOptions describe a state folder that no host uses. All are required.
type StoppedOptions struct {
	State string
	// StoreLogger and IndexLogger log what the operator should know.
	StoreLogger, IndexLogger *slog.Logger
	// Zone returns the time zone of the project's tasks. It is called when a chat is deleted.
	Zone func() (*time.Location, error)
}

// OpenStopped opens a desk on a state folder that no host uses, and locks the folder until
// [Desk.Close]. A folder that does not exist is not created: it has no chats.
func OpenStopped(o StoppedOptions) (*Desk, error) {
	if _, err := os.Stat(o.State); errors.Is(err, fs.ErrNotExist) {
		return &Desk{}, nil
	}
	store, err := filestore.Open(filestore.Options{Dir: o.State, Logger: o.StoreLogger})
	if err != nil {
		return nil, err
	}
	return Stopped(store, o), nil
}

// Stopped makes a desk for a store that is already open. [Desk.Close] closes the store.
func Stopped(store *filestore.Store, o StoppedOptions) *Desk {
	return &Desk{
		state: o.State, store: store, index: NewIndex(o.State, store, o.IndexLogger), latest: &latest{}, chat: chatFiles{state: o.State, store: store, zone: o.Zone}.ask,
		preferences: agentdir.NewPreferences(chatfile.New(store.ChatDir), o.StoreLogger),
		by:          operator(), said: "operator", deciders: func(approval.Claim) []ApprovalDecider { return nil }, log: cmp.Or(o.StoreLogger, slog.New(slog.DiscardHandler)),
	}
}

// Close closes the store of a desk that [OpenStopped] or [Stopped] made, which unlocks the folder.
func (d *Desk) Close() error {
	if d.store == nil {
		return nil
	}
	return errors.Join(d.index.Close(), d.store.Close())
}

// Asked is a question about one chat, or about all chats if ChatKey is empty.
type Asked struct {
	ChatKey messages.ChatKey
	// Words and Limit are for searches.
	Words string
	Limit int
}

// Ask asks one chat, and returns an error if the reply reports one.
func Ask[T any](ctx context.Context, chat func(context.Context, any) (any, error), question any) (T, error) {
	var none T
	answer, err := chat(ctx, question)
	if err != nil {
		return none, err
	}
	reply, ok := answer.(T)
	if !ok {
		return none, platform.ErrUnavailable
	}
	if fault := faultOf(answer); fault != "" {
		return reply, errors.New(fault)
	}
	return reply, nil
}

// faultOf is the error that a reply of a chat reports, or "".
func faultOf(answer any) string {
	switch a := answer.(type) {
	case messages.ViewReply:
		return a.Err
	case messages.OutboxReply:
		return a.Err
	case messages.ParkedSettled:
		return a.Err
	case messages.ApprovalDecided:
		return a.Err
	case messages.GrantsRevoked:
		return a.Err
	case messages.ChatForgotten:
		return a.Err
	case messages.WordsPosted:
		return a.Reason
	default:
		return ""
	}
}

// each collects the lines of several chats, one chat after the other. Chats that cannot be read are left out, and the
// log names them, as long as another one can.
func each[T any](ctx context.Context, d *Desk, keys []messages.ChatKey, of func(messages.ChatKey) ([]T, error)) ([]T, error) {
	out, failed := []T{}, []error{}
	for _, key := range keys {
		lines, err := of(key)
		if err != nil {
			failed = append(failed, fmt.Errorf("chat %s: %w", key, err))
		}
		if ctx.Err() != nil {
			return nil, errors.Join(failed...)
		}
		out = append(out, lines...)
	}
	if len(failed) == len(keys) {
		return out, errors.Join(failed...)
	}
	for _, err := range failed {
		d.log.Warn("a chat cannot be read and is missing in the list", "error", err)
	}
	return out, nil
}

// Present returns [platform.ErrNotFound] if the chat does not exist.
func Present(store *filestore.Store, key messages.ChatKey) error {
	if store == nil {
		return platform.ErrNotFound
	}
	dir, err := store.ChatDir(key)
	if err != nil {
		return err
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return platform.ErrNotFound
	}
	return nil
}

// BotOf is the name of the chat's platform with its account, or "" if the key names none.
func BotOf(key messages.ChatKey) string {
	addr, ok := key.Address()
	switch {
	case !ok:
		return ""
	case addr.Account != "":
		return addr.Platform + "@" + addr.Account
	}
	return addr.Platform
}

// ChatLine is one chat in a list.
type ChatLine struct {
	ChatKey   messages.ChatKey `json:"chatKey"`
	UpdatedAt time.Time        `json:"updatedAt,omitzero"`
	Name      string           `json:"name,omitempty"`    // what people call the chat; readers fill it in
	Paused    bool             `json:"paused,omitempty"`  // by an operator, see [PauseOrder]
	Running   bool             `json:"running,omitempty"` // only in the console's list
}

// Chats lists the chats, those with the newest turns first.
func (d *Desk) Chats(ctx context.Context, _ Asked) ([]ChatLine, error) {
	lines, err := d.ListChats(ctx)
	names, running := NewNames(d.state), map[messages.ChatKey]bool{}
	if d.named && err == nil {
		running = d.running(ctx)
	}
	for i := range lines {
		l := &lines[i]
		l.Name, l.Paused = names.look(l.ChatKey)
		l.Running = running[l.ChatKey]
		if !d.named {
			l.Name = ""
		}
	}
	return lines, err
}

// running are the chats with a run, as far as they say so soon. Only chats that are marked as having unfinished work
// can have one.
func (d *Desk) running(ctx context.Context) map[messages.ChatKey]bool {
	const soon, most = time.Second, 100
	ctx, cancel := context.WithTimeout(ctx, soon)
	defer cancel()
	keys, err := d.store.Waking(ctx)
	if err != nil {
		return nil // the list is useful without it
	}
	out := map[messages.ChatKey]bool{}
	for _, key := range keys[:min(len(keys), most)] {
		view, err := Ask[messages.ViewReply](ctx, d.chat, messages.ViewQuery{ChatKey: key})
		out[key] = err == nil && view.Running
	}
	return out
}

func (d *Desk) name(n int, line func(i int) (key messages.ChatKey, name *string)) {
	if !d.named || n == 0 {
		return
	}
	names := NewNames(d.state)
	for i := range n {
		key, name := line(i)
		*name = names.Of(key)
	}
}

// ListChats lists the chats without their names and states, those with the newest turns first.
func (d *Desk) ListChats(ctx context.Context) ([]ChatLine, error) {
	out := []ChatLine{}
	if d.store == nil {
		return out, nil
	}
	was, now := d.latest.known.Load(), map[messages.ChatKey]read{}
	for key, err := range d.store.Chats(ctx) {
		if err != nil {
			return nil, err
		}
		if was != nil {
			now[key] = (*was)[key]
		}
		now[key] = now[key].again(d.store, key)
		out = append(out, ChatLine{ChatKey: key, UpdatedAt: now[key].of()})
	}
	d.latest.known.Store(&now)
	sort.Slice(out, func(i, j int) bool {
		return cmp.Or(out[j].UpdatedAt.Compare(out[i].UpdatedAt), cmp.Compare(out[i].ChatKey, out[j].ChatKey)) < 0
	})
	return out, nil
}

// ChatDocument is one chat with its messages.
type ChatDocument struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	Running bool             `json:"running"`
	Paused  bool             `json:"paused,omitempty"` // by an operator, see [PauseOrder]
	Counts  platform.Counts  `json:"counts"`
	// Model and Effort are what people chose with the command model, or empty.
	Model    string              `json:"model,omitempty"`
	Effort   string              `json:"effort,omitempty"`
	Messages []uimessage.Message `json:"messages"`
	Waiting  []uimessage.Message `json:"waiting,omitempty"`
}

// Chat returns the current state of one chat.
func (d *Desk) Chat(ctx context.Context, q Asked) (ChatDocument, error) {
	if err := Present(d.store, q.ChatKey); err != nil {
		return ChatDocument{}, err
	}
	view, err := Ask[messages.ViewReply](ctx, d.chat, messages.ViewQuery{ChatKey: q.ChatKey})
	switch {
	case err != nil:
		return ChatDocument{}, err
	case d.live && view.Accepted == 0 && len(view.Messages) == 0:
		return ChatDocument{}, platform.ErrNotFound // only the ids of its messages are kept
	}
	doc := documentOf(view)
	doc.Paused = d.preferences.Paused(q.ChatKey)
	return doc, nil
}

func documentOf(view messages.ViewReply) ChatDocument {
	return ChatDocument{
		ChatKey: view.ChatKey, Running: view.Running, Messages: slices.Concat([]uimessage.Message{}, view.Messages), Waiting: view.Waiting, Model: view.Model, Effort: view.Effort,
		Counts: platform.Counts{Accepted: view.Accepted, Open: view.Open, Fates: view.Fates, Pending: view.Pending},
	}
}
