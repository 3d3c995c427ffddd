package telegram

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/httpcall"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/retry"
)

const (
	secretHeader = "X-Telegram-Bot-Api-Secret-Token"
	// maxUpdate is the maximum size of an update. The service's own are far smaller.
	maxUpdate = 1 << 20
	// hookCheck is how often the state of the webhook is requested from the service.
	hookCheck = time.Minute
)

// Webhook lets the service push updates. It speaks plain HTTP: a proxy in front of it faces the
// network and speaks TLS.
type Webhook struct {
	// URL is the public https URL that the service is given. Its path is the one that is served.
	URL string
	// Secret returns the secret that every request carries: 1 to 256 letters, digits, _ and -. If
	// nil or empty, each run uses a random one.
	Secret func() string
	// Listener accepts the requests. Receive closes it.
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

// hook is one run of Receive with a webhook.
type hook struct {
	p      *Platform
	intake *intake
	status *botkit.Status
	server *botkit.Hook
	word   string // the secret
	// life ends with Receive; requests do not outlive it.
	life context.Context //nolint:containedctx // of the receiver, whose requests come from outside
}

// receiveHook is Receive with a webhook.
func (p *Platform) receiveHook(ctx context.Context, status *botkit.Status, in *intake) error {
	w := p.opts.Webhook
	u, err := url.Parse(w.URL)
	if err != nil { // Unreachable: New has validated it
		return err
	}
	word := w.secret()
	if word == "" {
		word = rand.Text()
	}
	h := &hook{p: p, intake: in, status: status, word: word, life: ctx}
	h.server = botkit.NewHook(cmp.Or(u.EscapedPath(), "/"), p.metrics.hooks, h.serve)
	defer w.Listener.Close() //nolint:errcheck // the server closes it too
	if err := h.begin(ctx); err != nil {
		return h.ended(err)
	}
	served, stop := h.server.Serve(ctx, w.Listener, p.log)
	defer stop()
	return h.ended(h.look(ctx, served))
}

// begin asks for the bot's identity and loads what was set aside; requests wait until then.
func (h *hook) begin(ctx context.Context) error {
	return h.untilDone(ctx, func() error {
		if err := h.p.identify(ctx); err != nil {
			return err
		}
		return h.intake.Open(ctx)
	})
}

// look sets the webhook and restores it when necessary, until ctx ends.
func (h *hook) look(ctx context.Context, served <-chan error) error {
	if err := h.untilDone(ctx, func() error { return h.set(ctx) }); err != nil {
		return err
	}
	h.p.sendDue(ctx) // what an earlier run could not send
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

// untilDone retries do after temporary failures.
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
			h.p.log.Warn("messages cannot be received; it is tried again", "error", err)
		}
		retry.Wait(ctx, pause)
	}
}

// ended returns what Receive returns for an error.
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
	_, err := call[bool](ctx, h.p.client, "setWebhook", bot.SetWebhookParams{URL: h.p.opts.Webhook.URL, SecretToken: h.word, AllowedUpdates: allowedUpdates()})
	return err
}

// check asks the service for the state of the webhook, and sets the webhook again if it is gone.
func (h *hook) check(ctx context.Context) error {
	short, cancel := context.WithTimeout(ctx, pollGrace)
	defer cancel()
	info, err := call[models.WebhookInfo](short, h.p.client, "getWebhookInfo", struct{}{})
	switch {
	case err != nil && ctx.Err() != nil:
	case err != nil:
		h.status.Set(false, "the server cannot be reached")
	case info.URL != h.p.opts.Webhook.URL:
		h.p.log.Warn("another program removed the webhook; it is set again")
		h.status.Set(false, "another program uses this token")
		return h.set(ctx)
	case info.PendingUpdateCount > 0 && h.p.opts.Now().Sub(time.Unix(int64(info.LastErrorDate), 0)) < 2*hookCheck:
		h.status.Set(false, "telegram cannot reach the webhook: "+botkit.Tidy(info.LastErrorMessage, botkit.MaxName))
	default:
		h.status.Set(true, "")
	}
	return err
}

// serve handles a request and returns the status of the response. It reads nothing of it before the
// secret is verified, and the request counts as work only once all of it has arrived.
func (h *hook) serve(w http.ResponseWriter, r *http.Request) (any, int) {
	if !h.knows(r) {
		return nil, http.StatusUnauthorized
	}
	if code := h.server.Meant(r); code != http.StatusOK {
		return nil, code
	}
	raw, code := h.server.Read(w, r, maxUpdate)
	if code != http.StatusOK {
		return nil, code
	}
	return h.server.Work(r.Context(), func() (any, int) { return nil, h.take(raw) })
}

// knows reports whether a request carries the secret.
func (h *hook) knows(r *http.Request) bool {
	given := r.Header.Values(secretHeader)
	return len(given) == 1 && httpcall.SameSecret(given[0], h.word)
}

// take makes an update durable. It continues if the caller disconnects: what is accepted then is
// recognized when it is delivered again.
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
	if err := h.intake.Deliver(h.life, h.p.arrivals(h.life, updates)); err != nil {
		return http.StatusServiceUnavailable
	}
	h.p.sendDue(h.life)
	return http.StatusOK
}

// bracketed returns an update as a batch of one.
func bracketed(raw []byte) json.RawMessage {
	out := make([]byte, 0, len(raw)+2)
	return append(append(append(out, '['), raw...), ']')
}
