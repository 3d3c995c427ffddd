package telegram

import (
	"errors"
	"log/slog"
	"strconv"
	"sync"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram/internal/wire"
	"github.com/shipmyagent/shipmyagent/messages"
)

// moves knows the groups that became supergroups and thereby got another id. Such a chat keeps its
// key, and with it its history; only requests to the service use the new id. It is safe for
// concurrent use.
type moves struct {
	mu    sync.Mutex
	first map[string]string // first id by later id
	now   map[string]string // current id by first id
	file  botkit.StateFile
	log   *slog.Logger
}

func newMoves(dir string, log *slog.Logger) *moves {
	m := &moves{first: map[string]string{}, now: map[string]string{}, file: botkit.StateFile{Dir: dir, Name: "moved.json"}, log: log}
	if err := m.file.Load(&m.now); err != nil {
		m.now = map[string]string{}
		log.Error("it cannot be read which groups became supergroups; their chats may start anew", "error", err)
	}
	for first, later := range m.now {
		m.first[later] = first
	}
	return m
}

// origin returns the id from which a chat's key is made.
func (m *moves) origin(chat string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if first, ok := m.first[chat]; ok {
		return first
	}
	return chat
}

// current returns the id under which a chat is reached.
func (m *moves) current(chat string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if later, ok := m.now[chat]; ok {
		return later
	}
	return chat
}

// learn records a chat's new id on disk before it takes effect.
func (m *moves) learn(from, to string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	first, ok := m.first[from]
	if !ok {
		first = from
	}
	if to == first || m.now[first] == to {
		return
	}
	m.first[to], m.now[first] = first, to
	m.log.Info("a group became a supergroup; its chat continues", "chat", first, "id", to)
	if err := m.file.Save(m.now); err != nil {
		m.log.Error("it could not be stored that a group became a supergroup", "chat", first, "error", err)
	}
}

// learnFrom records the move of a chat, if a message reports one.
func (m *moves) learnFrom(msg *wire.Message) {
	if msg == nil || msg.Chat.ID == 0 {
		return
	}
	here := strconv.FormatInt(msg.Chat.ID, 10)
	switch {
	case msg.MigrateTo != 0:
		m.learn(here, strconv.FormatInt(msg.MigrateTo, 10))
	case msg.MigrateFrom != 0:
		m.learn(strconv.FormatInt(msg.MigrateFrom, 10), here)
	}
}

// address returns the parameters of a call with the chat's current id.
func (p *Platform) address(to platform.Target) (outgoing, error) {
	to.Chat = p.moves.current(to.ChatID())
	return address(to)
}

// following sends again to the chat's new id when the server says that the chat has moved: nothing
// was sent before. A new id that is not valid is ignored.
func (p *Platform) following(to platform.Target, err error, again func(to platform.Target) (messages.Receipt, error)) (messages.Receipt, error) {
	e, ok := errors.AsType[*platform.Error](err)
	if !ok || e.Reason != platform.SendMigrated || e.NewChat == "" {
		return messages.Receipt{}, err
	}
	from := to.ChatID()
	to.Chat = e.NewChat
	made, againErr := again(to)
	if e, ok := errors.AsType[*platform.Error](againErr); ok && e.Reason == platform.SendNotFound {
		return messages.Receipt{}, err
	}
	p.moves.learn(from, e.NewChat)
	if againErr == nil {
		made.Order |= 1 << messages.OrderBits // the move may not have been known when Order was computed
	}
	return made, againErr
}
