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

// control is what the control socket serves: the host's own routes below /control/, and the terminal chat. Only the
// user of the process can connect to it.
type control struct {
	host  *Host
	chats atomic.Pointer[http.Handler]
}

// startControl opens the control socket. A failure is only logged, because the bot works without it.
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

// question serves GET /control/ask/{what}, also while the host is starting.
func (c *control) question(w http.ResponseWriter, r *http.Request) {
	answer, ok := c.host.opts.Questions[r.PathValue("what")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	writeJSON(w, http.StatusOK, answer(r.Context(), r.URL.Query().Get("of")))
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
		"GET /control/follow":     c.follow,
		"GET /control/gauges":     c.gauges,
		"GET /control/outbox":     answers(d.Outbox),
		"POST /control/outbox":    obeys(d.Settle),
		"GET /control/approvals":  answers(d.Approvals),
		"POST /control/approvals": obeys(d.Decide),
		"GET /control/grants":     answers(d.Grants),
		"POST /control/grants":    obeys(d.Revoke),
		"POST /control/forget":    obeys(d.Forget),
		"POST /control/rewind":    obeys(d.Rewind),
		"GET /control/search":     answers(d.Search),
		"GET /control/tools":      answers(c.offer),
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

// desk answers questions about the chats of this host.
func (h *Host) desk() *query.Desk {
	return query.New(h.opts.State, h.store, h.index, h.askChat)
}

// askChatFor bounds one question to one chat.
const askChatFor = 10 * time.Second

// askChat asks a chat through the router.
func (h *Host) askChat(ctx context.Context, question any) (any, error) {
	return await(ctx, h.system.Root.RequestFuture(h.router, question, askChatFor))
}

// started refuses requests until the host is built, because the socket opens before the platforms do.
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

// answers serves the answer of a desk to a query, about the chat named by the parameter key or about all chats.
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

// obeys has a desk carry out the order in the body of a request.
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
	LoginOff     LoginBy = "off"     // no page is served
	LoginOpen    LoginBy = "open"    // anyone on this machine, in the demonstration
	LoginSetting LoginBy = "setting" // with the token of adapters.web.token
	LoginFile    LoginBy = "file"    // with the token that the host generated
)

// login is how people log in to the web page.
type login struct {
	by    LoginBy
	token config.Secret // empty unless by is setting or file
	kept  config.Secret // the token in the file, even if this start does not use it
}

// TokenFile is where a host stores the token that it generated for its web page.
func TokenFile(state string) *tokenfile.File { return tokenfile.In(state) }

// readLogin decides how people log in to the web page, and generates a token if needed. It runs after the state
// folder is locked, so that only one process generates one.
func (h *Host) readLogin(context.Context) error {
	s, file := h.opts.Settings.Settings.Adapters.Web, TokenFile(h.opts.State)
	// The token of an earlier start is masked even if it is not used now.
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

// loginLink is the address that logs a browser in. It is empty if no login is needed, or if the operator chose the
// token.
func (h *Host) loginLink() config.Secret {
	if h.login.by != LoginFile {
		return config.Secret{}
	}
	return config.NewSecret(web.LoginLink(h.webAddr, h.login.token.Reveal()))
}

// LoginDocument says where the web page is and how people log in. The token itself is not sent over a connection:
// those who may have it can read its file.
type LoginDocument struct {
	By   LoginBy `json:"by"`
	Page string  `json:"page,omitempty"`
}

func (c *control) login(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, LoginDocument{By: c.host.login.by, Page: c.host.webAddr})
}
