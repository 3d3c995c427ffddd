package telegram

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/bodies"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/retry"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/unused"
)

const (
	secretHeader = "X-Telegram-Bot-Api-Secret-Token"
	// maxUpdate is the longest update that is read. The service's own are far shorter.
	maxUpdate = 1 << 20
	// maxHooks is how many updates are worked on side by side; the service brings
	// 40 unless told otherwise. Reading them is not work.
	maxHooks = 128
	// hookCheck is how often the service is asked how it does.
	hookCheck = time.Minute
	// hookStop is how long requests under way may take when the receiver ends.
	hookStop = 5 * time.Second
)

// Webhook lets the service bring updates. It is plain HTTP: what people's
// networks reach is a proxy in front of it that speaks TLS.
type Webhook struct {
	// URL is the public https address that the service is told. Its path is the
	// one that is served.
	URL string
	// Secret gives the word that every request carries: 1 to 256 letters, digits,
	// _ and -. Nil or empty: a random one for each run.
	Secret func() string
	// Listener takes the requests. Receive closes it.
	Listener net.Listener
}

func (w *Webhook) check() error {
	if w == nil {
		return nil
	}
	u, err := url.Parse(w.URL)
	switch {
	case err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil:
		return errors.New("telegram: the webhook's address is not an https URL")
	case w.Listener == nil:
		return errors.New("telegram: the webhook has no listener")
	case !regexp.MustCompile(`^[A-Za-z0-9_-]{0,256}$`).MatchString(w.secret()):
		return errors.New("telegram: the webhook's secret is not 1 to 256 letters, digits, _ and -")
	}
	return nil
}

func (w *Webhook) secret() string {
	if w.Secret == nil {
		return ""
	}
	return w.Secret()
}

// hook is one run of Receive that is brought updates.
type hook struct {
	p      *Platform
	intake *intake
	status *botkit.Status
	path   string
	secret [sha256.Size]byte
	word   string // the secret
	bodies bodies.Reader
	slots  chan struct{} // of updates that have come
	// life ends with Receive; requests do not outlive it.
	life context.Context //nolint:containedctx // of the receiver, whose requests come from outside
}

// receiveHook is Receive with a webhook.
func (p *Platform) receiveHook(ctx context.Context, host platform.Host, in *intake) error {
	w := p.opts.Webhook
	u, err := url.Parse(w.URL)
	if err != nil { // Unreachable: New has looked
		return err
	}
	word := w.secret()
	if word == "" {
		word = rand.Text()
	}
	h := &hook{
		p: p, intake: in, status: &botkit.Status{Host: host}, path: u.EscapedPath(), word: word, secret: sha256.Sum256([]byte(word)),
		slots: make(chan struct{}, maxHooks), life: ctx,
	}
	if h.path == "" {
		h.path = "/"
	}
	defer w.Listener.Close() //nolint:errcheck // the server closes it too
	if err := h.begin(ctx); err != nil {
		return h.ended(err)
	}
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(p.log.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	ahead := unused.Of(server)
	served := make(chan error, 1)
	go func() { served <- server.Serve(w.Listener) }()
	defer func() {
		ahead.Close()
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), hookStop)
		defer cancel()
		if server.Shutdown(stop) != nil {
			_ = server.Close() // what was not answered comes again
		}
	}()
	return h.ended(h.look(ctx, served))
}

// begin asks who the bot is and takes up what was set aside; requests wait until then.
func (h *hook) begin(ctx context.Context) error {
	return h.untilDone(ctx, func() error {
		if err := h.p.identify(ctx); err != nil {
			return err
		}
		return h.intake.Open(ctx)
	})
}

// look sets the webhook and sees to it that it stays, until ctx ends.
func (h *hook) look(ctx context.Context, served <-chan error) error {
	if err := h.untilDone(ctx, func() error { return h.set(ctx) }); err != nil {
		return err
	}
	h.p.owe(ctx) // what a run before this one could not say
	h.p.log.Info("receiving by webhook", "username", h.p.Username())
	h.status.Set(true, "")
	tick := time.NewTicker(hookCheck)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-served:
			return fmt.Errorf("the webhook's listener has ended: %w", err)
		case <-tick.C:
		}
		if err := h.check(ctx); isTokenRefused(err) {
			return err
		}
	}
}

// untilDone repeats what failed for now.
func (h *hook) untilDone(ctx context.Context, do func() error) error {
	for tries := 0; ; tries++ {
		err := do()
		if err == nil || ctx.Err() != nil || isTokenRefused(err) {
			return err
		}
		pause := retry.Pause(tries)
		note := "the server cannot be reached"
		if api, ok := errors.AsType[*apiError](err); ok {
			note, pause = "the server refuses the webhook: "+api.Description, max(pause, api.RetryAfter)
		}
		if h.status.Set(false, note) {
			h.p.log.Warn("not receiving", "error", err)
		}
		retry.Wait(ctx, pause)
	}
}

// ended is what Receive returns for an error.
func (h *hook) ended(err error) error {
	switch {
	case h.life.Err() != nil:
		return nil
	case isTokenRefused(err):
		h.status.Set(false, ErrToken.Error())
		return &platform.Error{Reason: platform.SendAuth, Err: ErrToken}
	}
	return err
}

func (h *hook) set(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pollGrace)
	defer cancel()
	_, err := call[bool](ctx, h.p.client, "setWebhook", struct {
		URL     string   `json:"url"`
		Secret  string   `json:"secret_token"`
		Allowed []string `json:"allowed_updates"`
	}{h.p.opts.Webhook.URL, h.word, allowedUpdates()})
	return err
}

// hookInfo is what the service says about the webhook.
type hookInfo struct {
	URL       string `json:"url"`
	Pending   int    `json:"pending_update_count"`
	LastError string `json:"last_error_message"`
	ErrorDate int64  `json:"last_error_date"`
}

// check asks the service how it does, and sets the webhook again when it is gone.
func (h *hook) check(ctx context.Context) error {
	short, cancel := context.WithTimeout(ctx, pollGrace)
	defer cancel()
	info, err := call[hookInfo](short, h.p.client, "getWebhookInfo", struct{}{})
	switch {
	case err != nil && ctx.Err() != nil:
	case err != nil:
		h.status.Set(false, "the server cannot be reached")
	case info.URL != h.p.opts.Webhook.URL:
		h.p.log.Warn("another program took the webhook away; it is set again")
		h.status.Set(false, "another program uses this token")
		return h.set(ctx)
	case info.Pending > 0 && h.p.opts.Now().Sub(time.Unix(info.ErrorDate, 0)) < 2*hookCheck:
		h.status.Set(false, "telegram cannot reach the webhook: "+tidy(info.LastError, maxName))
	default:
		h.status.Set(true, "")
	}
	return err
}

// ServeHTTP takes one update. It answers 200 once that is durable, and never waits for a run.
func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	code := h.serve(w, r)
	h.p.metrics.hooks.WithLabelValues(http.StatusText(code)).Inc()
	switch code {
	case http.StatusOK:
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	case http.StatusMethodNotAllowed:
		w.Header().Set("Allow", http.MethodPost)
	default:
		w.Header().Set("Connection", "close") // what is left of the body is not read
	}
	w.WriteHeader(code)
}

// serve handles a request and returns the status of the answer. Nothing of it is
// looked at before its secret, and no place for work is taken before all of it has come.
func (h *hook) serve(w http.ResponseWriter, r *http.Request) int {
	if !h.knows(r) {
		return http.StatusUnauthorized
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case r.URL.EscapedPath() != h.path:
		return http.StatusNotFound
	case r.Method != http.MethodPost:
		return http.StatusMethodNotAllowed
	case err != nil || kind != "application/json":
		return http.StatusUnsupportedMediaType
	}
	raw, code := h.bodies.Read(w, r, maxUpdate)
	if code != http.StatusOK {
		return code
	}
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-r.Context().Done():
		return http.StatusServiceUnavailable
	}
	return h.take(raw)
}

// knows compares the secret in constant time, whatever its length.
func (h *hook) knows(r *http.Request) bool {
	given := r.Header.Values(secretHeader)
	if len(given) != 1 {
		return false
	}
	sum := sha256.Sum256([]byte(given[0]))
	return subtle.ConstantTimeCompare(sum[:], h.secret[:]) == 1
}

// take makes an update durable. It goes on when the caller leaves: what is
// accepted then is known when it comes again.
func (h *hook) take(raw []byte) int {
	updates, bad, err := decodeUpdates(bracketed(raw))
	switch {
	case err != nil, len(updates)+len(bad) != 1, len(bad) == 1 && bad[0] <= 0, len(bad) == 0 && updates[0].ID <= 0:
		return http.StatusBadRequest
	case len(bad) == 1:
		h.p.metrics.unread.Inc()
		h.p.log.Error("an update could not be read and is skipped", "update_id", bad[0])
		return http.StatusOK
	}
	if err := h.intake.Deliver(h.life, h.p.arrivals(h.life, updates), nil); err != nil {
		return http.StatusServiceUnavailable
	}
	h.p.owe(h.life)
	return http.StatusOK
}

// bracketed is an update as a batch of one.
func bracketed(raw []byte) json.RawMessage {
	out := make([]byte, 0, len(raw)+2)
	return append(append(append(out, '['), raw...), ']')
}
