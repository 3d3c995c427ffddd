package host

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/guardian"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/cli"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web"
	"github.com/shipmyagent/shipmyagent/cmd/internal/control"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/cmd/internal/webconsole"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/tokenfile"
)

// socket is what the control socket serves: the host's own routes below /control/, and the terminal chat. Only the
// user of the process can connect to it.
type socket struct {
	host  *Host
	chats atomic.Pointer[http.Handler]
}

// startControl opens the control socket. A failure is only logged, because the bot works without it.
func (h *Host) startControl(ctx context.Context) error {
	h.control = &socket{host: h}
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

func (c *socket) setChats(handler http.Handler) { c.chats.Store(&handler) }

// routes serves the host's own routes, and the terminal chat everywhere else.
func (c *socket) routes() http.Handler {
	mux := c.own(c.host.desk(), "operator")
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { (*c.chats.Load()).ServeHTTP(w, r) })
	return mux
}

// own are the routes below /control/, with the desk that carries out their orders, and who gives them.
func (c *socket) own(desk *query.Desk, by string) *http.ServeMux {
	h := c.host
	return control.Routes(control.Options{
		Status: func(ctx context.Context) any { return h.Status(ctx) },
		Starting: func() bool {
			var s Status
			h.board.fill(&s)
			return s.State == StateStarting
		},
		Desk: desk, Watch: h.watchChat, Metrics: h.registry, Children: h.children, Questions: h.opts.Questions, Orders: h.opts.Orders,
		Own: map[string]http.HandlerFunc{
			"GET /control/tools":  control.Answers(c.offer),
			"GET /control/login":  c.login,
			"POST /control/tasks": c.runTask(by),
			"GET /control/mcp":    c.listMCP,
			"POST /control/mcp":   c.orderMCP,
		},
		By: by, Audit: func(e decision.AuditEntry) {
			e.TS = time.Now()
			h.noted(e)
		},
	})
}

// console is what the web platform serves at /console/.
func (h *Host) console() http.Handler {
	return webconsole.New(webconsole.Options{Control: h.control.own(h.desk().InConsole(), "console"), Project: h.project(), Version: h.opts.Version})
}

// watchChat follows a chat. Any port reaches every chat.
func (h *Host) watchChat(ctx context.Context, key messages.ChatKey) (<-chan platform.Frame, error) {
	if err := query.Present(h.store, key); err != nil {
		return nil, err
	}
	for _, p := range h.ports {
		return p.port.Watch(ctx, key)
	}
	return nil, platform.ErrUnavailable
}

// children are the names of the actors that the guardian supervises.
func (h *Host) children(ctx context.Context) ([]string, error) {
	reply, err := await(ctx, h.system.Root.RequestFuture(h.system.NewLocalPID(guardian.Name), guardian.List{}, askChatFor))
	listed, _ := reply.(guardian.Listed)
	return listed.Names, err
}

// desk answers questions about the chats of this host.
func (h *Host) desk() *query.Desk {
	return query.New(h.opts.State, h.store, h.index, h.preferences, h.log, h.askChat, h.deciders.Named)
}

// askChatFor bounds one question to one chat. The order to delete it has the time of a deletion besides.
const askChatFor = 10 * time.Second

// askChat asks a chat through the router.
func (h *Host) askChat(ctx context.Context, question any) (any, error) {
	within := askChatFor
	if _, deletes := question.(messages.ForgetChat); deletes {
		within += forgetWait
	}
	return await(ctx, h.system.Root.RequestFuture(h.router, question, within))
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
		if s.ViewerToken.Reveal() == token {
			return &Failure{Kind: KindConfig, What: "adapters.web.viewerToken is the token that the host made for its owner", Help: "choose another token for viewers"}
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

func (c *socket) login(w http.ResponseWriter, _ *http.Request) {
	control.JSON(w, http.StatusOK, LoginDocument{By: c.host.login.by, Page: c.host.webAddr})
}
