package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/cli"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/tokenfile"
)

// control is what the control socket serves: the host's own routes below
// /control/, and the terminal chat. Only the user of the process reaches it.
type control struct {
	host  *Host
	chats atomic.Pointer[http.Handler]
}

// startControl opens the control socket. Without it the bot still works, so a
// system that cannot have one only warns.
func (h *Host) startControl(ctx context.Context) error {
	h.control = &control{host: h}
	h.control.setChats(http.NotFoundHandler())
	l, err := cli.Listen(ctx, SocketPath(h.opts.State))
	if err != nil {
		h.log.Warn("sma chat and sma status cannot reach this host", "error", err)
		return nil
	}
	stop := serve(l, h.control.routes(), h.log)
	h.cleanups.add("control socket", func(ctx context.Context) error {
		return errors.Join(os.Remove(SocketPath(h.opts.State)), stop(ctx))
	})
	return nil
}

// question serves GET /control/ask/{what}. It does so while the host starts, too, since
// that is when an operator may ask.
func (c *control) question(w http.ResponseWriter, r *http.Request) {
	answer, ok := c.host.opts.Questions[r.PathValue("what")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	writeJSON(w, http.StatusOK, answer(r.Context()))
}

func (c *control) setChats(handler http.Handler) { c.chats.Store(&handler) }

func (c *control) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /control/status", func(w http.ResponseWriter, r *http.Request) {
		writeJSON(w, http.StatusOK, c.host.Status(r.Context()))
	})
	mux.HandleFunc("GET /control/ask/{what}", c.question)
	d := c.host.desk()
	mux.HandleFunc("GET /control/chats", answers(d.Chats)) // also while the host starts
	for route, handler := range map[string]http.HandlerFunc{
		"GET /control/chat":       answers(d.Chat),
		"GET /control/outbox":     answers(d.Outbox),
		"POST /control/outbox":    obeys(d.Settle),
		"GET /control/approvals":  answers(d.Approvals),
		"POST /control/approvals": obeys(d.Decide),
		"GET /control/grants":     answers(d.Grants),
		"POST /control/grants":    obeys(d.Revoke),
		"POST /control/forget":    obeys(d.Forget),
		"POST /control/rewind":    obeys(d.Rewind),
		"GET /control/search":     answers(d.Search),
		"GET /control/login":      c.login,
		"POST /control/tasks":     c.runTask,
		"GET /control/mcp":        c.listMCP,
		"POST /control/mcp":       c.orderMCP,
	} {
		mux.HandleFunc(route, c.started(handler))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { (*c.chats.Load()).ServeHTTP(w, r) })
	return mux
}

// desk answers about the chats of this host.
func (h *Host) desk() *query.Desk {
	return query.New(h.opts.State, h.store, h.index, h.askChat)
}

// askChatFor bounds one question to one chat.
const askChatFor = 10 * time.Second

// askChat asks a chat through the router.
func (h *Host) askChat(ctx context.Context, question any) (any, error) {
	return await(ctx, h.system.Root.RequestFuture(h.router, question, askChatFor))
}

// started keeps a route closed until everything is built: the socket is there
// before the platforms are.
func (c *control) started(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var s Status
		if c.host.board.fill(&s); s.State == StateStarting {
			refuse(w, http.StatusServiceUnavailable, errors.New("the host is still starting"))
			return
		}
		next(w, r)
	}
}

// answers serves what a desk answers to a question: about the chat named key, or about all
// chats.
func answers[T any](answer func(context.Context, query.Asked) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		params := r.URL.Query()
		q := query.Asked{Words: params.Get("q")}
		q.Limit, _ = strconv.Atoi(params.Get("limit")) // without one, the default
		if text := params.Get("key"); text != "" {
			var err error
			if q.ChatKey, err = messages.ParseChatKey(text); err != nil {
				refuse(w, http.StatusBadRequest, err)
				return
			}
		}
		doc, err := answer(r.Context(), q)
		reply(w, doc, err)
	}
}

// obeys has a desk carry out the order that a request brings.
func obeys[O query.Order, R any](carryOut func(context.Context, O) (R, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var order O
		err := readOrder(w, r, &order)
		if err == nil {
			_, err = messages.ParseChatKey(string(order.To()))
		}
		if err != nil {
			refuse(w, http.StatusBadRequest, err)
			return
		}
		result, err := carryOut(r.Context(), order)
		reply(w, result, err)
	}
}

func readOrder(w http.ResponseWriter, r *http.Request, order any) error {
	const limit = 64 << 10
	return json.NewDecoder(http.MaxBytesReader(w, r.Body, limit)).Decode(order)
}

func reply(w http.ResponseWriter, doc any, err error) {
	switch {
	case errors.Is(err, platform.ErrNotFound):
		refuse(w, http.StatusNotFound, err)
	case err != nil:
		refuse(w, http.StatusServiceUnavailable, err)
	default:
		writeJSON(w, http.StatusOK, doc)
	}
}

func refuse(w http.ResponseWriter, code int, err error) {
	writeJSON(w, code, map[string]string{"error": err.Error()})
}

// SocketPath is where the control socket of a state folder is.
func SocketPath(state string) string { return filepath.Join(state, "control.sock") }

// LoginBy says how people get into the web page.
type LoginBy string

// The ways into the web page.
const (
	LoginOff     LoginBy = "off"     // there is no page
	LoginOpen    LoginBy = "open"    // everybody on this machine, in the demonstration
	LoginSetting LoginBy = "setting" // with the token of adapters.web.token
	LoginFile    LoginBy = "file"    // with the token that the host made
)

// login is what the web page asks of people.
type login struct {
	by    LoginBy
	token config.Secret // what they show; empty unless by is setting or file
	kept  config.Secret // what the file holds, also when this start does not use it
}

// TokenFile is where a host keeps the token that it made for its web page.
func TokenFile(state string) *tokenfile.File { return tokenfile.In(state) }

// readLogin decides what the web page asks for, and makes a token if none exists. It
// runs after the state folder was locked, so one process at a time makes one.
func (h *Host) readLogin(context.Context) error {
	s, file := h.opts.Settings.Settings.Adapters.Web, TokenFile(h.opts.State)
	// A token of an earlier start is a secret also while it is of no use.
	if kept, err := file.Read(); err == nil {
		h.login.kept = config.NewSecret(kept)
	}
	switch {
	case !s.Enabled || len(h.opts.Only) > 0 && !slices.Contains(h.opts.Only, nameWeb):
		h.login.by = LoginOff
	case !s.Token.IsZero():
		h.login.by, h.login.token = LoginSetting, s.Token
	case h.opts.Open:
		h.login.by = LoginOpen
	default:
		token, err := file.Open()
		if err != nil {
			return &Failure{
				Kind: KindConfig, What: "the token of the web page cannot be used", Why: err,
				Help: fmt.Sprintf("remove %s, and the next start makes a new token; or set adapters.web.token", file.Path()),
			}
		}
		h.login = login{by: LoginFile, token: config.NewSecret(token), kept: config.NewSecret(token)}
	}
	return nil
}

// loginLink is the address that logs a browser in; empty: none is needed, or the
// operator chose the token and knows it.
func (h *Host) loginLink() config.Secret {
	if h.login.by != LoginFile {
		return config.Secret{}
	}
	return config.NewSecret(web.LoginLink(h.webAddr, h.login.token.Reveal()))
}

// LoginDocument says where the web page is and what it asks for. The token itself goes
// through no connection: whoever may have it can read its file.
type LoginDocument struct {
	By   LoginBy `json:"by"`
	Page string  `json:"page,omitempty"`
}

func (c *control) login(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, LoginDocument{By: c.host.login.by, Page: c.host.webAddr})
}
