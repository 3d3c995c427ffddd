package feishutest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
)

// The credentials of the app. Tests check that the word CANARY appears nowhere else.
const (
	App           = "cli_a0123456789abcde"
	Bot           = "ou_bot0000000000000000000000000001"
	feishuSecret  = "CANARY-app-secret"
	feishuEncrypt = "CANARY-encrypt-key"
	feishuVerify  = "CANARY-verification-token"
)

// feishuTokenLife is how long a token is valid, as on the real service.
const feishuTokenLife = 2 * time.Hour

// API is a strict fake of the Feishu open platform on loopback: tokens,
// messages, files and events. It refuses what the service refuses, and fails on
// purpose. It is safe for concurrent use and is closed with the test.
type API struct {
	faketest.Changes
	faketest.Faults
	server  *httptest.Server // nil if the fake has no socket
	handler http.Handler
	pipe    *faketest.Pipe  // used instead of a socket
	life    context.Context //nolint:containedctx // of the fake
	end     context.CancelFunc
	work    sync.WaitGroup

	mu       faketest.Guard
	shift    time.Duration // of the clock
	newest   time.Time     // of the newest message
	tokens   map[string]time.Time
	chats    map[string]*feishuChat
	messages map[string]*Message
	uuids    map[string]feishuUse
	files    map[string]bool // keys of what was uploaded
	cards    map[string]*feishuCard
	forwards map[string][]*Message // the messages that a forwarded one contains, by its id
	held     map[string][]byte     // files that people sent, by message, type and key
	names    map[string]string     // of people, by open id
	refused  map[string]bool       // scopes that the app does not have
	rates    map[string][]time.Time
	nextID   int64
	calls    []Call
	trap     *feishuTrap
	push     feishuPush
	links    feishuLinks
}

// Call is one call that the fake received, in order of arrival.
type Call struct {
	Method, Path string
	Body         map[string]any
	Code         int // of the answer, or -1 if the connection broke
}

type feishuChat struct {
	id, kind string
	member   bool
	owner    string
	managers []string
	sent     []*Message
}

// Message is a message of the bot.
type Message struct {
	ID, Chat, Kind string
	Text           string // what people see of it
	Content        string // as it was sent
	Parent         string
	Thread         string // empty if it is in no thread
	Streaming      bool   // a card that is still being written
	ours           bool
	card           *feishuCard // set if the card is changed by its own id
	deleted        bool
	children       []*Message // of a message that contains forwarded ones
	from           string     // open id of the person who wrote it, if any
	made           time.Time
}

type feishuUse struct {
	message string
	at      time.Time
}

// Fault fails calls on purpose.
type Fault = faketest.Fault

// feishuRefusal is an answer with an error code.
type feishuRefusal struct {
	status, code int
	text         string
	reset        int
	scopes       []string // one of which the app would need
}

func feishuNo(code int, text string) *feishuRefusal {
	return &feishuRefusal{status: http.StatusBadRequest, code: code, text: text}
}

// NewAPI starts a fake.
func NewAPI(tb testing.TB) *API {
	tb.Helper()
	a := newFeishuAPI()
	a.server = httptest.NewServer(a.handler)
	a.push.client = &http.Client{Transport: &http.Transport{}}
	a.work.Go(a.deliver)
	tb.Cleanup(func() {
		a.end()
		a.links.closeAll()
		a.server.CloseClientConnections()
		a.server.Close()
		a.push.client.CloseIdleConnections()
		a.work.Wait()
	})
	return a
}

func newFeishuAPI() *API {
	a := &API{
		tokens: map[string]time.Time{}, chats: map[string]*feishuChat{}, messages: map[string]*Message{},
		uuids: map[string]feishuUse{}, files: map[string]bool{}, cards: map[string]*feishuCard{}, held: map[string][]byte{}, forwards: map[string][]*Message{},
		names: map[string]string{}, refused: map[string]bool{}, rates: map[string][]time.Time{},
	}
	a.life, a.end = context.WithCancel(context.Background())
	a.push.more = make(chan struct{}, 1)
	a.handler = a.routes()
	return a
}

// URL is the root to give to a platform.
func (a *API) URL() string {
	if a.server == nil {
		return "http://feishu.invalid"
	}
	return a.server.URL
}

// Secret is the app's.
func (a *API) Secret() string { return feishuSecret }

// EncryptKey is what events are encrypted and signed with.
func (a *API) EncryptKey() string { return feishuEncrypt }

// VerificationToken is what events carry.
func (a *API) VerificationToken() string { return feishuVerify }

// Now is the time of the fake, which [API.Advance] moves.
func (a *API) Now() time.Time { return faketest.Get(&a.mu, func() time.Time { return a.now() }) }

func (a *API) now() time.Time { return time.Now().Add(a.shift) }

// sent returns the time of a new message. Each has a later one than the message before it: what a person writes after
// reading a message is never of the same millisecond.
func (a *API) sent() time.Time {
	t := a.now().Truncate(time.Millisecond)
	if !t.After(a.newest) {
		t = a.newest.Add(time.Millisecond)
	}
	a.newest = t
	return t
}

// AddChat makes a chat that the bot is in; kind is p2p, group or topic_group.
func (a *API) AddChat(id, kind string) {
	a.mu.Do(func() { a.chats[id] = &feishuChat{id: id, kind: kind, member: true} })
}

// Kick takes the bot out of a chat.
func (a *API) Kick(chat string) { a.mu.Do(func() { a.chats[chat].member = false }) }

// Sent returns the bot's messages in a chat, in order.
func (a *API) Sent(chat string) []Message {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []Message
	if c := a.chats[chat]; c != nil {
		for _, m := range c.sent {
			if m.deleted {
				continue
			}
			shown := *m
			if m.card != nil {
				shown.Text, _, _ = walkCard(m.card.content)
				shown.Streaming = m.card.streaming
			}
			out = append(out, shown)
		}
	}
	return out
}

// Calls returns the calls whose path contains a text.
func (a *API) Calls(path string) []Call {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []Call
	for _, c := range a.calls {
		if strings.Contains(c.Path, path) {
			out = append(out, c)
		}
	}
	return out
}

// Trap runs fire once, at the next call whose path contains a text: when the call arrives, or, if after is set, between
// its effect and its answer.
func (a *API) Trap(path string, after bool, fire func()) {
	a.mu.Do(func() { a.trap = &feishuTrap{path: path, after: after, fire: fire} })
}

type feishuTrap struct {
	path  string
	after bool
	fire  func()
}

// spring fires the trap if it matches.
func (a *API) spring(path string, after bool) {
	a.mu.Lock()
	t := a.trap
	if t == nil || t.after != after || !strings.Contains(path, t.path) {
		a.mu.Unlock()
		return
	}
	a.trap = nil
	a.mu.Unlock()
	t.fire()
}

// ExpireTokens makes all issued tokens invalid.
func (a *API) ExpireTokens() { a.mu.Do(func() { clear(a.tokens) }) }

// ServeHTTP implements [http.Handler].
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.handler.ServeHTTP(w, r) }

func (a *API) routes() http.Handler {
	mux := http.NewServeMux()
	add := func(pattern string, open bool, do func(*http.Request, map[string]any) (any, *feishuRefusal)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { a.serve(w, r, open, do) })
	}
	add("POST /open-apis/auth/v3/tenant_access_token/internal", true, a.giveToken)
	add("GET /open-apis/bot/v3/info", false, a.botInfo)
	add("POST /open-apis/im/v1/messages", false, a.createMessage)
	add("POST /open-apis/im/v1/messages/{id}/reply", false, a.replyMessage)
	add("PATCH /open-apis/im/v1/messages/{id}", false, a.patchMessage)
	add("GET /open-apis/im/v1/messages/{id}", false, a.readMessage)
	add("DELETE /open-apis/im/v1/messages/{id}", false, a.deleteMessage)
	add("GET /open-apis/im/v1/messages/{id}/resources/{key}", false, a.readResource)
	add("GET /open-apis/im/v1/chats/{id}", false, a.readChat)
	add("POST /open-apis/contact/v3/users/basic_batch", false, a.readNames)
	add("GET /open-apis/application/v6/scopes", false, a.listScopes)
	add("POST /open-apis/im/v1/images", false, a.uploadImage)
	add("POST /open-apis/im/v1/files", false, a.uploadFile)
	add("POST /open-apis/cardkit/v1/cards", false, a.createCard)
	add("POST /open-apis/cardkit/v1/cards/id_convert", false, a.convertCard)
	add("PUT /open-apis/cardkit/v1/cards/{id}/elements/{element}/content", false, a.writeCard)
	add("PATCH /open-apis/cardkit/v1/cards/{id}/settings", false, a.setCard)
	a.addLinks(mux, add)
	return mux
}

// serve handles one call: it plays an armed fault, checks the token and calls do.
func (a *API) serve(w http.ResponseWriter, r *http.Request, open bool, do func(*http.Request, map[string]any) (any, *feishuRefusal)) {
	body, no := readFeishu(r)
	a.spring(r.URL.Path, false)
	a.mu.Lock()
	f := a.Take(func(f *Fault) bool { return strings.Contains(r.URL.Path, f.Path) })
	call := Call{Method: r.Method, Path: r.URL.Path, Body: body, Code: -1}
	if f != nil && f.Kind != faketest.ResetAfter {
		if f.Kind == faketest.Refuse {
			call.Code = f.Code
		}
		a.calls = append(a.calls, call)
		a.mu.Unlock()
		a.Signal()
		f.Play(w, r, f.Status, a.life.Done(), func() {
			answerFeishu(w, nil, &feishuRefusal{status: f.Status, code: f.Code, text: f.Text, reset: f.RetryAfter})
		})
		return
	}
	var out any
	if no == nil && !open {
		no = a.checkToken(r)
	}
	if no == nil {
		no = a.checkScope(r)
	}
	if no == nil {
		out, no = do(r, body)
	}
	call.Code = 0
	if no != nil {
		call.Code = no.code
	}
	if f != nil {
		call.Code = -1
	}
	a.calls = append(a.calls, call)
	a.mu.Unlock()
	a.Signal()
	a.spring(r.URL.Path, true)
	if f != nil {
		faketest.Reset(w)
		return
	}
	answerFeishu(w, out, no)
}

// readFeishu reads a JSON body, or a form with the sizes of its files.
func readFeishu(r *http.Request) (map[string]any, *feishuRefusal) {
	if r.Method == http.MethodGet || r.Method == http.MethodDelete {
		return nil, nil
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	body := map[string]any{}
	switch {
	case err == nil && kind == "multipart/form-data":
		if r.ParseMultipartForm(64<<20) != nil {
			return nil, feishuNo(234001, "Invalid request param.")
		}
		for k, v := range r.MultipartForm.Value {
			body[k] = v[0]
		}
		for k, v := range r.MultipartForm.File {
			body[k] = float64(v[0].Size)
		}
	case err == nil && kind == "application/json":
		raw, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, 1<<20))
		if err != nil || json.Unmarshal(raw, &body) != nil {
			return nil, feishuNo(9499, "Bad Request")
		}
	default:
		return nil, feishuNo(9499, "Bad Request: Content-Type is not application/json")
	}
	return body, nil
}

func answerFeishu(w http.ResponseWriter, out any, no *feishuRefusal) {
	if raw, ok := out.(feishuRaw); ok && no == nil {
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Disposition", `attachment; filename="../../CANARY.sh"`) // the host must not use this name
		_, _ = w.Write(raw)
		return
	}
	answer := map[string]any{"code": 0, "msg": "success"}
	status := http.StatusOK
	switch top, ok := out.(feishuTop); {
	case no != nil:
		status = no.status
		answer["code"], answer["msg"] = no.code, no.text
		if no.scopes != nil {
			answer["error"] = map[string]any{"permission_violations": violations(no.scopes)}
		}
		if no.reset > 0 {
			w.Header().Set("X-Ogw-Ratelimit-Reset", strconv.Itoa(no.reset))
		}
	case ok:
		maps.Copy(answer, top)
	default:
		answer["data"] = out
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer)
}

// feishuTop are members at the top level of an answer, where older calls return their results.
type feishuTop map[string]any

func (a *API) checkToken(r *http.Request) *feishuRefusal {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || token == "" {
		return feishuNo(99991661, "Missing access token for authorization. Please make a request with token attached.")
	}
	if until, ok := a.tokens[token]; !ok || !a.now().Before(until) {
		return feishuNo(99991663, "Invalid access token for authorization. Please make a request with token attached.")
	}
	return nil
}

func (a *API) giveToken(_ *http.Request, body map[string]any) (any, *feishuRefusal) {
	switch {
	case body["app_id"] != App:
		return nil, &feishuRefusal{status: http.StatusOK, code: 10003, text: "invalid param"}
	case body["app_secret"] != feishuSecret:
		return nil, &feishuRefusal{status: http.StatusOK, code: 10014, text: "app secret invalid"}
	}
	token := "t-CANARY-" + a.newID("")
	a.tokens[token] = a.now().Add(feishuTokenLife)
	return feishuTop{"msg": "ok", "tenant_access_token": token, "expire": int(feishuTokenLife.Seconds())}, nil
}

func (a *API) botInfo(*http.Request, map[string]any) (any, *feishuRefusal) {
	return feishuTop{"msg": "ok", "bot": map[string]any{"activate_status": 2, "app_name": "Sample", "open_id": Bot}}, nil
}

func (a *API) newID(prefix string) string {
	a.nextID++
	return fmt.Sprintf("%s%032x", prefix, a.nextID)
}
