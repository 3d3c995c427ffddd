package httpcall

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

// Answer is the response of a service.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Do sends a request and reads at most most bytes of the response. Errors are [*Error] and contain
// neither URL nor secret.
func Do(client *http.Client, req *http.Request, call, secret string, most int64) (Answer, error) {
	ctx, progress := Traced(req.Context())
	resp, err := client.Do(req.WithContext(ctx))
	if err != nil {
		return Answer{}, &Error{Call: call, Sent: progress.Sent(), Err: Bare(err, secret)}
	}
	defer resp.Body.Close() //nolint:errcheck // nothing was written
	var buf bytes.Buffer
	if n := resp.ContentLength; n > 0 && n < most {
		buf.Grow(int(n) + bytes.MinRead)
	}
	if _, err = buf.ReadFrom(io.LimitReader(watched(ctx, resp.Body), most)); err != nil {
		return Answer{}, &Error{Call: call, Status: resp.StatusCode, Sent: true, Err: Bare(err, secret)}
	}
	return Answer{resp.StatusCode, resp.Header, buf.Bytes()}, nil
}

// SendFailed converts the error of a send that got no usable answer.
func SendFailed(err error) *platform.Error {
	out := &platform.Error{Reason: platform.SendNetwork, Retryable: true, Err: err}
	if e, ok := errors.AsType[*Error](err); ok {
		out.Unknown = e.Sent
		if e.Status >= http.StatusInternalServerError {
			out.Reason = platform.SendServer
		}
	}
	if errors.Is(err, context.Canceled) {
		out.Retryable = false // the caller gave up
	}
	return out
}

// Copy writes at most limit bytes of a file's body to w, and closes the body.
func Copy(w io.Writer, body io.ReadCloser, limit int64) error {
	defer body.Close() //nolint:errcheck // only read from
	n, err := io.Copy(w, io.LimitReader(body, limit+1))
	switch {
	case err != nil:
		return &Error{Call: "download", Sent: true, Err: errors.New("the file broke off")}
	case n > limit:
		return platform.ErrTooLarge
	}
	return nil
}
