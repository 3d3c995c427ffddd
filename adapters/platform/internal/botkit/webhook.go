package botkit

import (
	"context"
	"encoding/json"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/bodies"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/unused"
)

const (
	// maxHooks is the number of webhook events processed concurrently, not counting the reading of
	// their bodies. Telegram sends 40 in parallel by default.
	maxHooks = 128
	// hookStop is the time limit for requests in progress when the receiver ends.
	hookStop = 5 * time.Second
)

// Hook serves the requests with which a service posts events. It speaks plain HTTP: a proxy in
// front of it faces the network and speaks TLS.
type Hook struct {
	path   string
	counts *prometheus.CounterVec // requests, by status
	handle func(w http.ResponseWriter, r *http.Request) (answer any, code int)
	bodies bodies.Reader
	slots  chan struct{}
}

// NewHook serves a path. handle returns the status of a request and, with 200, the JSON answer; nil
// is an empty answer. handle has to check who sends the request.
func NewHook(path string, counts *prometheus.CounterVec, handle func(http.ResponseWriter, *http.Request) (any, int)) *Hook {
	return &Hook{path: path, counts: counts, handle: handle, slots: make(chan struct{}, maxHooks)}
}

// Serve accepts requests until stop is called. If the listener ends earlier, served receives the
// error.
func (h *Hook) Serve(ctx context.Context, l net.Listener, log *slog.Logger) (served <-chan error, stop func()) {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	ahead := unused.Of(server)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	return ended, func() {
		ahead.Close()
		short, cancel := context.WithTimeout(context.WithoutCancel(ctx), hookStop)
		defer cancel()
		if server.Shutdown(short) != nil {
			_ = server.Close() // unanswered events are redelivered
		}
	}
}

// ServeHTTP receives one event. It answers 200 once the event is durable, and never waits for a
// run.
func (h *Hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, code := h.handle(w, r)
	h.counts.WithLabelValues(http.StatusText(code)).Inc()
	switch code {
	case http.StatusOK:
		if answer != nil {
			w.Header().Set("Content-Type", "application/json")
		}
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	case http.StatusMethodNotAllowed:
		w.Header().Set("Allow", http.MethodPost)
	default:
		w.Header().Set("Connection", "close") // the rest of the body is not read
	}
	w.WriteHeader(code)
	if code == http.StatusOK && answer != nil {
		_ = json.NewEncoder(w).Encode(answer) // a service that has disconnected sends the event again
	}
}

// Meant returns 200 for a request whose header shows that it is meant for the hook, and otherwise
// the status to refuse it with.
func (h *Hook) Meant(r *http.Request) int {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case r.URL.EscapedPath() != h.path:
		return http.StatusNotFound
	case r.Method != http.MethodPost:
		return http.StatusMethodNotAllowed
	case err != nil || kind != "application/json":
		return http.StatusUnsupportedMediaType
	}
	return http.StatusOK
}

// Read returns the body of a request and 200, or the status to refuse it with.
func (h *Hook) Read(w http.ResponseWriter, r *http.Request, most int64) ([]byte, int) {
	return h.bodies.Read(w, r, most)
}

// Work processes one event once there is capacity.
func (h *Hook) Work(ctx context.Context, do func() (answer any, code int)) (any, int) {
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-ctx.Done():
		return nil, http.StatusServiceUnavailable
	}
	return do()
}
