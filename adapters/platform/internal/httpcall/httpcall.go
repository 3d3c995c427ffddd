// Package httpcall is what calls of the services behind platforms have in common:
// connections that fit them, an answer to the question whether the service may have
// acted on a call that failed, and errors that hold no secret.
//
// What is called, how an answer reads and what a refusal means is the platform's.
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

// NewTransport keeps enough connections for sends side by side and finds dead ones soon.
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

// NewClient calls through the transport, or as a copy of given unless that is nil. It
// never follows a redirect, which would carry a credential elsewhere.
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
	Status int  // of the answer, if one came
	Sent   bool // the service may have acted on it
	Err    error
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.Call, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

// Progress tells how far a request came.
type Progress struct{ connected, broken atomic.Bool }

// Sent reports whether the service may have the request. Not knowing means yes.
func (p *Progress) Sent() bool { return p.connected.Load() && !p.broken.Load() }

// Traced is a context for one request whose progress is to be known.
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

// Scrub takes a secret out of a text, in the forms that it has in addresses, too.
func Scrub(text, secret string) string {
	if secret == "" {
		return text
	}
	for _, s := range []string{secret, url.PathEscape(secret), url.QueryEscape(secret)} {
		text = strings.ReplaceAll(text, s, "***")
	}
	return text
}

// Bare takes the address, which may hold a secret, and the secret itself out of an error.
func Bare(err error, secret string) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if text := err.Error(); text != Scrub(text, secret) {
		return errors.New(Scrub(text, secret))
	}
	return err
}
