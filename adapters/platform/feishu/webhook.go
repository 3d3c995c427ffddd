package feishu

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	larkevent "github.com/larksuite/oapi-sdk-go/v3/event"

	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/httpcall"
)

const (
	// maxEvent is the maximum size of an event. The service's own are far smaller.
	maxEvent = 1 << 20
	// maxUnsigned is the maximum size of a request without a signature, which can only be the
	// verification of our URL.
	maxUnsigned = 16 << 10
	// maxAge is how far the time of a request may differ from ours.
	maxAge = 5 * time.Minute
	// maxChallenge is the maximum length of a challenge.
	maxChallenge = 1024

	challengeKind = "url_verification"
)

var errNoBot = errors.New("the app has no bot: add the bot ability in the developer console")

// Webhook lets the service post events. It speaks plain HTTP: a proxy in front of it faces the
// network and speaks TLS.
type Webhook struct {
	// Path is the path that is served.
	Path string
	// EncryptKey and VerificationToken are the app's. The key is required, because forgeries could
	// not be recognized without it; the token is checked if it is set.
	EncryptKey        func() string
	VerificationToken func() string
	// Listener accepts the requests. Receive closes it.
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

// serveHook accepts posted events until ctx ends.
func (r *receiver) serveHook(ctx context.Context) error {
	w := r.p.opts.Webhook
	h := &hook{receiver: r}
	h.server = botkit.NewHook(w.Path, r.p.metrics.hooks, h.serve)
	served, stop := h.server.Serve(ctx, w.Listener, r.p.log)
	defer stop()
	name, _ := r.p.Bot()
	r.p.log.Info("receiving by webhook", "bot", name)
	r.status.Set(true, "")
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

	server *botkit.Hook
}

// serve handles a request. It reads nothing of it before signature and time are verified. Only
// genuine events take up capacity for work, neither slow requests nor forged ones.
func (h *hook) serve(w http.ResponseWriter, r *http.Request) (any, int) {
	if code := h.server.Meant(r); code != http.StatusOK {
		return nil, code
	}
	signed, most := len(r.Header.Values(larkevent.EventSignature)) > 0, int64(maxEvent)
	if !signed {
		most = maxUnsigned
	}
	raw, code := h.server.Read(w, r, most)
	if code != http.StatusOK {
		return nil, code
	}
	if signed && !h.knows(r, raw) {
		return nil, http.StatusUnauthorized
	}
	e, code := h.unseal(raw, signed)
	switch {
	case code != http.StatusOK:
		return nil, code
	case e.Type == challengeKind:
		return map[string]string{"challenge": e.Challenge}, http.StatusOK
	}
	return h.server.Work(r.Context(), func() (any, int) {
		// What is accepted after the caller disconnected is recognized when it is redelivered.
		answer, err := h.prepare(e)(h.life)
		if err != nil {
			return nil, http.StatusServiceUnavailable
		}
		return answer, http.StatusOK
	})
}

// knows reports whether the service has just signed a request.
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
	if !httpcall.SameSecret(sign, want) || !ok1 || !ok2 || !ok3 {
		return false
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	return err == nil && !stale(time.Unix(seconds, 0), h.p.opts.Now())
}

func (h *hook) key() string { return strings.TrimSpace(h.p.opts.Webhook.EncryptKey()) }

// unseal decrypts a request. One without a signature can only be the verification of our URL, which
// the service encrypts as well.
func (h *hook) unseal(raw []byte, signed bool) (envelope, int) {
	var sealed struct {
		Encrypt string `json:"encrypt"`
	}
	no := http.StatusBadRequest
	if !signed {
		no = http.StatusUnauthorized
	}
	if json.Unmarshal(raw, &sealed) != nil || sealed.Encrypt == "" {
		return envelope{}, no
	}
	opened, err := open(sealed.Encrypt, h.key())
	if err != nil {
		return envelope{}, no
	}
	e, err := decodeEnvelope(opened)
	switch {
	case err != nil:
		return envelope{}, no
	case e.Type == challengeKind:
		if !h.token(e.Token) || len(e.Challenge) > maxChallenge {
			return envelope{}, http.StatusUnauthorized
		}
	case !signed, !h.token(e.Header.Token), e.Header.App != h.p.opts.AppID:
		return envelope{}, http.StatusUnauthorized
	}
	return e, http.StatusOK
}

// token reports whether a verification token is the app's, if that is set.
func (h *hook) token(given string) bool {
	if h.p.opts.Webhook.VerificationToken == nil {
		return true
	}
	want := strings.TrimSpace(h.p.opts.Webhook.VerificationToken())
	return want == "" || httpcall.SameSecret(given, want)
}

// open decrypts what the service has encrypted. The library removes the padding by looking for
// braces, so there have to be some.
func open(sealed, key string) (opened []byte, err error) {
	defer func() {
		if recover() != nil { // braces in the wrong order
			opened, err = nil, errEvent
		}
	}()
	if opened, err = larkevent.EventDecrypt(sealed, key); err != nil {
		return nil, errEvent
	}
	return opened, nil
}
