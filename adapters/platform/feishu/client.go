package feishu

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
)

const (
	// maxAnswer is the maximum size of a response.
	maxAnswer = 8 << 20
	// callTimeout bounds a call, in addition to the caller's context.
	callTimeout = 30 * time.Second
	// uploadTimeout bounds a call that uploads a file, which may be large and the connection slow.
	uploadTimeout = 5 * time.Minute
	tokenPath     = "/open-apis/auth/v3/tenant_access_token/internal"
	// tokenEarly is how long before its expiry a token is replaced.
	tokenEarly = 5 * time.Minute
)

// client calls the open platform with JSON over persistent connections, with a token that it
// renews.
type client struct {
	base   *url.URL
	app    string
	secret func() string
	now    func() time.Time
	http   *http.Client

	fetching chan struct{} // a semaphore: one caller at a time fetches a token

	mu    sync.Mutex
	token string
	until time.Time
}

func newClient(base *url.URL, o Options) *client {
	return &client{
		base: base, app: o.AppID, secret: o.AppSecret, now: o.Now, http: httpcall.NewClient(o.HTTPClient, httpcall.NewTransport()),
		fetching: make(chan struct{}, 1),
	}
}

// apiError is a refusal by the service.
type apiError struct {
	Call       string
	Status     int
	Code       int
	Message    string
	RetryAfter time.Duration
}

func (e *apiError) Error() string { return fmt.Sprintf("%s: %d %s", e.Call, e.Code, e.Message) }

// callError is a call without a usable answer.
type callError = httpcall.Error

// request is one call. Its body is created again for each try.
type request struct {
	method, path string
	query        url.Values
	kind         string // content type, JSON if empty
	body         func() (io.Reader, error)
	open         bool // needs no token
}

// posting returns a request with a JSON body. Characters are not escaped for HTML, because the
// service bounds the length of bodies.
func posting(method, path string, params any) (request, error) {
	raw, err := encode(params)
	if err != nil {
		return request{}, &callError{Call: path, Err: err}
	}
	return request{method: method, path: path, body: func() (io.Reader, error) { return strings.NewReader(raw), nil }}, nil
}

// post calls with a JSON body and decodes the data of the response.
func post[T any](ctx context.Context, c *client, method, path string, query url.Values, params any) (T, error) {
	var none T
	r, err := posting(method, path, params)
	if err != nil {
		return none, err
	}
	r.query = query
	out, err := call[struct {
		Data T `json:"data"`
	}](ctx, c, r)
	return out.Data, err
}

// get calls without a body and decodes the data of the response.
func get[T any](ctx context.Context, c *client, path string, query url.Values) (T, error) {
	out, err := call[struct {
		Data T `json:"data"`
	}](ctx, c, request{method: http.MethodGet, path: path, query: query})
	return out.Data, err
}

// messagePath returns the path of a message.
func messagePath(id string) string { return "/open-apis/im/v1/messages/" + url.PathEscape(id) }

// call sends a request and reads the response. A token that the service no longer accepts is
// replaced once. Its errors are *apiError and *callError, and contain neither secret nor token.
func call[T any](ctx context.Context, c *client, r request) (T, error) {
	timeout := callTimeout
	if r.kind != "" {
		timeout = uploadTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out, err := once[T](ctx, c, r)
	if e, ok := errors.AsType[*apiError](err); ok && !r.open && isTokenStale(e) {
		c.forget()
		out, err = once[T](ctx, c, r)
	}
	return out, err
}

func once[T any](ctx context.Context, c *client, r request) (out T, err error) {
	token := ""
	if !r.open {
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
	return out, &callError{
		Call: r.path, Status: answer.Status, Sent: true, Err: fmt.Errorf("unreadable answer with status %d: %w", answer.Status, err),
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
func (c *client) refused(r request, v verdict, status int, h http.Header) error {
	return &apiError{Call: r.path, Status: status, Code: v.code(), Message: botkit.Tidy(c.scrub(v.Message), 300), RetryAfter: resetAfter(h)}
}

// resetAfter returns how long the service asks to wait.
func resetAfter(h http.Header) time.Duration {
	n, err := strconv.Atoi(h.Get("X-Ogw-Ratelimit-Reset"))
	if err != nil || n < 0 || n > 24*60*60 {
		return 0
	}
	return time.Duration(n) * time.Second
}

func (c *client) send(ctx context.Context, r request, token string) (httpcall.Answer, error) {
	req, err := c.request(ctx, r, token)
	if err != nil {
		return httpcall.Answer{}, &callError{Call: r.path, Err: err}
	}
	req.Header.Set("Content-Type", cmp.Or(r.kind, "application/json; charset=utf-8"))
	return httpcall.Do(c.http, req, r.path, strings.TrimSpace(c.secret()), maxAnswer)
}

func (c *client) request(ctx context.Context, r request, token string) (*http.Request, error) {
	var body io.Reader
	var err error
	if r.body != nil {
		if body, err = r.body(); err != nil {
			return nil, err
		}
	}
	u := *c.base
	u.Path += r.path
	u.RawQuery = r.query.Encode()
	req, err := http.NewRequestWithContext(ctx, r.method, u.String(), body)
	if err == nil && token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return req, err
}

// bearer returns a valid token. Callers that need one while it is being fetched wait until their
// own context ends.
func (c *client) bearer(ctx context.Context) (string, error) {
	if token := c.held(); token != "" {
		return token, nil
	}
	select {
	case c.fetching <- struct{}{}:
		defer func() { <-c.fetching }()
	case <-ctx.Done():
		return "", &callError{Call: tokenPath, Err: ctx.Err()}
	}
	if token := c.held(); token != "" { // another caller has fetched it meanwhile
		return token, nil
	}
	r, err := posting(http.MethodPost, tokenPath, map[string]string{"app_id": c.app, "app_secret": strings.TrimSpace(c.secret())})
	if err != nil {
		return "", err
	}
	r.open = true
	got, err := once[struct {
		Token  string `json:"tenant_access_token"`
		Expire int    `json:"expire"`
	}](ctx, c, r)
	if err != nil {
		if e, ok := errors.AsType[*callError](err); ok {
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
func (c *client) held() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if left := c.until.Sub(c.now()); left > 0 && left < 24*time.Hour {
		return c.token
	}
	return ""
}

func (c *client) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token = ""
}

// scrub removes the secret from a text.
func (c *client) scrub(s string) string { return httpcall.Scrub(s, strings.TrimSpace(c.secret())) }
