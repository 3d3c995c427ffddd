package feishu

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	larkevent "github.com/larksuite/oapi-sdk-go/v3/event"

	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/unused"
)

const (
	// maxEvent is the longest event that is read. The service's own are far shorter.
	maxEvent = 1 << 20
	// maxAge is how far the time of a request may be from ours.
	maxAge = 5 * time.Minute
	// maxHooks is how many requests are worked on side by side.
	maxHooks = 128
	// hookStop is how long requests under way may take when the receiver ends.
	hookStop = 5 * time.Second
	// maxChallenge is the longest challenge that is answered.
	maxChallenge = 1024

	challengeKind = "url_verification"
)

var errNoBot = errors.New("the app has no bot: add the bot ability in the developer console")

// Webhook lets the service post events. It is plain HTTP: what people's networks
// reach is a proxy in front of it that speaks TLS.
type Webhook struct {
	// Path is the one that is served.
	Path string
	// EncryptKey and VerificationToken are the app's. Without a key nothing could be
	// told from a forgery, so there has to be one; the token is checked if it is set.
	EncryptKey        func() string
	VerificationToken func() string
	// Listener takes the requests. Receive closes it.
	Listener net.Listener
}

func (w *Webhook) check() error {
	switch {
	case w == nil:
		return nil
	case w.Listener == nil:
		return errors.New("feishu: the webhook has no listener")
	case w.EncryptKey == nil || strings.TrimSpace(w.EncryptKey()) == "":
		return errors.New("feishu: the webhook has no encrypt key: set one in the developer console (Events & Callbacks, Encryption Strategy)")
	case !strings.HasPrefix(w.Path, "/"):
		return errors.New("feishu: the webhook's path does not begin with /")
	}
	return nil
}

// serveHook takes events that are posted until ctx ends.
func (r *receiver) serveHook(ctx context.Context) error {
	w := r.p.opts.Webhook
	h := &hook{receiver: r, slots: make(chan struct{}, maxHooks)}
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(r.p.log.Handler(), slog.LevelDebug),
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
	r.p.log.Info("receiving by webhook", "bot", r.p.BotName())
	r.status.set(true, "")
	select {
	case <-ctx.Done():
		return nil
	case err := <-served:
		return fmt.Errorf("the webhook's listener has ended: %w", err)
	}
}

// hook serves the requests of one run of Receive.
type hook struct {
	*receiver

	slots chan struct{}
}

// ServeHTTP takes one event. It answers 200 once that is durable, and never waits for a run.
func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, code := h.serve(w, r)
	h.p.metrics.hooks.WithLabelValues(http.StatusText(code)).Inc()
	switch code {
	case http.StatusOK:
		w.Header().Set("Content-Type", "application/json")
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	case http.StatusMethodNotAllowed:
		w.Header().Set("Allow", http.MethodPost)
	default:
		w.Header().Set("Connection", "close") // what is left of the body is not read
	}
	w.WriteHeader(code)
	if code == http.StatusOK {
		_ = json.NewEncoder(w).Encode(answer) // who has left hears it the next time
	}
}

// serve handles a request. Nothing in it is looked at before its signature and time.
func (h *hook) serve(w http.ResponseWriter, r *http.Request) (any, int) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case r.URL.EscapedPath() != h.p.opts.Webhook.Path:
		return nil, http.StatusNotFound
	case r.Method != http.MethodPost:
		return nil, http.StatusMethodNotAllowed
	case err != nil || kind != "application/json":
		return nil, http.StatusUnsupportedMediaType
	case r.ContentLength > maxEvent:
		return nil, http.StatusRequestEntityTooLarge
	}
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-r.Context().Done():
		return nil, http.StatusServiceUnavailable
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxEvent))
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return nil, http.StatusRequestEntityTooLarge
	}
	if err != nil {
		return nil, http.StatusBadRequest
	}
	signed := len(r.Header.Values(larkevent.EventSignature)) > 0
	if signed && !h.knows(r, raw) {
		return nil, http.StatusUnauthorized
	}
	return h.take(raw, signed)
}

// knows tells whether a request was signed by the service just now.
func (h *hook) knows(r *http.Request, raw []byte) bool {
	one := func(name string) (string, bool) {
		v := r.Header.Values(name)
		if len(v) != 1 {
			return "", false
		}
		return v[0], true
	}
	stamp, ok1 := one(larkevent.EventRequestTimestamp)
	nonce, ok2 := one(larkevent.EventRequestNonce)
	sign, ok3 := one(larkevent.EventSignature)
	want := larkevent.Signature(stamp, nonce, h.key(), string(raw))
	if !same(sign, want) || !ok1 || !ok2 || !ok3 {
		return false
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	return err == nil && !stale(time.Unix(seconds, 0), h.p.opts.Now())
}

func (h *hook) key() string { return strings.TrimSpace(h.p.opts.Webhook.EncryptKey()) }

// take decrypts a request and handles it. One without a signature can only be the
// question whether the address is ours, which the service asks encrypted as well.
func (h *hook) take(raw []byte, signed bool) (any, int) {
	var sealed struct {
		Encrypt string `json:"encrypt"`
	}
	no := http.StatusBadRequest
	if !signed {
		no = http.StatusUnauthorized
	}
	if json.Unmarshal(raw, &sealed) != nil || sealed.Encrypt == "" {
		return nil, no
	}
	opened, err := open(sealed.Encrypt, h.key())
	if err != nil {
		return nil, no
	}
	e, err := decodeEnvelope(opened)
	switch {
	case err != nil:
		return nil, no
	case e.Type == challengeKind:
		if !h.token(e.Token) || len(e.Challenge) > maxChallenge {
			return nil, http.StatusUnauthorized
		}
		return map[string]string{"challenge": e.Challenge}, http.StatusOK
	case !signed, !h.token(e.Header.Token), e.Header.App != h.p.opts.AppID:
		return nil, http.StatusUnauthorized
	}
	// What is accepted after the caller has left is known when it comes again.
	answer, err := h.prepare(e)(h.life)
	if err != nil {
		return nil, http.StatusServiceUnavailable
	}
	return answer, http.StatusOK
}

// token tells whether a verification token is the app's, if that is set.
func (h *hook) token(given string) bool {
	if h.p.opts.Webhook.VerificationToken == nil {
		return true
	}
	want := strings.TrimSpace(h.p.opts.Webhook.VerificationToken())
	return want == "" || same(given, want)
}

// open decrypts what the service has sealed. The library cuts the padding off by
// looking for braces, which needs something to be there.
func open(sealed, key string) (opened []byte, err error) {
	defer func() {
		if recover() != nil { // braces the wrong way round
			opened, err = nil, errEvent
		}
	}()
	if opened, err = larkevent.EventDecrypt(sealed, key); err != nil {
		return nil, errEvent
	}
	return opened, nil
}
