package control

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Options are what the routes answer from. All are required.
type Options struct {
	// Status returns the host's status, also while it starts.
	Status func(context.Context) any
	// Starting reports whether most routes do not work yet.
	Starting func() bool
	Desk     *query.Desk
	// Watch follows a chat until ctx ends or the chat is passivated. It fails if there is no such chat.
	Watch   func(ctx context.Context, key messages.ChatKey) (<-chan platform.Frame, error)
	Metrics prometheus.Gatherer
	// Children returns the names of the actors that the guardian supervises.
	Children func(context.Context) ([]string, error)
	// Questions are answered by name. of is the part that is asked about.
	Questions map[string]func(ctx context.Context, of string) any
	// Orders are carried out by name. The body of the request is the order.
	Orders map[string]func(ctx context.Context, order []byte) (any, error)
	// Own are further routes of the host, which work once it has started.
	Own map[string]http.HandlerFunc
	// By is who gives the orders. Audit is called with each of them, without its time.
	By    string
	Audit func(decision.AuditEntry)
}

// Routes serves everything below /control/.
func Routes(o Options) *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /control/status", func(w http.ResponseWriter, r *http.Request) { JSON(w, http.StatusOK, o.Status(r.Context())) })
	mux.HandleFunc("GET /control/ask/{what}", o.question)
	mux.HandleFunc("GET /control/chats", Answers(o.Desk.Chats)) // also while the host starts
	for _, routes := range []map[string]http.HandlerFunc{o.Own, {
		"GET /control/chat":       Answers(o.Desk.Chat),
		"GET /control/follow":     o.follow,
		"GET /control/gauges":     o.gauges,
		"GET /control/outbox":     Answers(o.Desk.Outbox),
		"POST /control/outbox":    obeys(o.Desk.Settle),
		"GET /control/approvals":  Answers(o.Desk.Approvals),
		"POST /control/approvals": obeys(o.Desk.Decide),
		"GET /control/grants":     Answers(o.Desk.Grants),
		"POST /control/grants":    obeys(o.Desk.Revoke),
		"POST /control/forget":    obeys(o.Desk.Forget),
		"POST /control/rewind":    obeys(o.Desk.Rewind),
		"GET /control/search":     Answers(o.Desk.Search),
		"GET /control/contexts":   Answers(o.Desk.Contexts),
		"GET /control/actors":     o.actors,
		"POST /control/pause":     obeys(o.Desk.Pause),
		"POST /control/unload":    obeys(o.Desk.Unload),
	}} {
		for route, handler := range routes {
			if name, ok := strings.CutPrefix(route, "POST /control/"); ok {
				handler = o.recorded(name, handler)
			}
			mux.HandleFunc(route, o.started(handler))
		}
	}
	for name, carryOut := range o.Orders {
		mux.HandleFunc("POST /control/"+name, o.started(o.recorded(name, ordered(carryOut))))
	}
	return mux
}

// Within is how long a client waits for the answer of a route, by its path: longer than the host may take for it.
func Within(path string) time.Duration {
	switch what := strings.TrimPrefix(path, "/control/"); {
	case what == "mcp" || what == "search": // a server's packages are downloaded; the first search reads all chats
		return 6 * time.Minute
	case what == "forget" || strings.HasPrefix(what, "ask/"): // services may be asked
		return 150 * time.Second
	default:
		return 30 * time.Second
	}
}

// question serves GET /control/ask/{what}, also while the host is starting.
func (o Options) question(w http.ResponseWriter, r *http.Request) {
	answer, ok := o.Questions[r.PathValue("what")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	JSON(w, http.StatusOK, answer(r.Context(), r.URL.Query().Get("of")))
}

// started refuses requests until the host is built, because the socket opens before the platforms do.
func (o Options) started(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if o.Starting() {
			Refuse(w, http.StatusServiceUnavailable, errors.New("the host is still starting"))
			return
		}
		next(w, r)
	}
}

// gauges serves GET /control/gauges: the current values of the metrics that are gauges without labels.
func (o Options) gauges(w http.ResponseWriter, _ *http.Request) {
	all, err := o.Metrics.Gather()
	out := map[string]float64{}
	for _, family := range all {
		for _, m := range family.GetMetric() {
			if m.GetGauge() != nil && len(m.GetLabel()) == 0 {
				out[family.GetName()] = m.GetGauge().GetValue()
			}
		}
	}
	Reply(w, out, err)
}

// actors serves GET /control/actors: the tree of actors as it is.
func (o Options) actors(w http.ResponseWriter, r *http.Request) {
	doc, err := o.Desk.Actors(r.Context())
	if err == nil {
		doc.Actors, err = o.Children(r.Context())
	}
	if err == nil {
		doc.Panics, err = panics(o.Metrics)
	}
	Reply(w, doc, err)
}

// panics are the panics of actors by their kind.
func panics(metrics prometheus.Gatherer) (map[string]int64, error) {
	all, err := metrics.Gather()
	out := map[string]int64{}
	for _, family := range all {
		if family.GetName() != "sma_actor_panics_total" {
			continue
		}
		for _, m := range family.GetMetric() {
			for _, l := range m.GetLabel() {
				out[l.GetValue()] = int64(m.GetCounter().GetValue())
			}
		}
	}
	return out, err
}

// JSON responds with a document.
func JSON(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // a client that disconnected needs no answer
}

// Refuse responds with an error.
func Refuse(w http.ResponseWriter, code int, err error) {
	JSON(w, code, map[string]string{"error": err.Error()})
}

// Reply responds with a document, or with the error that prevented it.
func Reply(w http.ResponseWriter, doc any, err error) {
	switch {
	case errors.Is(err, platform.ErrNotFound):
		Refuse(w, http.StatusNotFound, err)
	case err != nil:
		Refuse(w, http.StatusServiceUnavailable, err)
	default:
		JSON(w, http.StatusOK, doc)
	}
}

// ReadOrder reads the body of a request.
func ReadOrder(w http.ResponseWriter, r *http.Request, order any) error {
	return json.NewDecoder(http.MaxBytesReader(w, r.Body, maxOrder)).Decode(order)
}

// Answers serves the answer of a desk to a query, about the chat named by the parameter key or about all chats.
func Answers[T any](answer func(context.Context, query.Asked) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		params := r.URL.Query()
		q := query.Asked{Words: params.Get("q")}
		q.Limit, _ = strconv.Atoi(params.Get("limit")) // without one, the default
		if text := params.Get("key"); text != "" {
			var err error
			if q.ChatKey, err = messages.ParseChatKey(text); err != nil {
				Refuse(w, http.StatusBadRequest, err)
				return
			}
		}
		doc, err := answer(r.Context(), q)
		Reply(w, doc, err)
	}
}

// obeys has a desk carry out the order to a chat in the body of a request.
func obeys[O, R any](carryOut func(context.Context, O) (R, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body json.RawMessage
		var order O
		var to subject
		err := ReadOrder(w, r, &body)
		if err == nil {
			err = json.Unmarshal(body, &order)
		}
		if err == nil {
			_ = json.Unmarshal(body, &to) // what it cannot read, the order could
			_, err = messages.ParseChatKey(string(to.ChatKey))
		}
		if err != nil {
			Refuse(w, http.StatusBadRequest, err)
			return
		}
		result, err := carryOut(r.Context(), order)
		Reply(w, result, err)
	}
}

// ordered has an order carried out that is about no chat.
func ordered(carryOut func(ctx context.Context, order []byte) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var order json.RawMessage
		if err := ReadOrder(w, r, &order); err != nil {
			Refuse(w, http.StatusBadRequest, err)
			return
		}
		result, err := carryOut(r.Context(), order)
		if err != nil {
			Refuse(w, http.StatusConflict, err)
			return
		}
		JSON(w, http.StatusOK, result)
	}
}
