package openai

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/internal/apicall"
	"github.com/shipmyagent/shipmyagent/adapters/speech"
)

// maxErrorBody bounds how many bytes of a failed response are read.
const maxErrorBody = 64 << 10

// doer sends the library's requests, bounds the responses and turns failures into [*speech.Error],
// while the headers, which the library drops, are available.
type doer struct {
	client *http.Client
	limit  int64
	key    string
}

// Do implements the library's HTTPDoer.
func (d *doer) Do(req *http.Request) (*http.Response, error) {
	req.Header.Set("User-Agent", "shipmyagent")
	resp, err := d.client.Do(req)
	if err != nil {
		badCert := apicall.BadCertificate(err)
		e := &speech.Error{Reason: speech.ReasonNetwork, Retryable: !badCert, Message: "the service is not reached"}
		if badCert {
			e.Message = "the certificate of the service is not valid"
		}
		if op, ok := errors.AsType[*net.OpError](err); badCert || ok && op.Op == "dial" {
			e.Err = speech.ErrUnsent
		}
		return nil, e
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // a part of the body is enough
		_ = resp.Body.Close()
		return nil, d.refused(resp, body, time.Now())
	}
	resp.Body = &bounded{io.LimitReader(resp.Body, d.limit+1), resp.Body}
	return resp, nil
}

// bounded is a body that is cut off at a limit, and fails if the connection breaks.
type bounded struct {
	from io.Reader
	io.Closer
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = &speech.Error{Reason: speech.ReasonNetwork, Retryable: true, Message: "the answer broke off"}
	}
	return n, err
}

// refused classifies a response with an error status.
func (d *doer) refused(resp *http.Response, body []byte, now time.Time) *speech.Error {
	e := &speech.Error{Reason: speech.ReasonRefused, Status: resp.StatusCode, Message: d.code(body), RetryAfter: apicall.RetryAfter(resp.Header, now)}
	switch s := resp.StatusCode; {
	case s == http.StatusUnauthorized, s == http.StatusForbidden:
		e.Reason = speech.ReasonAuth
	case s == http.StatusPaymentRequired, e.Message == "insufficient_quota":
		e.Reason = speech.ReasonRate
	case s == http.StatusTooManyRequests:
		e.Reason, e.Retryable = speech.ReasonRate, true
	case s >= http.StatusInternalServerError, s == http.StatusRequestTimeout:
		e.Reason, e.Retryable = speech.ReasonServer, true
	case s == http.StatusRequestEntityTooLarge:
		e.Reason = speech.ReasonLong
	case s >= 300 && s < 400:
		e.Message = "the service redirects elsewhere, which is not followed; set the final address"
	}
	return e
}

// code returns the error code of a failed response, such as model_not_found. Its message is
// ignored, because it may contain what was said.
func (d *doer) code(body []byte) string {
	var in struct {
		Error struct {
			Code any    `json:"code"`
			Type string `json:"type"`
		} `json:"error"`
	}
	_ = json.Unmarshal(body, &in) // use whatever could be decoded
	word, _ := in.Error.Code.(string)
	for _, w := range []string{word, in.Error.Type} {
		if regexp.MustCompile(`^[a-z]+(_[a-z]+){0,5}$`).MatchString(w) && len(w) <= 40 && (d.key == "" || !strings.Contains(w, d.key) && !strings.Contains(d.key, w)) {
			return w
		}
	}
	return ""
}
