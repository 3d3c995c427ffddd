package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

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

// pieces are an answer on one protocol: its head, reasoning, the text "a", the finish reason, what ends
// the answer, the finish reason included, and an error with a text that reports an overload.
type pieces struct {
	api                                          API
	head, thought, text, finish, closing, failed string
}

func protocols() map[string]pieces {
	event := func(data string) string { return "data: " + data + "\n\n" }
	stop := event(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}`)
	completed := event(`{"type":"response.completed","response":{"id":"r","status":"completed","output":[],"usage":{"input_tokens":1,"output_tokens":1}}}`)
	return map[string]pieces{
		"chat": {APIChat, rolePiece, thoughtPiece, textPiece, finishPiece, lastPiece, event(`{"error":{"message":"%s","code":529}}`)},
		"messages": {
			APIMessages, event(`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[]}}`),
			event(`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}`) + event(`{"type":"content_block_stop","index":0}`),
			event(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`) +
				event(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`) + event(`{"type":"content_block_stop","index":0}`),
			stop, stop + event(`{"type":"message_stop"}`), event(`{"type":"error","error":{"type":"overloaded_error","message":"%s"}}`),
		},
		"responses": {
			APIResponses, event(`{"type":"response.created","response":{"id":"r","status":"in_progress","output":[]}}`),
			event(`{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[]}}`),
			event(`{"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"content_index":0,"delta":"a"}`), completed, completed,
			event(`{"type":"error","code":"server_error","message":"%s","param":null}`),
		},
	}
}

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
// active ones continue, on every protocol.
func TestRL2IdleDeadline(t *testing.T) {
	for name, p := range protocols() {
		t.Run(name, func(t *testing.T) { p.idleDeadline(t) })
	}
}

// idleCase is an answer that arrives slowly.
type idleCase struct {
	name      string
	transport roundTrip
	text      string
	reason    model.Reason
	took      time.Duration
}

func (p pieces) idleDeadline(t *testing.T) {
	t.Helper()
	comment, head := piece{100 * time.Second, ": wait\n\n"}, piece{0, p.head}
	tests := []idleCase{
		{"lively for an hour", slow(0, true, p.hour()...), strings.Repeat("a", 36), "", time.Hour + 100*time.Second},
		{"comments count as life", slow(0, true, head, piece{0, p.text}, comment, comment, comment, piece{100 * time.Second, p.closing}), "a", "", 400 * time.Second},
		{"silent after the first", slow(0, false, head, piece{time.Second, p.text}), "a", model.ReasonIdle, 121 * time.Second},
		{"no headers", slow(time.Hour, true), "", model.ReasonIdle, 110 * time.Second},
		{"headers and no byte", slow(time.Second, false), "", model.ReasonIdle, 110 * time.Second},
		{"comments are no word", slow(time.Second, false, keepAlives()...), "", model.ReasonIdle, 110 * time.Second},
		{"a head without a word", slow(time.Second, false, append([]piece{head}, keepAlives()...)...), "", model.ReasonIdle, 110 * time.Second},
		{"reasoning is a word", slow(0, true, head, piece{100 * time.Second, p.thought}, comment, comment, piece{0, p.text}, piece{0, p.closing}), "a", "", 300 * time.Second},
		{"patient before the first word", slow(80*time.Second, true, head, piece{20 * time.Second, p.text}, piece{0, p.closing}), "a", "", 100 * time.Second},
		{"never closed after the end", slow(0, false, head, piece{0, p.text}, piece{0, p.closing}), "a", "", endTime},
	}
	silent := idleCase{"silent behind the finish reason", slow(0, false, head, piece{0, p.text}, piece{time.Second, p.finish}), "a", "", time.Second + usageTime}
	if p.finish == p.closing {
		silent.took = time.Second + endTime // nothing can follow it
	}
	tests = append(tests, silent)
	if p.api == APIChat {
		tests = append(tests,
			idleCase{"usage long after the finish reason", slow(0, true, piece{0, textPiece}, piece{0, finishPiece}, piece{usageTime - 1, usagePiece}), "a", "", usageTime - 1},
			idleCase{"silent behind a reason that comes with words", slow(0, false, piece{0, textPiece}, piece{0, wordyPiece}), "ab", model.ReasonIdle, 120 * time.Second})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newModel(t, Options{Endpoint: Endpoint{API: p.api}, Transport: tt.transport, MaxAttempts: 1, FirstByteTimeout: 110 * time.Second})
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
			stdtest.Must(t, err)
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
func (p pieces) hour() []piece {
	out := []piece{{0, p.head}}
	for range 36 {
		out = append(out, piece{100 * time.Second, p.text})
	}
	return append(out, piece{100 * time.Second, p.closing})
}

// failing answers with the given failures, then with an answer.
type failing struct {
	asked    int
	answer   string // if empty, one of chat completions
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
		return answers{status: 200, body: cmp.Or(f.answer, textPiece+lastPiece)}.RoundTrip(r)
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
// waits, on every protocol.
func TestRL3Retries(t *testing.T) {
	for name, p := range protocols() {
		t.Run(name, func(t *testing.T) { p.retries(t) })
	}
}

func (p pieces) retries(t *testing.T) {
	t.Helper()
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
		{"in words, in the stream", []failure{streamed(fmt.Sprintf(p.failed, "Overloaded, retry in 4s"))}, 2, 4 * time.Second, 4401 * time.Millisecond, ""},
		{"past date", []failure{status(503, "Retry-After", "Sat, 01 Jan 1999 00:00:20 GMT")}, 2, 1, 501 * time.Millisecond, ""},
		{"asks for too long a wait", []failure{status(429, "Retry-After", "31")}, 1, 0, 0, model.ReasonRate},
		{"waits use up the budget", []failure{status(429, "Retry-After", "30"), status(429, "Retry-After", "30"), status(429, "Retry-After", "30")}, 3, time.Minute, time.Minute, model.ReasonRate},
		{"not worth it", []failure{status(400)}, 1, 0, 0, model.ReasonBadRequest},
		{"nothing to pay with", []failure{{status: 429, body: `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`}}, 1, 0, 0, model.ReasonQuota},
		{"server says no", []failure{status(503, "X-Should-Retry", "false")}, 1, 0, 0, model.ReasonOverloaded},
		{"cut before the first word", []failure{streamed(""), streamed(p.head)}, 3, 1, 1502 * time.Millisecond, ""},
		{"error before the first word", []failure{streamed(p.head + fmt.Sprintf(p.failed, "overloaded"))}, 2, 1, 501 * time.Millisecond, ""},
		{"cut after the first word", []failure{streamed(p.head + p.text)}, 1, 0, 0, model.ReasonCut},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				transport := &failing{failures: tt.failures, answer: p.head + p.text + p.closing}
				m := newModel(t, Options{Endpoint: Endpoint{API: p.api}, Transport: transport})
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
