package feishutest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/messages"
)

// feishuPatience is how long the service waits for an answer, and so does the fake where time is simulated. In real time
// the fake waits for feishuKindness, because the machine may be busy with tests.
const (
	feishuPatience = 3 * time.Second
	feishuKindness = 30 * time.Second
)

// feishuSchedule are the delays before an unanswered event is sent again.
func feishuSchedule() []time.Duration {
	return []time.Duration{15 * time.Second, 5 * time.Minute, time.Hour, 6 * time.Hour}
}

type feishuPush struct {
	client *http.Client
	hook   string // if empty, events go over the long connection
	more   chan struct{}
	queue  []*feishuEvent // due now
	late   []*feishuEvent // due later
	all    []*feishuEvent
	busy   int  // the number of events being delivered
	mute   bool // people's actions cause no events
	ahead  bool // events do not wait for the answer to the previous one
}

type feishuEvent struct {
	body  []byte
	due   time.Time
	tries int
	lost  bool // every try has failed
	done  bool
}

// Mention is an entry of a message's mentions; in the text, key represents the person.
func Mention(key, openID, name string) map[string]any {
	return map[string]any{"key": key, "id": map[string]any{"open_id": openID, "union_id": "on_2", "user_id": ""}, "name": name, "tenant_key": "tenant"}
}

// Sign sets the three headers of a signed request.
func Sign(req *http.Request, stamp, nonce, key string, body []byte) {
	sum := sha256.Sum256(slices.Concat([]byte(stamp+nonce+key), body))
	req.Header.Set("X-Lark-Request-Timestamp", stamp)
	req.Header.Set("X-Lark-Request-Nonce", nonce)
	req.Header.Set("X-Lark-Signature", fmt.Sprintf("%x", sum))
}

// Seal encrypts an event as the service does: AES-256-CBC under the hash of
// the key, the initial vector in front.
func Seal(key string, event []byte) string {
	sum := sha256.Sum256([]byte(key))
	block, err := aes.NewCipher(sum[:])
	if err != nil { // Unreachable: the hash has the right length
		return ""
	}
	pad := aes.BlockSize - len(event)%aes.BlockSize
	out := make([]byte, aes.BlockSize, aes.BlockSize+len(event)+pad)
	_, _ = rand.Read(out)
	out = append(append(out, event...), bytes.Repeat([]byte{byte(pad)}, pad)...)
	cipher.NewCBCEncrypter(block, out[:aes.BlockSize]).CryptBlocks(out[aes.BlockSize:], out[aes.BlockSize:])
	return base64.StdEncoding.EncodeToString(out)
}

func decodeCard(content string) map[string]any {
	var c map[string]any
	if json.Unmarshal([]byte(content), &c) != nil {
		return nil
	}
	return c
}

// SetWebhook makes events go to an address.
func (a *API) SetWebhook(url string) { a.mu.Do(func() { a.push.hook = url }) }

// Say makes somebody write a text into a chat; members of more are set in the message of the event, or removed when nil.
// A message with a root_id and no parent_id is in the topic that the message root_id opened. It returns the message's id.
func (a *API) Say(chat, from, text string, more map[string]any) string {
	content, _ := json.Marshal(map[string]any{"text": text})
	a.mu.Lock()
	id, at := a.newID("om_u"), a.sent()
	m := map[string]any{
		"message_id": id, "chat_id": chat, "chat_type": a.chats[chat].kind, "message_type": "text", "content": string(content),
		"create_time": strconv.FormatInt(at.UnixMilli(), 10),
	}
	for k, v := range more {
		if m[k] = v; v == nil {
			delete(m, k)
		}
	}
	id = stringOf(m["message_id"]) // more may have set another one
	a.intoTopic(chat, m)
	if a.chats[chat].kind == messages.ChatTopicGroup && m["thread_id"] == nil { // every message is in a topic
		m["thread_id"] = a.newID("omt_")
	}
	a.messages[id] = &Message{
		ID: id, Chat: chat, Kind: stringOf(m["message_type"]), Content: stringOf(m["content"]), Parent: stringOf(m["parent_id"]), Thread: stringOf(m["thread_id"]), from: from, made: at,
		children: a.forwards[id],
	}
	a.inject("im.message.receive_v1", map[string]any{
		"sender":  map[string]any{"sender_id": map[string]any{"open_id": from, "union_id": "on_1", "user_id": nil}, "sender_type": "user", "tenant_key": "tenant"},
		"message": m,
	})
	a.mu.Unlock()
	return id
}

// intoTopic puts a message that has only a root_id into the topic that message root_id opened. In a topic every message
// is formally a reply to the message that opened it. In a topic group a reply is in the topic of the message it answers.
func (a *API) intoTopic(chat string, m map[string]any) {
	if at := a.messages[stringOf(m["parent_id"])]; at != nil && a.chats[chat].kind == messages.ChatTopicGroup {
		for a.messages[at.Parent] != nil {
			at = a.messages[at.Parent]
		}
		m["root_id"] = at.ID
	}
	root := a.messages[stringOf(m["root_id"])]
	if root == nil || m["parent_id"] != nil && a.chats[chat].kind != messages.ChatTopicGroup {
		return // in other groups a reply also has a root, but no topic
	}
	root.Thread = cmp.Or(root.Thread, a.newID("omt_"))
	m["thread_id"] = root.Thread
	if m["parent_id"] == nil {
		m["parent_id"] = root.ID
	}
}

// Inject creates an event, queues it for delivery and returns its id.
func (a *API) Inject(kind string, event any) string {
	return faketest.Get(&a.mu, func() string { return a.inject(kind, event) })
}

// inject is Inject with the lock held.
func (a *API) inject(kind string, event any) string {
	id := a.newID("")
	if a.push.mute {
		return id
	}
	e := &feishuEvent{body: a.eventBody(id, kind, event)}
	a.push.all = append(a.push.all, e)
	a.queue(e)
	return id
}

// eventBody returns an unencrypted event. It is called with the lock held.
func (a *API) eventBody(id, kind string, event any) []byte {
	body, err := json.Marshal(map[string]any{
		"schema": "2.0",
		"header": map[string]any{
			"event_id": id, "event_type": kind, "create_time": strconv.FormatInt(a.now().UnixMilli(), 10),
			"token": feishuVerify, "app_id": App, "tenant_key": "tenant",
		},
		"event": event,
	})
	if err != nil {
		panic(fmt.Sprintf("tests inject what JSON can hold: %v", err))
	}
	return body
}

// EventBody returns an unencrypted event for [API.Request], without delivering it.
func (a *API) EventBody(kind string, event any) []byte {
	return faketest.Get(&a.mu, func() []byte { return a.eventBody(a.newID(""), kind, event) })
}

func (a *API) queue(e *feishuEvent) {
	a.push.queue = append(a.push.queue, e)
	select {
	case a.push.more <- struct{}{}:
	default:
	}
}

// Repeat delivers every event once more.
func (a *API) Repeat() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, e := range a.push.all {
		again := *e
		a.queue(&again)
	}
}

// Advance moves the clock of the fake and delivers the events that are due by then.
func (a *API) Advance(d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.shift += d
	now := a.now()
	due := slices.DeleteFunc(slices.Clone(a.push.late), func(e *feishuEvent) bool { return e.due.After(now) })
	a.push.late = slices.DeleteFunc(a.push.late, func(e *feishuEvent) bool { return !e.due.After(now) })
	for _, e := range due {
		a.queue(e)
	}
}

// Mute decides whether the actions of people cause no events.
func (a *API) Mute(on bool) { a.mu.Do(func() { a.push.mute = on }) }

// Hurry delivers every event that waits for another try now, as if for the first time, without moving the clock.
func (a *API) Hurry() {
	a.mu.Lock()
	defer a.mu.Unlock()
	late := a.push.late
	a.push.late = nil
	for _, e := range late {
		e.tries = 0
		a.queue(e)
	}
}

// Pushed counts the events that were answered, that wait for another try, and that are lost.
func (a *API) Pushed() (done, waiting, lost int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, e := range a.push.all {
		switch {
		case e.done:
			done++
		case e.lost:
			lost++
		default:
			waiting++
		}
	}
	return done, waiting, lost
}

// deliver delivers events one after the other, until the fake is closed.
func (a *API) deliver() {
	for {
		select {
		case <-a.life.Done():
			return
		case <-a.push.more:
		}
		for a.deliverNext() {
		}
	}
}

func (a *API) deliverNext() bool {
	a.mu.Lock()
	if len(a.push.queue) == 0 {
		a.mu.Unlock()
		return false
	}
	e, hook := a.push.queue[0], a.push.hook
	a.push.queue = a.push.queue[1:]
	a.push.busy++
	ahead := a.push.ahead && hook == ""
	a.mu.Unlock()
	patience := feishuKindness
	if a.server == nil {
		patience = feishuPatience
	}
	ctx, cancel := context.WithTimeout(a.life, patience)
	wait := func() bool {
		code, _, err := a.Bring(ctx, a.push.client, hook, e.body)
		return err == nil && code == http.StatusOK
	}
	if hook == "" {
		answer := a.links.post(ctx, e.body)
		wait = func() bool { _, ok := answer(); return ok }
	}
	settle := func() {
		ok := wait()
		cancel()
		a.settle(e, ok)
	}
	if ahead {
		a.work.Go(settle)
	} else {
		settle()
	}
	return true
}

// Ahead decides whether events go over the long connection without waiting for the answers to earlier ones.
func (a *API) Ahead(on bool) { a.mu.Do(func() { a.push.ahead = on }) }

// settle records the outcome of a try.
func (a *API) settle(e *feishuEvent, ok bool) {
	defer a.Signal()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.push.busy--
	steps := feishuSchedule()
	switch {
	case ok:
		e.done = true
	case e.done:
	case e.tries >= len(steps):
		e.lost = true
	default:
		e.due = a.now().Add(steps[e.tries])
		e.tries++
		a.push.late = append(a.push.late, e)
		if a.server == nil { // the clock is simulated, so the delay can be waited for
			time.AfterFunc(e.due.Sub(a.now()), func() { a.Advance(0) })
		}
	}
}

// Request returns a request as the service makes it: encrypted and signed.
func (a *API) Request(ctx context.Context, target string, event []byte) (*http.Request, error) {
	raw, err := json.Marshal(map[string]any{"encrypt": Seal(feishuEncrypt, event)})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	stamp, nonce := strconv.FormatInt(a.Now().Unix(), 10), rand.Text()
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	Sign(req, stamp, nonce, feishuEncrypt, raw)
	return req, nil
}

// Bring posts an event to a webhook and returns the answer. client may be nil.
func (a *API) Bring(ctx context.Context, client *http.Client, target string, event []byte) (int, []byte, error) {
	if client == nil {
		client = http.DefaultClient
	}
	req, err := a.Request(ctx, target, event)
	if err != nil {
		return 0, nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // nothing was written
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, body, err
}

// Press makes somebody press a button of a message and returns the app's answer; members of more are set in the event.
// It is delivered like an event.
func (a *API) Press(ctx context.Context, chat, message, by string, value map[string]any, more map[string]any) (map[string]any, error) {
	event := map[string]any{
		"operator": map[string]any{"tenant_key": "tenant", "open_id": by, "union_id": "on_3", "user_id": ""}, "token": "c-sample",
		"action": map[string]any{"value": value, "tag": "button"}, "host": "im_message",
		"context": map[string]any{"open_message_id": message, "open_chat_id": chat},
	}
	maps.Copy(event, more)
	a.mu.Lock()
	body, hook := a.eventBody(a.newID(""), "card.action.trigger", event), a.push.hook
	a.mu.Unlock()
	var answer []byte
	if hook != "" {
		code, got, err := a.Bring(ctx, a.push.client, hook, body)
		if err != nil || code != http.StatusOK {
			return nil, fmt.Errorf("answered %d: %w", code, err)
		}
		answer = got
	} else {
		got, ok := a.links.post(ctx, body)()
		if !ok {
			return nil, fmt.Errorf("the app did not answer")
		}
		answer = got
	}
	var out map[string]any
	if err := json.Unmarshal(answer, &out); err != nil {
		return nil, err
	}
	return out, a.showAnswer(message, out)
}

// showAnswer replaces the card of a message by the one in the app's answer.
func (a *API) showAnswer(message string, out map[string]any) error {
	card, ok := out["card"].(map[string]any)
	if !ok {
		return nil
	}
	raw, err := json.Marshal(card["data"])
	if err != nil {
		return err
	}
	defer a.Signal()
	a.mu.Lock()
	defer a.mu.Unlock()
	shown, no := a.content("interactive", string(raw))
	if no != nil || card["type"] != "raw" {
		return fmt.Errorf("the card of the answer is refused")
	}
	if m := a.messages[message]; m != nil {
		m.Content, m.Text = string(raw), shown
	}
	return nil
}

// Idle reports whether no event is being delivered or due.
func (a *API) Idle() bool {
	return faketest.Get(&a.mu, func() bool { return len(a.push.queue) == 0 && a.push.busy == 0 })
}
