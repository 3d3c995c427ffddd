package telegramtest

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
)

// User is a person.
func User(id int64, name string) map[string]any {
	return map[string]any{"id": id, "is_bot": false, "first_name": name}
}

// Entity is an entity of a text, in UTF-16 units.
func Entity(kind string, offset, length int) map[string]any {
	return map[string]any{"type": kind, "offset": offset, "length": length}
}

// update is an update as it goes over the wire.
func update(id int64, kind string, value any) json.RawMessage {
	body, err := json.Marshal(map[string]any{"update_id": id, kind: value})
	if err != nil {
		panic(err) // Unreachable: tests pass plain values
	}
	return body
}

// isPrivate reports messages that a bot in privacy mode does not get: group messages that are no commands, do not mention
// the bot and do not reply to it.
func isPrivate(kind string, body json.RawMessage) bool {
	var u map[string]json.RawMessage
	var m struct {
		Chat struct{ Type string }
		Text string
		To   struct {
			From struct{ ID int64 }
		} `json:"reply_to_message"`
	}
	if json.Unmarshal(body, &u) != nil || json.Unmarshal(u[kind], &m) != nil {
		return false
	}
	return strings.HasSuffix(m.Chat.Type, "group") && m.Text != "" && m.Text[0] != '/' && !strings.Contains(m.Text, "@"+BotName) && m.To.From.ID != BotID
}

// Say makes somebody write into a chat. Members of more are set in the message,
// or removed when nil. It returns the message's id.
func (a *API) Say(chat, from int64, text string, more map[string]any) int64 {
	id, m := a.message(chat, from, text, more)
	a.Inject("message", m)
	return id
}

// message makes the object of a message that somebody wrote.
func (a *API) message(chat, from int64, text string, more map[string]any) (int64, map[string]any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.chats[chat]
	id := a.newMessageID(c)
	m := map[string]any{"message_id": id, "date": 1700000000, "chat": c.object(), "from": User(from, "Ann"), "text": text}
	maps.Copy(m, more)
	maps.DeleteFunc(m, func(_ string, v any) bool { return v == nil })
	return id, m
}

// Edit makes the author of a message change it.
func (a *API) Edit(chat, from, message, date int64, text string) {
	a.EditAs(chat, from, message, text, map[string]any{"edit_date": date})
}

// EditAs is [API.Edit] with other members.
func (a *API) EditAs(chat, from, message int64, text string, more map[string]any) {
	object := faketest.Get(&a.mu, func() map[string]any { return a.chats[chat].object() })
	m := map[string]any{"message_id": message, "date": 1700000000, "chat": object, "from": User(from, "Ann"), "text": text}
	maps.Copy(m, more)
	a.Inject("edited_message", m)
}

// Gather holds updates back while on is set, so that they are returned together afterwards.
func (a *API) Gather(on bool) {
	defer a.Signal()
	a.mu.Do(func() { a.gathers = on })
}

// NextUpdate is the id of the next update.
func (a *API) NextUpdate() int64 { return faketest.Get(&a.mu, func() int64 { return a.nextID }) }

// Inject queues an update and returns its id. Updates that are injected at once
// are queued in the order of their ids, as a poller confirms all ids below its
// offset.
func (a *API) Inject(kind string, value any) int64 {
	defer a.Signal()
	a.mu.Lock()
	defer a.mu.Unlock()
	id := a.nextID
	a.queue(id, kind, update(id, kind, value))
	return id
}

// InjectAs queues an update with an id; later updates get the following ids.
func (a *API) InjectAs(id int64, kind string, value any) {
	a.InjectRaw(id, kind, update(id, kind, value))
}

// InjectRaw queues an update with a body, which may be malformed.
func (a *API) InjectRaw(id int64, kind string, body json.RawMessage) {
	defer a.Signal()
	a.mu.Do(func() { a.queue(id, kind, body) })
}

// queue is called with the lock held.
func (a *API) queue(id int64, kind string, body json.RawMessage) {
	a.nextID = id + 1
	q := queued{id: id, body: body}
	a.history[id] = q
	if a.isAllowed(kind) && (!a.privacy || !isPrivate(kind, body)) {
		a.pending = append(a.pending, q)
	}
}

// Privacy switches privacy mode, in which a bot gets only the group messages that address it.
func (a *API) Privacy(on bool) { a.mu.Do(func() { a.privacy = on }) }

// Redeliver returns an update to the poller again, even if it was confirmed.
func (a *API) Redeliver(id int64) {
	defer a.Signal()
	a.mu.Do(func() { a.again = append(a.again, a.history[id]) })
}

// stopPoller ends the poll in progress. It is called with the lock held.
func (a *API) stopPoller() {
	if a.poller != nil {
		close(a.poller)
		a.poller = nil
	}
}

func (a *API) getUpdates(ctx context.Context, p Params) (any, *refused) {
	a.mu.Lock()
	a.stopPoller()
	if a.webhook != "" {
		a.mu.Unlock()
		return nil, &refused{
			code: http.StatusConflict,
			text: "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
		}
	}
	mine := make(chan struct{})
	a.poller = mine
	a.confirm(p.Int("offset"))
	if raw := p.Text("allowed_updates"); raw != "" { // if absent, the previous value applies
		a.allowed = nil
		if json.Unmarshal([]byte(raw), &a.allowed) != nil {
			a.mu.Unlock()
			return nil, badRequest("can't parse allowed_updates")
		}
	}
	a.mu.Unlock()
	a.Signal() // a test may wait for the confirmation
	limit, timeout := int(p.Int("limit")), p.Int("timeout")
	if p.Text("limit") == "" {
		limit = 100
	}
	if limit < 1 || limit > 100 || timeout > 50 {
		return nil, badRequest("limit or timeout out of range")
	}
	return a.wait(ctx, mine, limit, time.Duration(timeout)*time.Second)
}

func (a *API) confirm(offset int64) {
	if offset > 0 {
		a.pending = slices.DeleteFunc(a.pending, func(q queued) bool { return q.id < offset })
	}
}

func (a *API) wait(ctx context.Context, mine chan struct{}, limit int, timeout time.Duration) (any, *refused) {
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	for {
		next := a.Next()
		if out := a.handOut(limit); len(out) > 0 {
			return out, nil
		}
		a.idle(1)
		var no *refused
		select {
		case <-next:
			a.idle(-1)
			continue
		case <-deadline.C:
		case <-mine:
			no = &refused{code: http.StatusConflict, text: "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"}
		case <-ctx.Done():
			no = &refused{code: http.StatusBadGateway, text: "the caller left"}
		case <-a.quit:
			no = &refused{code: http.StatusBadGateway, text: "Bad Gateway"}
		}
		a.idle(-1)
		return []json.RawMessage{}, no
	}
}

// idle counts the polls that wait.
func (a *API) idle(n int) {
	a.mu.Do(func() { a.waiting += n })
	if n > 0 {
		a.polling.Signal()
	}
}

func (a *API) handOut(limit int) []json.RawMessage {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.gathers {
		return nil
	}
	all := append(slices.Clone(a.again), a.pending...)
	all = all[:min(limit, len(all))]
	a.again = a.again[min(len(a.again), len(all)):]
	var out []json.RawMessage
	for _, q := range all {
		out = append(out, q.body)
	}
	return out
}
