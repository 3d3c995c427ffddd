package provider

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/shipmyagent/shipmyagent/adapters/internal/apicall"
	"github.com/shipmyagent/shipmyagent/adapters/model"
)

// dialCounter counts new connections.
type dialCounter struct {
	*http.Transport
	n atomic.Int64
}

func (d *dialCounter) RoundTrip(r *http.Request) (*http.Response, error) {
	trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		if !info.Reused {
			d.n.Add(1)
		}
	}}
	return d.Transport.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
}

func (d *dialCounter) fresh() int64 { return d.n.Load() }

// piece is some bytes of a body and the silence before them.
type piece struct {
	after time.Duration
	bytes string
}

// slowBody provides its pieces on time and respects the request's context, like the body of a
// connection. Without an end it stays silent forever.
type slowBody struct {
	wait   func(time.Duration) error
	pieces []piece
	ends   bool
}

func (b *slowBody) Read(p []byte) (int, error) {
	if len(b.pieces) == 0 {
		if b.ends {
			return 0, io.EOF
		}
		return 0, b.wait(1 << 62)
	}
	if err := b.wait(b.pieces[0].after); err != nil {
		return 0, err
	}
	n := copy(p, b.pieces[0].bytes)
	b.pieces = b.pieces[1:]
	return n, nil
}

func (*slowBody) Close() error { return nil }

const (
	textPiece    = "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n"
	rolePiece    = "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n"
	thoughtPiece = "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"h\"}}]}\n\n"
	// The finish reason alone, with text, and what may follow it.
	finishPiece = "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
	wordyPiece  = "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\n\n"
	usagePiece  = "data: {\"id\":\"x\",\"choices\":[],\"usage\":{\"prompt_tokens\":1}}\n\n"
	lastPiece   = "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
)

// slow is a transport whose answers arrive in pieces.
func slow(headersAfter time.Duration, ends bool, pieces ...piece) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		wait := func(d time.Duration) error {
			if apicall.Pause(r.Context(), d) != nil {
				return r.Context().Err()
			}
			return nil
		}
		if err := wait(headersAfter); err != nil {
			return nil, err
		}
		h := http.Header{"Content-Type": {"text/event-stream"}}
		return &http.Response{StatusCode: 200, Header: h, Request: r, Body: &slowBody{wait: wait, pieces: pieces, ends: ends}}, nil
	}
}

// TestRL2IdleDeadline plays answers in simulated time: silence ends them exactly on time, and
// active ones continue.
func TestRL2IdleDeadline(t *testing.T) {
	comment := piece{100 * time.Second, ": wait\n\n"}
	tests := []struct {
		name      string
		transport roundTrip
		text      string
		reason    model.Reason
		took      time.Duration
	}{
		{"lively for an hour", slow(0, true, hour()...), strings.Repeat("a", 36), "", time.Hour + 100*time.Second},
		{"comments count as life", slow(0, true, piece{0, textPiece}, comment, comment, comment, piece{100 * time.Second, lastPiece}), "a", "", 400 * time.Second},
		{"silent after the first", slow(0, false, piece{time.Second, textPiece}), "a", model.ReasonIdle, 121 * time.Second},
		{"no headers", slow(time.Hour, true), "", model.ReasonIdle, 110 * time.Second},
		{"headers and no byte", slow(time.Second, false), "", model.ReasonIdle, 110 * time.Second},
		{"comments are no word", slow(time.Second, false, keepAlives()...), "", model.ReasonIdle, 110 * time.Second},
		{"a chunk without a word", slow(time.Second, false, append([]piece{{0, rolePiece}}, keepAlives()...)...), "", model.ReasonIdle, 110 * time.Second},
		{"reasoning is a word", slow(0, true, piece{100 * time.Second, thoughtPiece}, comment, comment, piece{0, textPiece}, piece{0, lastPiece}), "a", "", 300 * time.Second},
		{"patient before the first word", slow(80*time.Second, true, piece{20 * time.Second, textPiece}, piece{0, lastPiece}), "a", "", 100 * time.Second},
		{"silent behind the finish reason", slow(0, false, piece{0, textPiece}, piece{time.Second, finishPiece}), "a", "", time.Second + usageTime},
		{"usage long after the finish reason", slow(0, true, piece{0, textPiece}, piece{0, finishPiece}, piece{usageTime - 1, usagePiece}), "a", "", usageTime - 1},
		{"silent behind a reason that comes with words", slow(0, false, piece{0, textPiece}, piece{0, wordyPiece}), "ab", model.ReasonIdle, 120 * time.Second},
		{"never closed after the end", slow(0, false, piece{0, textPiece}, piece{0, lastPiece}), "a", "", endTime},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newModel(t, Options{Transport: tt.transport, MaxAttempts: 1, FirstByteTimeout: 110 * time.Second})
				start := time.Now()
				text, finished, err := said(t.Context(), m, hello())
				if text != tt.text || finished != (tt.reason == "") {
					t.Errorf("heard %q, finished %t, error %v", text, finished, err)
				}
				if tt.reason != "" && model.ReasonOf(err) != tt.reason {
					t.Errorf("failed with %v, want %s", err, tt.reason)
				}
				if took := time.Since(start); took != tt.took {
					t.Errorf("took %s, want %s", took, tt.took)
				}
				<-time.After(2 * drainTime) // a connection whose answer does not end has been closed by then
			})
		})
	}
}

// TestSlowAnswers plays an answer of each protocol with a second between its bytes.
func TestSlowAnswers(t *testing.T) {
	for _, name := range []string{"chat/openai", "messages/text", "responses/text"} {
		t.Run(name, func(t *testing.T) {
			archive, err := txtar.ParseFile(filepath.Join("testdata", "streams", name+".txtar"))
			if err != nil {
				t.Fatal(err)
			}
			var pieces []piece
			for _, b := range archive.Files[0].Data {
				pieces = append(pieces, piece{time.Second, string(b)})
			}
			synctest.Test(t, func(t *testing.T) {
				e := Endpoint{API: apiOf(filepath.Dir(name))}
				m := newModel(t, Options{Endpoint: e, Transport: slow(0, true, pieces...), MaxAttempts: 1, IdleTimeout: 2 * time.Second, FirstByteTimeout: time.Hour})
				if text, finished, err := said(t.Context(), m, hello()); text == "" || !finished {
					t.Errorf("heard %q, finished %t, error %v", text, finished, err)
				}
				<-time.After(2 * drainTime) // a connection whose answer does not end has been closed by then
			})
		})
	}
}

// A model that accepts the request and stays silent is given up, and the call does not retry it. It
// gets less time if there are fallbacks.
func TestRL3SilentServerIsGivenUp(t *testing.T) {
	for _, tt := range []struct {
		name      string
		fallbacks []Endpoint
		first     time.Duration
		want      time.Duration
	}{
		{"alone", nil, 0, time.Minute},
		{"with fallbacks that are silent, too", []Endpoint{{Model: "second"}, {Model: "third"}}, 0, 45 * time.Second},
		{"as it is set", nil, 5 * time.Second, 5 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newModel(t, Options{Transport: slow(time.Hour, true), Fallbacks: tt.fallbacks, FirstByteTimeout: tt.first})
				start := time.Now()
				_, _, err := said(t.Context(), m, hello())
				if took := time.Since(start); model.ReasonOf(err) != model.ReasonIdle || took != tt.want {
					t.Errorf("failed with %v after %s, want idle after %s", err, took, tt.want)
				}
			})
		})
	}
}

// keepAlives are comments that arrive every second for an hour.
func keepAlives() []piece {
	return slices.Repeat([]piece{{time.Second, ": ping\n\n"}}, 3600)
}

// hour is an answer of an hour with a piece every 100 seconds.
func hour() []piece {
	var out []piece
	for range 36 {
		out = append(out, piece{100 * time.Second, textPiece})
	}
	return append(out, piece{100 * time.Second, lastPiece})
}

// failing answers with the given failures, then with text.
type failing struct {
	asked    int
	failures []failure
}

// failure is an answer: a status, a stream, or a connection error.
type failure struct {
	status  int
	headers []string // names and values
	body    string   // if empty, an error without a text
	stream  string
	err     error
}

func (f *failing) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	f.asked++
	if f.asked > len(f.failures) {
		return answers{status: 200, body: textPiece + lastPiece}.RoundTrip(r)
	}
	fail := f.failures[f.asked-1]
	switch {
	case fail.err != nil:
		return nil, fail.err
	case fail.status == 0:
		return answers{status: 200, body: fail.stream}.RoundTrip(r)
	}
	resp, err := answers{status: fail.status, body: cmp.Or(fail.body, `{"error":{"message":"no"}}`)}.RoundTrip(r)
	for i := 0; i < len(fail.headers); i += 2 {
		resp.Header.Set(fail.headers[i], fail.headers[i+1])
	}
	return resp, err
}

func status(code int, headers ...string) failure { return failure{status: code, headers: headers} }

func streamed(body string) failure { return failure{stream: body} }

// TestRL3Retries plays failures in simulated time, and checks how often and how long the call
// waits.
func TestRL3Retries(t *testing.T) {
	busy, reset := status(503), failure{err: errors.New("connection reset")}
	tests := []struct {
		name     string
		failures []failure
		asked    int
		min, max time.Duration
		reason   model.Reason
	}{
		{"none", nil, 1, 0, 0, ""},
		{"once", []failure{busy}, 2, 1, 501 * time.Millisecond, ""},
		{"reset", []failure{reset, reset}, 3, 1, 1502 * time.Millisecond, ""},
		{"too often", []failure{busy, busy, busy, busy, busy, busy}, 6, 1, 15505 * time.Millisecond, model.ReasonOverloaded},
		{"seconds", []failure{status(429, "Retry-After", "7")}, 2, 7 * time.Second, 7701 * time.Millisecond, ""},
		{"milliseconds", []failure{status(429, "Retry-After-Ms", "250")}, 2, 250 * time.Millisecond, 276 * time.Millisecond, ""},
		{"date", []failure{status(503, "Retry-After", "Sat, 01 Jan 2000 00:00:20 GMT")}, 2, 20 * time.Second, 22001 * time.Millisecond, ""},
		{"in words", []failure{{status: 429, body: `{"error":{"message":"Rate limit reached. Please try again in 6.5s."}}`}}, 2, 6500 * time.Millisecond, 7151 * time.Millisecond, ""},
		{"in words, in the stream", []failure{streamed("data: {\"error\":{\"message\":\"Overloaded, retry in 4s\",\"code\":529}}\n\n")}, 2, 4 * time.Second, 4401 * time.Millisecond, ""},
		{"past date", []failure{status(503, "Retry-After", "Sat, 01 Jan 1999 00:00:20 GMT")}, 2, 1, 501 * time.Millisecond, ""},
		{"asks for too long a wait", []failure{status(429, "Retry-After", "31")}, 1, 0, 0, model.ReasonRate},
		{"waits use up the budget", []failure{status(429, "Retry-After", "30"), status(429, "Retry-After", "30"), status(429, "Retry-After", "30")}, 3, time.Minute, time.Minute, model.ReasonRate},
		{"not worth it", []failure{status(400)}, 1, 0, 0, model.ReasonBadRequest},
		{"nothing to pay with", []failure{{status: 429, body: `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`}}, 1, 0, 0, model.ReasonQuota},
		{"server says no", []failure{status(503, "X-Should-Retry", "false")}, 1, 0, 0, model.ReasonOverloaded},
		{"cut before the first word", []failure{streamed(""), streamed("data: {\"id\":\"x\",\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n")}, 3, 1, 1502 * time.Millisecond, ""},
		{"error before the first word", []failure{streamed("data: {\"error\":{\"message\":\"overloaded\"}}\n\n")}, 2, 1, 501 * time.Millisecond, ""},
		{"cut after the first word", []failure{streamed(textPiece)}, 1, 0, 0, model.ReasonCut},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				transport := &failing{failures: tt.failures}
				m := newModel(t, Options{Transport: transport})
				start := time.Now()
				_, finished, err := said(t.Context(), m, hello())
				if finished != (tt.reason == "") || err != nil && model.ReasonOf(err) != tt.reason {
					t.Errorf("finished %t with %v, want %q", finished, err, tt.reason)
				}
				if took := time.Since(start); transport.asked != tt.asked || took < tt.min || took > tt.max {
					t.Errorf("asked %d times in %s, want %d in %s to %s", transport.asked, took, tt.asked, tt.min, tt.max)
				}
			})
		})
	}
}

// TestStopWhileWaiting ends the context between two attempts.
func TestStopWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := errors.New("stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		timer := time.AfterFunc(time.Second, func() { cancel(stop) })
		defer timer.Stop()
		m := newModel(t, Options{Transport: &failing{failures: []failure{status(429, "Retry-After", "20")}}})
		start := time.Now()
		if _, _, err := said(ctx, m, hello()); !errors.Is(err, stop) || time.Since(start) != time.Second {
			t.Errorf("ended with %v after %s", err, time.Since(start))
		}
	})
}
