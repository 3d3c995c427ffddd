package telegramtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
)

// BotID and BotName identify the bot of an [API].
const (
	BotID   = 4242
	BotName = "sample_bot"
)

// botToken is the bot's token. Tests check that it appears nowhere else.
const botToken = "4242:CANARY-not-to-be-printed"

// Params are the parameters of a call, whatever encoding they came in.
type Params map[string]any

// Text returns a parameter as text, and an object as JSON.
func (p Params) Text(name string) string {
	switch v := p[name].(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	default:
		b, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return string(b)
	}
}

// Int returns a parameter as a number, or 0 if it is not a number.
func (p Params) Int(name string) int64 {
	n, err := strconv.ParseInt(p.Text(name), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// object returns a parameter that is an object.
func (p Params) object(name string) Params {
	out := Params{}
	dec := json.NewDecoder(strings.NewReader(p.Text(name)))
	dec.UseNumber()
	if dec.Decode(&out) != nil {
		return Params{}
	}
	return out
}

// Call is one call that the fake received, in order of arrival.
type Call struct {
	Method string
	Params Params
	Code   int // of the answer, or 0 if the connection broke
}

// Fault fails calls on purpose.
type Fault = faketest.Fault

// API is a strict fake of the Telegram Bot API on loopback. It is safe for
// concurrent use and is closed with the test.
type API struct {
	faketest.Changes // calls, answers, updates
	faketest.Faults
	polling faketest.Changes // polls that begin to wait
	server  *httptest.Server
	pipe    *faketest.Pipe // where there is no socket
	quit    chan struct{}

	mu      faketest.Guard
	chats   map[int64]*botChat
	nextMsg int64
	pending []queued
	again   []queued // redelivered regardless of the offset
	gathers bool     // updates are held back
	noRich  bool     // the server does not know rich messages
	history map[int64]queued
	nextID  int64
	allowed []string
	poller  chan struct{} // closed when another poll starts
	waiting int
	webhook string
	secret  string   // of the webhook
	limits  *limiter // nil if there are no limits
	calls   []*Call
	files   map[string]*botFile
	pressed map[string]bool // buttons whose press waits for its answer
	largest int             // upload, in bytes
	privacy bool            // the bot gets only the group messages that address it
}

// queued is an update that was not confirmed.
type queued struct {
	id   int64
	body json.RawMessage
}

// NewAPI starts a fake.
func NewAPI(tb testing.TB) *API {
	tb.Helper()
	a := newBotAPI()
	a.server = httptest.NewServer(a)
	tb.Cleanup(func() {
		close(a.quit)
		a.server.CloseClientConnections()
		a.server.Close()
	})
	return a
}

func newBotAPI() *API {
	return &API{quit: make(chan struct{}), chats: map[int64]*botChat{}, nextMsg: 100, history: map[int64]queued{}, nextID: 1000, pressed: map[string]bool{}, largest: maxUpload}
}

// URL is the root to give to a platform.
func (a *API) URL() string {
	if a.server == nil {
		return "http://bot.invalid"
	}
	return a.server.URL
}

// Token is the one token that the fake accepts.
func (a *API) Token() string { return botToken }

// Calls returns the calls of a method, or all with an empty name.
func (a *API) Calls(method string) []Call {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []Call
	for _, c := range a.calls {
		if method == "" || c.Method == method {
			out = append(out, *c)
		}
	}
	return out
}

// AwaitCalls waits until a method was called n times.
func (a *API) AwaitCalls(tb testing.TB, method string, n int) []Call {
	tb.Helper()
	a.Await(tb, fmt.Sprintf("%d calls of %s", n, method), func() bool { return len(a.Calls(method)) >= n })
	return a.Calls(method)
}

// AwaitPoller waits until a poll is in progress that has no updates to return.
func (a *API) AwaitPoller(tb testing.TB) {
	tb.Helper()
	a.polling.Await(tb, "a poll under way", func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.waiting > 0
	})
}

// refused is an answer that is not a result.
type refused struct {
	code  int
	text  string
	retry int
	moved int64
}

func badRequest(format string, args ...any) *refused {
	return &refused{code: http.StatusBadRequest, text: "Bad Request: " + fmt.Sprintf(format, args...)}
}

// ServeHTTP implements [http.Handler].
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/file/bot") {
		a.serveFile(w, r)
		return
	}
	token, method, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/bot"), "/")
	if !ok || r.Method != http.MethodPost {
		a.answer(w, nil, nil, &refused{code: http.StatusNotFound, text: "Not Found"})
		return
	}
	if token != botToken {
		a.answer(w, nil, nil, &refused{code: http.StatusUnauthorized, text: "Unauthorized"})
		return
	}
	params, err := readParams(r)
	c := &Call{Method: method, Params: params}
	a.mu.Lock()
	a.calls = append(a.calls, c)
	fault := a.fault(method, params)
	if limited := a.limits != nil && (strings.HasPrefix(method, "send") && method != "sendChatAction" || method == "editMessageText"); limited {
		a.limits.before(params.Int("chat_id"))
		if fault != nil && fault.RetryAfter > 0 {
			a.limits.told(params.Int("chat_id"), fault.RetryAfter)
		}
	}
	a.mu.Unlock()
	a.Signal()
	if err != nil {
		a.answer(w, c, nil, badRequest("can't parse request: %v", err))
		return
	}
	if fault != nil && a.play(w, r, c, fault) {
		return
	}
	result, no := a.dispatch(r, c)
	if fault != nil && fault.Kind == faketest.ResetAfter {
		faketest.Reset(w)
		return
	}
	a.answer(w, c, result, no)
}

func (a *API) fault(method string, p Params) *Fault {
	return a.Take(func(f *Fault) bool {
		return (f.Method == "" || f.Method == method) && (f.Chat == 0 || f.Chat == p.Int("chat_id"))
	})
}

func (a *API) play(w http.ResponseWriter, r *http.Request, c *Call, f *Fault) bool {
	return f.Play(w, r, f.Code, a.quit, func() {
		a.answer(w, c, nil, &refused{code: f.Code, text: f.Text, retry: f.RetryAfter, moved: f.MoveTo})
	})
}

func (a *API) answer(w http.ResponseWriter, c *Call, result any, no *refused) {
	code, body := http.StatusOK, map[string]any{"ok": true, "result": result}
	if no != nil {
		code = no.code
		body = map[string]any{"ok": false, "error_code": no.code, "description": no.text}
		extra := map[string]any{}
		if no.retry > 0 {
			extra["retry_after"] = no.retry
		}
		if no.moved != 0 {
			extra["migrate_to_chat_id"] = no.moved
		}
		if len(extra) > 0 {
			body["parameters"] = extra
		}
	}
	if c != nil {
		a.mu.Do(func() { c.Code = code })
		defer a.Signal()
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // the caller may have left
}

// readParams reads JSON or a multipart form; files become their content.
func readParams(r *http.Request) (Params, error) {
	p := Params{}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return p, err
	}
	switch kind {
	case "application/json":
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return p, err
		}
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		return p, dec.Decode(&p)
	case "multipart/form-data":
		return p, readForm(r, p)
	}
	return p, fmt.Errorf("content type %s", kind)
}

func readForm(r *http.Request, p Params) error {
	form, err := r.MultipartReader()
	if err != nil {
		return err
	}
	for {
		part, err := form.NextPart()
		if err == io.EOF { //nolint:errorlint // as documented
			return nil
		}
		if err != nil {
			return err
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return err
		}
		p[part.FormName()] = string(content)
		if part.FileName() != "" {
			p["file_name"] = part.FileName()
		}
	}
}

// chatActions are the valid actions of sendChatAction.
const chatActions = "typing upload_photo record_video upload_video record_voice upload_voice upload_document choose_sticker find_location record_video_note upload_video_note"

// setCommands checks a list of commands as the service does.
func setCommands(p Params) (any, *refused) {
	var list []struct{ Command, Description string }
	if json.Unmarshal([]byte(p.Text("commands")), &list) != nil || len(list) > 100 {
		return nil, badRequest("BOT_COMMANDS_TOO_MUCH")
	}
	for _, c := range list {
		if c.Command == "" || len(c.Command) > 32 || strings.Trim(c.Command, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
			return nil, badRequest("BOT_COMMAND_INVALID")
		}
		if c.Description == "" || len([]rune(c.Description)) > 256 {
			return nil, badRequest("BOT_COMMAND_DESCRIPTION_INVALID")
		}
	}
	return true, nil
}

// dispatch answers a call that no fault has failed.
func (a *API) dispatch(r *http.Request, c *Call) (any, *refused) {
	if c.Method == "getUpdates" {
		return a.getUpdates(r.Context(), c.Params)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch c.Method {
	case "getMe":
		return map[string]any{"id": BotID, "is_bot": true, "first_name": "Sample", "username": BotName, "can_read_all_group_messages": !a.privacy}, nil
	case "setMyCommands":
		return setCommands(c.Params)
	case "getWebhookInfo":
		return map[string]any{"url": a.webhook, "has_custom_certificate": false, "pending_update_count": len(a.pending)}, nil
	case "deleteWebhook":
		a.webhook, a.secret = "", ""
		return true, nil
	case "setWebhook":
		return a.setWebhook(c.Params)
	case "sendMessage", "sendRichMessage":
		return a.sendText(c)
	case "sendPhoto", "sendDocument", "sendVoice", "sendAudio", "sendVideo":
		if no := a.checkUpload(strings.ToLower(strings.TrimPrefix(c.Method, "send")), c.Params); no != nil {
			return nil, no
		}
		return a.send(c.Params, "caption", 1024)
	case "editMessageText":
		return a.edit(c.Params)
	case "setMessageReaction":
		return a.react(c.Params)
	case "sendMessageDraft":
		return a.draft(c.Params)
	case "getFile":
		return a.getFile(c.Params)
	case "editMessageReplyMarkup":
		return a.editButtons(c.Params)
	case "answerCallbackQuery":
		return a.answerPress(c.Params)
	case "getChatAdministrators":
		return a.administrators(c.Params)
	case "sendChatAction":
		if !slices.Contains(strings.Fields(chatActions), c.Params.Text("action")) {
			return nil, badRequest("wrong parameter action in request")
		}
		_, no := a.chatFor(c.Params)
		return no == nil, no
	}
	return nil, &refused{code: http.StatusNotFound, text: "Not Found: method not found"}
}

// SetWebhook sets a webhook, as another program with the token would.
func (a *API) SetWebhook(url string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.webhook = url
	a.stopPoller()
}

// Webhook is the webhook that is set.
func (a *API) Webhook() string { return faketest.Get(&a.mu, func() string { return a.webhook }) }

// Pending is how many updates are not confirmed.
func (a *API) Pending() int { return faketest.Get(&a.mu, func() int { return len(a.pending) }) }

func (a *API) isAllowed(kind string) bool {
	if len(a.allowed) == 0 { // all kinds except those that must be requested
		return !slices.Contains([]string{"chat_member", "message_reaction", "message_reaction_count"}, kind)
	}
	return slices.Contains(a.allowed, kind)
}

// Client calls the fake without a socket.
func (a *API) Client() *http.Client { return a.pipe.Client() }

// Away makes the fake unreachable for its Client, or reachable again.
func (a *API) Away(on bool) {
	a.pipe.Away(on)
	if on {
		a.mu.Do(a.stopPoller)
	}
	a.Signal()
}

// NewAPIInProcess is a fake without a socket, which works where time is simulated. Only [API.Client] reaches it.
func NewAPIInProcess(tb testing.TB) *API {
	tb.Helper()
	a := newBotAPI()
	a.pipe = faketest.Serve(tb, a)
	tb.Cleanup(func() { close(a.quit) })
	return a
}
