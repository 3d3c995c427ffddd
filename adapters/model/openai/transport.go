package openai

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
)

const (
	maxErrorBody = 64 << 10               // bytes read of a failed answer
	endTime      = 100 * time.Millisecond // for the end of an answer, before the caller goes on
	drainTime    = 2 * time.Second        // for it in all, so that its connection can be used again
	maxDrain     = 4 << 10                // bytes of it
	userAgent    = "shipmyagent"
)

// exchange is one request on its way; the context carries it through the library
// to the doer.
type exchange struct {
	body     body
	endpoint Endpoint
	watch    *watchdog
	resp     *http.Response
}

type exchangeKey struct{}

// doer sends our own body bytes instead of the library's, watches the bytes of the
// answer and turns failures into [*model.Error], with the headers at hand that the
// library drops.
type doer struct {
	client *http.Client
	masker *masker
}

func newDoer(transport http.RoundTripper, m *masker) *doer {
	return &doer{masker: m, client: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Do implements the library's HTTPDoer.
func (d *doer) Do(req *http.Request) (*http.Response, error) {
	x, ok := req.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return nil, &model.Error{Reason: model.ReasonInternal, Message: "request without an exchange"}
	}
	d.prepare(req, x)
	resp, err := d.client.Do(req)
	if err != nil {
		return nil, d.networkError(err)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // what came says enough
		_ = resp.Body.Close()
		return nil, x.endpoint.refused(d.masker.statusError(resp.StatusCode, resp.Header, body, time.Now()), resp.Header, body)
	}
	resp.Body = &watchedBody{ReadCloser: resp.Body, watch: x.watch}
	if err := x.endpoint.checkAnswer(resp); err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	x.resp = resp
	return resp, nil
}

// bodyReader reads a request's body: the shared head, the chat's own messages and
// what closes it. Unlike io.MultiReader it has no WriteTo, with which every request
// would cost a copy buffer of 32 KiB.
type bodyReader struct {
	head, own []byte
	end       string
}

// Read implements io.Reader.
func (b *bodyReader) Read(p []byte) (int, error) {
	n := copy(p, b.head)
	b.head = b.head[n:]
	if len(b.head) == 0 {
		m := copy(p[n:], b.own)
		b.own = b.own[m:]
		n += m
	}
	if len(b.head)+len(b.own) == 0 {
		m := copy(p[n:], b.end)
		b.end = b.end[m:]
		n += m
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Close implements io.Closer.
func (*bodyReader) Close() error { return nil }

func (d *doer) prepare(req *http.Request, x *exchange) {
	open := func() (io.ReadCloser, error) {
		return &bodyReader{x.body.head.bytes, x.body.own, bodyEnd}, nil
	}
	req.Body, _ = open()
	req.GetBody = open
	req.ContentLength = int64(len(x.body.head.bytes) + len(x.body.own) + len(bodyEnd))
	req.Header.Del("Connection")
	x.endpoint.decorate(req)
}

func (d *doer) networkError(err error) *model.Error {
	_, badCert := errors.AsType[*tls.CertificateVerificationError](err)
	return &model.Error{Reason: model.ReasonNetwork, Retryable: !badCert, Message: d.masker.message(err.Error())}
}

// watchdog ends a request whose answer does not begin, or falls silent.
type watchdog struct {
	idle   time.Duration // 0: bytes are no life any more
	began  *atomic.Bool  // something was said; before, bytes are no life either
	timer  *time.Timer
	cancel context.CancelCauseFunc
	detach func() bool
}

// errUnheard is under the error of an answer that did not begin in time.
var errUnheard = errors.New("no word of an answer")

// newWatchdog returns a context that ends with the caller's, or when nothing was said
// for first, and later no byte came for idle. Stop it, or drain.
func newWatchdog(caller context.Context, first, idle time.Duration) (context.Context, *watchdog) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(caller))
	w := &watchdog{idle: idle, cancel: cancel, began: new(atomic.Bool)}
	w.detach = context.AfterFunc(caller, func() { cancel(context.Cause(caller)) })
	if caller.Err() != nil {
		cancel(context.Cause(caller)) // at once
	}
	w.timer = time.AfterFunc(first, func() {
		silent := &model.Error{Reason: model.ReasonIdle, Retryable: true, Message: "the answer fell silent"}
		if !w.began.Load() {
			silent.Message, silent.Err = "the model said nothing for "+first.String(), errUnheard
		}
		cancel(silent)
	})
	return ctx, w
}

func (w *watchdog) saw(n int) {
	if n > 0 && w.idle > 0 && w.began.Load() {
		w.timer.Reset(w.idle)
	}
}

// drain lets an answer that is complete come to its end, which nearly always is there
// already: a service that counts requests under way should not see the chat's next one
// before. A busy server closes late; the rest is awaited beside the caller, who may be
// gone by then, since a connection that is given up costs a new one. It takes care of
// the stop.
func (w *watchdog) drain(rest io.ReadCloser) {
	w.detach()
	w.idle = 0
	w.timer.Reset(drainTime)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer w.stop()
		_, _ = io.Copy(io.Discard, io.LimitReader(rest, maxDrain)) // best effort: only the connection's next use depends on it
		_ = rest.Close()
	}()
	select {
	case <-ended:
	case <-time.After(endTime):
	}
}

func (w *watchdog) stop() {
	w.detach()
	w.timer.Stop()
	w.cancel(nil)
}

// watchedBody tells the watchdog about every byte.
type watchedBody struct {
	io.ReadCloser
	watch *watchdog
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.watch.saw(n)
	return n, err
}
