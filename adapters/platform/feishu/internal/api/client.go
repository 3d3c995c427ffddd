// Package api calls the open platform of Feishu and Lark.
//
// It promises that an error contains neither the app's secret nor a token, that a token is fetched by
// one caller at a time and replaced once if the service no longer accepts it, and that every call
// ends: after 30 seconds, or five minutes for an upload. It does not retry; callers decide that by the
// [Error] of the service or the [CallError] of a call without a usable answer.
package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/httpcall"
	"github.com/shipmyagent/shipmyagent/messages/plainjson"
)

const (
	// maxAnswer is the maximum size of a response.
	maxAnswer = 8 << 20
	// callTimeout bounds a call, in addition to the caller's context.
	callTimeout = 30 * time.Second
	// uploadTimeout bounds a call that uploads a file, which may be large and the connection slow.
	uploadTimeout = 5 * time.Minute
	// downloadPause is how long the response to a download may pause.
	downloadPause = 20 * time.Second
	// maxRefusal is the maximum size of a refusal of a download.
	maxRefusal = 64 << 10
	tokenPath  = "/open-apis/auth/v3/tenant_access_token/internal"
	// tokenEarly is how long before its expiry a token is replaced.
	tokenEarly = 5 * time.Minute

	// Error codes of the service about tokens.
	codeTokenMissing = 99991661
	codeTokenInvalid = 99991663
	codeTokenExpired = 99991677
)

// Client calls the open platform with JSON over persistent connections, with a token that it
// renews. It is safe for concurrent use.
type Client struct {
	Base   *url.URL
	App    string
	Secret func() string
	now    func() time.Time
	http   *http.Client

	fetching chan struct{} // a semaphore: one caller at a time fetches a token

	mu    sync.Mutex
	token string
	until time.Time
}

// New makes a client without calling the service. The secret is read for each use.
func New(base *url.URL, app string, secret func() string, now func() time.Time, transport *http.Client) *Client {
	return &Client{
		Base: base, App: app, Secret: secret, now: now, http: httpcall.NewClient(transport, httpcall.NewTransport()),
		fetching: make(chan struct{}, 1),
	}
}

// Error is a refusal by the service.
type Error struct {
	Call       string
	Status     int
	Code       int
	Message    string
	RetryAfter time.Duration
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %d %s", e.Call, e.Code, e.Message) }

// IsTokenStale reports whether the service no longer accepts the token.
func (e *Error) IsTokenStale() bool {
	return e.Code == codeTokenInvalid || e.Code == codeTokenMissing || e.Code == codeTokenExpired
}

// CallError is a call without a usable answer.
type CallError = httpcall.Error

// Request is one call. Its body is created again for each try.
type Request struct {
	Method, Path string
	Query        url.Values
	Kind         string // content type, JSON if empty
	Body         func() (io.Reader, error)
	Open         bool // needs no token
}

// Posting returns a request with a JSON body. Characters are not escaped for HTML, because the
// service bounds the length of bodies.
func Posting(method, path string, params any) (Request, error) {
	raw, err := Encode(params)
	if err != nil {
		return Request{}, &CallError{Call: path, Err: err}
	}
	return Request{Method: method, Path: path, Body: func() (io.Reader, error) { return strings.NewReader(raw), nil }}, nil
}

// Post calls with a JSON body and decodes the data of the response.
func Post[T any](ctx context.Context, c *Client, method, path string, query url.Values, params any) (T, error) {
	var none T
	r, err := Posting(method, path, params)
	if err != nil {
		return none, err
	}
	r.Query = query
	out, err := Call[struct {
		Data T `json:"data"`
	}](ctx, c, r)
	return out.Data, err
}

// Get calls without a body and decodes the data of the response.
func Get[T any](ctx context.Context, c *Client, path string, query url.Values) (T, error) {
	out, err := Call[struct {
		Data T `json:"data"`
	}](ctx, c, Request{Method: http.MethodGet, Path: path, Query: query})
	return out.Data, err
}

// MessagePath returns the path of a message.
func MessagePath(id string) string { return "/open-apis/im/v1/messages/" + url.PathEscape(id) }

// Call sends a request and reads the response. A token that the service no longer accepts is
// replaced once. Its errors are [*Error] and [*CallError].
func Call[T any](ctx context.Context, c *Client, r Request) (T, error) {
	timeout := callTimeout
	if r.Kind != "" {
		timeout = uploadTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out, err := once[T](ctx, c, r)
	if e, ok := errors.AsType[*Error](err); ok && !r.Open && e.IsTokenStale() {
		c.Forget()
		out, err = once[T](ctx, c, r)
	}
	return out, err
}

func once[T any](ctx context.Context, c *Client, r Request) (out T, err error) {
	token := ""
	if !r.Open {
		if token, err = c.bearer(ctx); err != nil {
			return out, err
		}
	}
	answer, err := c.send(ctx, r, token)
	if err != nil {
		return out, err
	}
	var verdict verdict
	err = json.Unmarshal(answer.Body, &verdict)
	switch {
	case err == nil && verdict.Code != nil && *verdict.Code == 0:
		if err = json.Unmarshal(answer.Body, &out); err == nil {
			return out, nil
		}
	case err == nil && verdict.Code != nil:
		return out, c.refused(r, verdict, answer.Status, answer.Header)
	case err == nil:
		err = errors.New("neither a result nor an error")
	}
	return out, &CallError{
		Call: r.Path, Status: answer.Status, Sent: true, Err: fmt.Errorf("unreadable answer with status %d: %w", answer.Status, err),
	}
}

// verdict is the beginning of every response of the service.
type verdict struct {
	Code    *int   `json:"code"` // 0 is success; nil means that the response is not from the service
	Message string `json:"msg"`
}

func (v verdict) code() int {
	if v.Code == nil {
		return 0
	}
	return *v.Code
}

// refused returns the error for a verdict other than 0.
func (c *Client) refused(r Request, v verdict, status int, h http.Header) error {
	return &Error{Call: r.Path, Status: status, Code: v.code(), Message: botkit.Tidy(c.scrub(v.Message), 300), RetryAfter: resetAfter(h)}
}

// resetAfter returns how long the service asks to wait.
func resetAfter(h http.Header) time.Duration {
	n, err := strconv.Atoi(h.Get("X-Ogw-Ratelimit-Reset"))
	if err != nil || n < 0 || n > 24*60*60 {
		return 0
	}
	return time.Duration(n) * time.Second
}

func (c *Client) send(ctx context.Context, r Request, token string) (httpcall.Answer, error) {
	req, err := c.request(ctx, r, token)
	if err != nil {
		return httpcall.Answer{}, &CallError{Call: r.Path, Err: err}
	}
	req.Header.Set("Content-Type", cmp.Or(r.Kind, "application/json; charset=utf-8"))
	return httpcall.Do(c.http, req, r.Path, strings.TrimSpace(c.Secret()), maxAnswer)
}

func (c *Client) request(ctx context.Context, r Request, token string) (*http.Request, error) {
	var body io.Reader
	var err error
	if r.Body != nil {
		if body, err = r.Body(); err != nil {
			return nil, err
		}
	}
	u := *c.Base
	u.Path += r.Path
	u.RawQuery = r.Query.Encode()
	req, err := http.NewRequestWithContext(ctx, r.Method, u.String(), body)
	if err == nil && token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return req, err
}

// bearer returns a valid token. Callers that need one while it is being fetched wait until their
// own context ends.
func (c *Client) bearer(ctx context.Context) (string, error) {
	if token := c.held(); token != "" {
		return token, nil
	}
	select {
	case c.fetching <- struct{}{}:
		defer func() { <-c.fetching }()
	case <-ctx.Done():
		return "", &CallError{Call: tokenPath, Err: ctx.Err()}
	}
	if token := c.held(); token != "" { // another caller has fetched it meanwhile
		return token, nil
	}
	r, err := Posting(http.MethodPost, tokenPath, map[string]string{"app_id": c.App, "app_secret": strings.TrimSpace(c.Secret())})
	if err != nil {
		return "", err
	}
	r.Open = true
	got, err := once[struct {
		Token  string `json:"tenant_access_token"`
		Expire int    `json:"expire"`
	}](ctx, c, r)
	if err != nil {
		if e, ok := errors.AsType[*CallError](err); ok {
			e.Sent = false // the call that needs the token was not sent
		}
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token = got.Token
	c.until = c.now().Add(max(time.Duration(got.Expire)*time.Second-tokenEarly, time.Second))
	return c.token, nil
}

// held returns the current token, or an empty string if it has expired or was never fetched.
func (c *Client) held() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if left := c.until.Sub(c.now()); left > 0 && left < 24*time.Hour {
		return c.token
	}
	return ""
}

// Forget drops the token, so that the next call fetches another one.
func (c *Client) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token = ""
}

// scrub removes the secret from a text.
func (c *Client) scrub(s string) string { return httpcall.Scrub(s, strings.TrimSpace(c.Secret())) }

// File requests a file from the service. The caller closes it.
func (c *Client) File(ctx context.Context, r Request) (io.ReadCloser, error) {
	token, err := c.bearer(ctx)
	if err != nil {
		return nil, err
	}
	req, err := c.request(ctx, r, token)
	if err != nil { // Unreachable: the method is known and the URL is ours
		return nil, &CallError{Call: r.Path, Err: err}
	}
	resp, err := httpcall.Open(ctx, c.http, req, r.Path, strings.TrimSpace(c.Secret()), downloadPause)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	defer resp.Body.Close() //nolint:errcheck // only read from
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	var verdict verdict
	if err == nil {
		err = json.Unmarshal(raw, &verdict)
	}
	if err != nil || verdict.code() == 0 {
		return nil, &CallError{Call: r.Path, Status: resp.StatusCode, Sent: true, Err: fmt.Errorf("unreadable answer with status %d", resp.StatusCode)}
	}
	return nil, c.refused(r, verdict, resp.StatusCode, resp.Header)
}

// Encode returns a value as JSON without the escapes for HTML.
func Encode(v any) (string, error) {
	out, err := plainjson.Append(nil, v)
	return string(out), err
}
