package httpcall

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

const canary = "12:CANARY/secret value"

func TestScrubAndBare(t *testing.T) {
	for _, form := range []string{canary, url.PathEscape(canary), url.QueryEscape(canary)} {
		text := "dial https://host/bot" + form + "/getMe"
		if got := Scrub(text, canary); got != "dial https://host/bot***/getMe" {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := Scrub("nothing", ""); got != "nothing" {
		t.Errorf("without a secret: %q", got)
	}
	refused := &net.OpError{Op: "dial", Err: errors.New("refused")}
	if got := Bare(&url.Error{Op: "Post", URL: "https://host/" + canary, Err: refused}, canary); !errors.Is(got, refused) {
		t.Errorf("the cause is gone: %v", got)
	}
	if got := Bare(&url.Error{Op: "Post", Err: errors.New("bad " + canary)}, canary); got.Error() != "bad ***" {
		t.Errorf("got %v", got)
	}
}

// TestSent checks that a call without a connection had no effect, whereas one that was written may
// have had one.
func TestSent(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the request is complete, the answer never arrives
		panic(http.ErrAbortHandler)
	}))
	defer server.Close()
	client := NewClient(nil, NewTransport())
	defer client.CloseIdleConnections()
	try := func(address string) bool {
		t.Helper()
		ctx, progress := Traced(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader("body"))
		stdtest.Must(t, err)
		resp, err := client.Do(req)
		if err == nil {
			_ = resp.Body.Close()
			t.Fatal("an answer came")
		}
		return progress.Sent()
	}
	if !try(server.URL) {
		t.Error("a request that was written counts as not sent")
	}
	if try("http://" + unused(t)) {
		t.Error("a request without a connection counts as sent")
	}
}

// unused returns an address on which nothing listens.
func unused(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	stdtest.Must(t, err)
	defer l.Close() //nolint:errcheck // it listens for nobody
	return l.Addr().String()
}

// TestRedirectsAreNotFollowed also covers given clients, which must not be modified.
func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	defer elsewhere.Close()
	server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	given := server.Client()
	for _, client := range []*http.Client{NewClient(given, nil), NewClient(nil, NewTransport())} {
		req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodPost, server.URL, http.NoBody)
		stdtest.Must(t, err)
		resp, err := client.Do(req)
		stdtest.Must(t, err)
		_ = resp.Body.Close()
		client.CloseIdleConnections()
		if resp.StatusCode != http.StatusTemporaryRedirect {
			t.Errorf("status %d", resp.StatusCode)
		}
	}
	if given.CheckRedirect != nil {
		t.Error("the client that was given was changed")
	}
}
