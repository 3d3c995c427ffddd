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

// maxAnswer is the maximum size of a response.
const maxAnswer = 64 << 20

// client calls the Bot API with JSON over persistent connections, with the library's types where
// they serve. The library itself is used only for uploads, which need forms, because it has no rich
// messages, does not export getUpdates and omits an empty list of reactions, so that the bot's own
// could not be removed. It also decodes whole messages strictly: a new kind of content turns a
// successful send into an error, and the message would be sent twice.
type client struct {
	base  *url.URL
	token func() string
	http  *http.Client
}

func newClient(base, proxy *url.URL, token func() string, given *http.Client) *client {
	transport := httpcall.NewTransport()
	// Separate connections: a poll and the sends on one HTTP/2 connection would fail together.
	transport.Protocols = &http.Protocols{}
	transport.Protocols.SetHTTP1(true)
	transport.DisableCompression = true
	if proxy.Host != "" {
		transport.Proxy = http.ProxyURL(proxy)
	}
	return &client{base: base, token: token, http: httpcall.NewClient(given, transport)}
}

// reply is a response of the Bot API.
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

// call posts a request and decodes the result. Its errors are *apiError and *callError, and never
// contain the token.
func call[T any](ctx context.Context, c *client, method string, params any) (T, error) {
	var none T
	body, err := json.Marshal(params)
	if err != nil {
		return none, &callError{Call: method, Err: err}
	}
	req, err := c.request(ctx, http.MethodPost, "/bot", method, bytes.NewReader(body))
	if err != nil {
		return none, &callError{Call: method, Err: err}
	}
	req.Header.Set("Content-Type", "application/json")
	return answered[T](c, req, method)
}

// answered sends a request and decodes the result. Its errors are those of call.
func answered[T any](c *client, req *http.Request, method string) (T, error) {
	var r reply[T]
	answer, err := httpcall.Do(c.http, req, method, c.secret(), maxAnswer)
	if err != nil {
		return r.Result, err
	}
	decodeErr := json.Unmarshal(answer.Body, &r)
	switch {
	case decodeErr == nil && r.OK:
		return r.Result, nil
	case answer.Status == http.StatusRequestEntityTooLarge: // also as an error page of a proxy
		return r.Result, &apiError{Method: method, Code: answer.Status, Description: errTooLarge.Error()}
	case r.Code != 0: // also if a field of the refusal could not be decoded
		return r.Result, &apiError{
			Method: method, Code: r.Code, Description: c.scrub(r.Description),
			RetryAfter: time.Duration(r.Parameters.RetryAfter) * time.Second, MigrateTo: r.Parameters.MigrateTo,
		}
	case decodeErr == nil:
		decodeErr = errors.New("neither a result nor an error")
	}
	return r.Result, &callError{Call: method, Status: answer.Status, Sent: true, Err: fmt.Errorf("unreadable answer with status %d: %w", answer.Status, decodeErr)}
}

// request builds a request to a URL that contains the token. No error may contain that URL.
func (c *client) request(ctx context.Context, method, root, path string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, "", body)
	if err != nil { // Unreachable: the methods are known
		return nil, err
	}
	u := *c.base
	u.Path += root + c.secret() + "/" + path
	req.URL, req.Host = &u, u.Host
	return req, nil
}

func (c *client) secret() string { return strings.TrimSpace(c.token()) }

// bare removes the URL, which contains the token, from an error.
func (c *client) bare(err error) error { return httpcall.Bare(err, c.secret()) }

// scrub removes the token from a text.
func (c *client) scrub(s string) string { return httpcall.Scrub(s, c.secret()) }
