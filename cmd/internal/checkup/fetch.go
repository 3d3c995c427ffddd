package checkup

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"
)

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
