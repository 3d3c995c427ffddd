// Package httpcall holds what calls to the services of platforms have in common: suitable
// connections, the knowledge whether the service may have acted on a failed call, and errors
// without secrets.
//
// The platform decides what to call, how to read the answer and what a refusal means.
package httpcall

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// NewTransport keeps enough connections for parallel sends and detects dead ones quickly.
func NewTransport() *http.Transport {
	dialer := &net.Dialer{
		Timeout:         10 * time.Second,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3},
	}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext,
		MaxIdleConns: 256, MaxIdleConnsPerHost: 128, IdleConnTimeout: 50 * time.Second, TLSHandshakeTimeout: 10 * time.Second,
	}
}

// NewClient returns a client that uses the transport, or a copy of given if that is not nil. It
// never follows redirects, which would carry a credential to another host.
func NewClient(given *http.Client, transport http.RoundTripper) *http.Client {
	c := &http.Client{Transport: transport}
	if given != nil {
		copied := *given
		c = &copied
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}

// Error is a call without a usable answer.
type Error struct {
	Call   string
	Status int  // of the response, if there was one
	Sent   bool // the service may have acted on it
	Err    error
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.Call, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

// Progress tracks how far a request got.
type Progress struct{ connected, broken atomic.Bool }

// Sent reports whether the service may have received the request; in doubt it is true.
func (p *Progress) Sent() bool { return p.connected.Load() && !p.broken.Load() }

// Traced returns a context for one request and the progress of that request.
func Traced(ctx context.Context) (context.Context, *Progress) {
	p := &Progress{}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) {
			p.connected.Store(true)
			p.broken.Store(false)
		},
		WroteRequest: func(info httptrace.WroteRequestInfo) { p.broken.Store(info.Err != nil) },
	}), p
}

// Scrub removes a secret from a text, including its URL-escaped forms.
func Scrub(text, secret string) string {
	if secret == "" {
		return text
	}
	for _, s := range []string{secret, url.PathEscape(secret), url.QueryEscape(secret)} {
		text = strings.ReplaceAll(text, s, "***")
	}
	return text
}

// Bare removes the URL, which may contain a secret, and the secret itself from an error.
func Bare(err error, secret string) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if text := err.Error(); text != Scrub(text, secret) {
		return errors.New(Scrub(text, secret))
	}
	return err
}
