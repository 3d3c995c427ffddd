package telegramtest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
)

// SecretHeader carries the secret of a webhook.
const SecretHeader = "X-Telegram-Bot-Api-Secret-Token"

// setWebhook is as strict as the service. It is called with the lock held.
func (a *API) setWebhook(p Params) (any, *refused) {
	secret := p.Text("secret_token")
	switch {
	case !strings.HasPrefix(p.Text("url"), "https://"):
		return nil, badRequest("bad webhook: An HTTPS URL must be provided for webhook")
	case !regexp.MustCompile(`^https://[^/?#:]+(:(443|80|88|8443))?([/?#]|$)`).MatchString(p.Text("url")):
		return nil, badRequest("bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443")
	case secret != "" && !regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`).MatchString(secret):
		return nil, badRequest("secret token contains unallowed characters")
	}
	a.webhook, a.secret = p.Text("url"), secret
	a.stopPoller()
	return true, nil
}

// Secret is the secret of the current webhook.
func (a *API) Secret() string { return faketest.Get(&a.mu, func() string { return a.secret }) }

// Waiting are the bodies of the unconfirmed updates, in order.
func (a *API) Waiting() [][]byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out [][]byte
	for _, q := range a.pending {
		out = append(out, bytes.Clone(q.body))
	}
	return out
}

// Bring posts a body to target as the service would post it to the webhook, and returns the status of the answer. client
// may be nil.
func (a *API) Bring(ctx context.Context, client *http.Client, target string, body []byte) (int, error) {
	if client == nil {
		client = http.DefaultClient
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(SecretHeader, a.Secret())
	resp, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close() //nolint:errcheck // nothing was written
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, nil
}
