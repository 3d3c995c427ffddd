package checkup

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// Mark is the verdict of one check.
type Mark string

// The verdicts.
const (
	OK   Mark = "ok"
	Warn Mark = "warn"
	Fail Mark = "fail"
	// Refused is Fail for a credential that a service refused, which has its own exit code. It is shown as Fail.
	Refused Mark = "refused"
)

// Finding is one line of doctor: a fact, and how to fix it.
type Finding struct {
	Group string `json:"group"`
	Mark  Mark   `json:"mark"`
	Fact  string `json:"fact"`
	Fix   string `json:"fix,omitempty"`
}

// New makes a finding.
func New(group string, m Mark, fact, fix string) Finding {
	return Finding{Group: group, Mark: m, Fact: fact, Fix: fix}
}

// ErrText is the system's error message, without repeated paths.
func ErrText(err error) string {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}

// OneLine is the beginning of a text on one line, without control characters.
func OneLine(text string, limit int) string {
	text = strings.Join(strings.Fields(text), " ")
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return -1
		}
		return r
	}, text)
	if runes := []rune(clean); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return clean
}

// maxAnswer bounds how much of a service's answer is read.
const maxAnswer = 4 << 20

// Fetch sends one GET request. Its error never contains the URL, which may contain a token.
func Fetch(ctx context.Context, via http.RoundTripper, address string, header http.Header) (status int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, FetchTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, nil, errors.New("that is not an address")
	}
	maps.Copy(req.Header, header)
	client := http.Client{Transport: via, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if u, ok := errors.AsType[*url.Error](err); ok {
		return 0, nil, u.Err
	}
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }() // read as far as needed
	body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return resp.StatusCode, body, err
}

// FetchTimeout bounds one request to a service.
const FetchTimeout = 15 * time.Second

// ConnectionFix is what helps with a connection that failed for a reason that has nothing to do with the network, or
// empty.
func ConnectionFix(said string) string {
	switch {
	case strings.Contains(said, "expired or is not yet valid"):
		return "compare the clock of this machine with another one: date"
	case strings.Contains(said, "unknown authority"):
		return "install ca-certificates, or name the file of the certificates to trust in SSL_CERT_FILE"
	case strings.Contains(said, "look like a TLS handshake"), strings.Contains(said, "HTTP response to HTTPS client"):
		return "write http:// instead of https://, or another port"
	}
	return ""
}
