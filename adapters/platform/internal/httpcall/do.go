package httpcall

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/retry"
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
		return &Error{Call: "download", Sent: true, Err: errors.New("the file was cut off")}
	case n > limit:
		return platform.ErrTooLarge
	}
	return nil
}

// downloadTries is how often a download is tried when the service fails.
const downloadTries = 3

// Download opens a file of a service and writes at most limit bytes of it to w. again reports for a
// failure whether, and after what pause, it may be tried once more.
func Download(ctx context.Context, w io.Writer, limit int64, open func() (io.ReadCloser, error), again func(err error, tries int) (pause time.Duration, ok bool)) error {
	for tries := 0; ; tries++ {
		body, err := open()
		if err == nil {
			return Copy(w, body, limit)
		}
		pause, ok := again(err, tries)
		if !ok || tries+1 >= downloadTries || ctx.Err() != nil {
			return err
		}
		retry.Wait(ctx, pause)
	}
}

// SameSecret compares digests, so that the duration reveals neither content nor length.
func SameSecret(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
