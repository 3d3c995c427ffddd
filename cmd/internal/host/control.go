package host

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/cli"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
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
	mux.HandleFunc("GET /control/chats", c.list)
	mux.HandleFunc("GET /control/chat", c.started(c.show))
	mux.HandleFunc("GET /control/login", c.started(c.login))
	mux.HandleFunc("GET /control/outbox", c.started(c.outbox))
	mux.HandleFunc("POST /control/outbox", c.started(c.settle))
	mux.HandleFunc("GET /control/approvals", c.started(c.approvals))
	mux.HandleFunc("POST /control/approvals", c.started(c.decide))
	mux.HandleFunc("GET /control/grants", c.started(func(w http.ResponseWriter, r *http.Request) { serveList(c, w, r, c.host.grants) }))
	mux.HandleFunc("POST /control/grants", c.started(func(w http.ResponseWriter, r *http.Request) { serveOrder(c, w, r, c.host.revoke) }))
	mux.HandleFunc("POST /control/forget", c.started(c.forget))
	mux.HandleFunc("POST /control/rewind", c.started(c.rewind))
	mux.HandleFunc("GET /control/search", c.started(c.search))
	mux.HandleFunc("POST /control/tasks", c.started(c.runTask))
	mux.HandleFunc("GET /control/mcp", c.started(c.listMCP))
	mux.HandleFunc("POST /control/mcp", c.started(c.orderMCP))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { (*c.chats.Load()).ServeHTTP(w, r) })
	return mux
}

// started keeps a route closed until everything is built: the socket is there
// before the platforms are.
func (c *control) started(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var s Status
		if c.host.board.fill(&s); s.State == StateStarting {
			writeJSON(w, http.StatusServiceUnavailable, map[string]string{"error": "the host is still starting"})
			return
		}
		next(w, r)
	}
}

// ChatLine is one chat of a list.
type ChatLine struct {
	ChatKey   messages.ChatKey `json:"chatKey"`
	UpdatedAt time.Time        `json:"updatedAt,omitzero"`
}

// ChatDocument is one chat with its messages.
type ChatDocument struct {
	ChatKey  messages.ChatKey    `json:"chatKey"`
	Running  bool                `json:"running"`
	Counts   platform.Counts     `json:"counts"`
	Messages []uimessage.Message `json:"messages"`
	Waiting  []uimessage.Message `json:"waiting,omitempty"`
}

func (c *control) list(w http.ResponseWriter, r *http.Request) {
	lines, err := ListChats(r.Context(), c.host.store)
	if err != nil {
		writeJSON(w, http.StatusInternalServerError, map[string]string{"error": err.Error()})
		return
	}
	writeJSON(w, http.StatusOK, lines)
}

func (c *control) show(w http.ResponseWriter, r *http.Request) {
	key, err := messages.ParseChatKey(r.URL.Query().Get("key"))
	if err != nil {
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	doc, err := c.host.chat(r.Context(), key)
	switch {
	case errors.Is(err, platform.ErrNotFound):
		writeJSON(w, http.StatusNotFound, map[string]string{"error": err.Error()})
	case err != nil:
		writeJSON(w, http.StatusServiceUnavailable, map[string]string{"error": err.Error()})
	default:
		writeJSON(w, http.StatusOK, doc)
	}
}

// chat asks a chat's actor for its view.
func (h *Host) chat(ctx context.Context, key messages.ChatKey) (ChatDocument, error) {
	for _, p := range h.ports { // any way to the router does
		view, err := p.port.History(ctx, key)
		if err != nil {
			return ChatDocument{}, err
		}
		if view.Counts.Accepted == 0 && len(view.Messages) == 0 {
			return ChatDocument{}, platform.ErrNotFound
		}
		return ChatDocument{
			ChatKey: key, Running: view.Running, Counts: view.Counts, Messages: slices.Concat([]uimessage.Message{}, view.Messages), Waiting: view.Waiting,
		}, nil
	}
	return ChatDocument{}, platform.ErrUnavailable
}

// newestFirst orders chats by their last change.
func newestFirst(a, b ChatLine) int {
	return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(a.ChatKey, b.ChatKey))
}
