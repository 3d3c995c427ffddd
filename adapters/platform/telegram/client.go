package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/httpcall"
)

// maxAnswer is the longest answer that is read.
const maxAnswer = 64 << 20

// client calls the Bot API with JSON over kept connections.
type client struct {
	base  *url.URL
	token func() string
	http  *http.Client
}

func newClient(base, proxy *url.URL, token func() string, given *http.Client) *client {
	transport := httpcall.NewTransport()
	// Over one HTTP/2 connection a poll and the sends would share their fate.
	transport.Protocols = &http.Protocols{}
	transport.Protocols.SetHTTP1(true)
	transport.DisableCompression = true
	if proxy.Host != "" {
		transport.Proxy = http.ProxyURL(proxy)
	}
	return &client{base: base, token: token, http: httpcall.NewClient(given, transport)}
}

// reply is an answer of the Bot API.
type reply[T any] struct {
	OK          bool   `json:"ok"`
	Result      T      `json:"result"`
	Code        int    `json:"error_code"`
	Description string `json:"description"`
	Parameters  struct {
		RetryAfter int   `json:"retry_after"`
		MigrateTo  int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

// apiError is a refusal by the server.
type apiError struct {
	Method      string
	Code        int
	Description string
	RetryAfter  time.Duration
	MigrateTo   int64
}

func (e *apiError) Error() string { return fmt.Sprintf("%s: %d %s", e.Method, e.Code, e.Description) }

// callError is a call without a usable answer.
type callError = httpcall.Error

// call posts a request and reads the result. Its errors are *apiError and
// *callError, and never hold the token.
func call[T any](ctx context.Context, c *client, method string, params any) (T, error) {
	var r reply[T]
	body, err := json.Marshal(params)
	if err != nil {
		return r.Result, &callError{Call: method, Err: err}
	}
	answer, status, err := c.post(ctx, method, body)
	if err != nil {
		return r.Result, err
	}
	decodeErr := json.Unmarshal(answer, &r)
	switch {
	case decodeErr == nil && r.OK:
		return r.Result, nil
	case r.Code != 0: // also when a field of the refusal could not be read
		return r.Result, &apiError{
			Method: method, Code: r.Code, Description: c.scrub(r.Description),
			RetryAfter: time.Duration(r.Parameters.RetryAfter) * time.Second, MigrateTo: r.Parameters.MigrateTo,
		}
	case decodeErr == nil:
		decodeErr = errors.New("neither a result nor an error")
	}
	return r.Result, &callError{Call: method, Status: status, Sent: true, Err: fmt.Errorf("unreadable answer with status %d: %w", status, decodeErr)}
}

func (c *client) post(ctx context.Context, method string, body []byte) (answer []byte, status int, err error) {
	ctx, progress := httpcall.Traced(ctx)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "", bytes.NewReader(body))
	if err != nil {
		return nil, 0, &callError{Call: method, Err: err}
	}
	token := strings.TrimSpace(c.token())
	u := *c.base
	u.Path += "/bot" + token + "/" + method
	req.URL, req.Host = &u, u.Host
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, 0, &callError{Call: method, Sent: progress.Sent(), Err: c.bare(err)}
	}
	defer resp.Body.Close() //nolint:errcheck // nothing was written
	var buf bytes.Buffer
	if n := resp.ContentLength; n > 0 && n < maxAnswer {
		buf.Grow(int(n) + bytes.MinRead)
	}
	if _, err = buf.ReadFrom(io.LimitReader(watched(ctx, resp.Body), maxAnswer)); err != nil {
		return nil, resp.StatusCode, &callError{Call: method, Status: resp.StatusCode, Sent: true, Err: c.bare(err)}
	}
	return buf.Bytes(), resp.StatusCode, nil
}

// bare takes the address, which holds the token, out of an error.
func (c *client) bare(err error) error { return httpcall.Bare(err, strings.TrimSpace(c.token())) }

// scrub takes the token out of a text.
func (c *client) scrub(s string) string { return httpcall.Scrub(s, strings.TrimSpace(c.token())) }
