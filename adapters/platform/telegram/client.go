package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// maxAnswer is the longest answer that is read.
const maxAnswer = 64 << 20

// client calls the Bot API with JSON over kept connections.
type client struct {
	base  *url.URL
	token func() string
	http  *http.Client
}

func newClient(base *url.URL, token func() string, given *http.Client) *client {
	c := &client{base: base, token: token, http: &http.Client{Transport: newTransport()}}
	if given != nil {
		copied := *given
		c.http = &copied
	}
	// A redirect would carry the token, which is part of the address, elsewhere.
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}

// newTransport keeps enough connections for sends side by side, finds dead ones
// soon, and speaks HTTP/1.1 so that a poll and the sends do not share their fate.
func newTransport() *http.Transport {
	dialer := &net.Dialer{
		Timeout:         10 * time.Second,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3},
	}
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, Protocols: protocols,
		MaxIdleConns: 256, MaxIdleConnsPerHost: 128, IdleConnTimeout: 50 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second, DisableCompression: true,
	}
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

// callError is a call without a usable answer. Sent: the server may have acted on it.
type callError struct {
	Method string
	Status int // of the answer, if one came
	Sent   bool
	Err    error
}

func (e *callError) Error() string { return fmt.Sprintf("%s: %v", e.Method, e.Err) }

func (e *callError) Unwrap() error { return e.Err }

// call posts a request and reads the result. Its errors are *apiError and
// *callError, and never hold the token.
func call[T any](ctx context.Context, c *client, method string, params any) (T, error) {
	var r reply[T]
	body, err := json.Marshal(params)
	if err != nil {
		return r.Result, &callError{Method: method, Err: err}
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
	return r.Result, &callError{Method: method, Status: status, Sent: true, Err: fmt.Errorf("unreadable answer with status %d: %w", status, decodeErr)}
}

func (c *client) post(ctx context.Context, method string, body []byte) (answer []byte, status int, err error) {
	ctx, progress := traced(ctx)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "", bytes.NewReader(body))
	if err != nil {
		return nil, 0, &callError{Method: method, Err: err}
	}
	token := strings.TrimSpace(c.token())
	u := *c.base
	u.Path += "/bot" + token + "/" + method
	req.URL, req.Host = &u, u.Host
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, 0, &callError{Method: method, Sent: progress.sent(), Err: c.bare(err)}
	}
	defer resp.Body.Close() //nolint:errcheck // nothing was written
	var buf bytes.Buffer
	if n := resp.ContentLength; n > 0 && n < maxAnswer {
		buf.Grow(int(n) + bytes.MinRead)
	}
	if _, err = buf.ReadFrom(io.LimitReader(watched(ctx, resp.Body), maxAnswer)); err != nil {
		return nil, resp.StatusCode, &callError{Method: method, Status: resp.StatusCode, Sent: true, Err: c.bare(err)}
	}
	return buf.Bytes(), resp.StatusCode, nil
}

// bare takes the address, which holds the token, out of an error.
func (c *client) bare(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if text := err.Error(); text != c.scrub(text) {
		return errors.New(c.scrub(text))
	}
	return err
}

// scrub takes the token out of a text.
func (c *client) scrub(s string) string {
	token := strings.TrimSpace(c.token())
	for _, t := range []string{token, url.PathEscape(token), url.QueryEscape(token)} {
		s = strings.ReplaceAll(s, t, "***")
	}
	return s
}

// progress tells how far a request came.
type progress struct{ connected, broken atomic.Bool }

// sent tells whether the server may have the request. Not knowing means yes.
func (p *progress) sent() bool { return p.connected.Load() && !p.broken.Load() }

func traced(ctx context.Context) (context.Context, *progress) {
	p := &progress{}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) {
			p.connected.Store(true)
			p.broken.Store(false)
		},
		WroteRequest: func(info httptrace.WroteRequestInfo) { p.broken.Store(info.Err != nil) },
	}), p
}
