package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model/provider"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

// cutPoints are positions in an answer: count of them spread over its length, or with SOAK set
// every byte.
func cutPoints(length, count int) []int {
	step := 1
	if os.Getenv("SOAK") == "" {
		step = length / count
	}
	var out []int
	for at := 0; at < length; at += step {
		out = append(out, at)
	}
	return out
}

// cut sends the beginning of an answer and stops: by closing the connection, or by an end that
// looks orderly. In the middle it waits long enough for a draft.
func cut(w http.ResponseWriter, body string, at int, orderly bool) {
	sse(w, body[:at/2])
	<-time.After(2 * time.Second)
	sse(w, body[at/2:at])
	if !orderly {
		panic(http.ErrAbortHandler)
	}
}

// pay is a tool with an effect, which counts how often it was started.
func pay(times *atomic.Int32) tool.Tool {
	return actortest.Func{Says: tool.Spec{Name: "pay"}, Do: func(context.Context, tool.Call) (tool.Result, error) {
		times.Add(1)
		return tool.Result{Output: json.RawMessage(`"paid"`)}, nil
	}}
}

func drafts() *actortest.Platform {
	return &actortest.Platform{Caps: platform.Capabilities{Outbox: true, Drafts: true}}
}

// A stream that is cut at any position is requested again: the call runs once, the history has one
// complete answer, and nothing else is visible in the chat.
func TestRL1CutAnywhereThenWhole(t *testing.T) {
	points := cutPoints(len(callPay), 50)
	for i, at := range points {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProvider(t, func(w http.ResponseWriter, r *http.Request, n int) {
					body, err := io.ReadAll(r.Body)
					switch {
					case err != nil:
						t.Error(err)
					case strings.Contains(string(body), `"role":"tool"`):
						sse(w, say("Paid."))
					case n == 1:
						cut(w, callPay, at, i%2 == 0)
					default:
						sse(w, callPay)
					}
				})
				var paid atomic.Int32
				w := newWorld(t, actortest.Options{Model: p.model(t, provider.Options{}), Platform: drafts(), Tools: actortest.Tools(pay(&paid))})
				w.Say(alice, "alice", "pay")
				<-time.After(time.Minute)
				v := w.View(alice)
				if diff := cmp.Diff([]string{"I will pay.\nPaid. = done "}, answers(v.Messages)); diff != "" {
					t.Errorf("answers (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff([]string{`pay output-available "paid"`}, outcomes(v.Messages)); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
				if texts := w.Platform.Texts(alice); len(texts) != 1 || !strings.HasSuffix(texts[0], "Paid.") {
					t.Errorf("in the chat stands %q", texts)
				}
				want := 3
				if strings.Contains(callPay[:at], `"finish_reason":"tool_calls"}]}`) {
					want = 2 // nothing is cut off after the finish reason
				}
				if n := len(p.times()); paid.Load() != 1 || n != want {
					t.Errorf("paid %d times in %d requests, want %d", paid.Load(), n, want)
				}
			})
		})
	}
	t.Logf("%d cut points", len(points))
}

// A cut after a call that took effect repeats the step that was cut, and nothing before it.
func TestRL1CutBehindTheCall(t *testing.T) {
	said := say("Pa", "id.")
	for i, at := range cutPoints(strings.Index(said, `"finish_reason"`), 20) {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProvider(t, func(w http.ResponseWriter, _ *http.Request, n int) {
					switch n {
					case 1:
						sse(w, callPay)
					case 2:
						cut(w, said, at, i%2 == 0)
					default:
						sse(w, said)
					}
				})
				var paid atomic.Int32
				w := newWorld(t, actortest.Options{Model: p.model(t, provider.Options{}), Platform: drafts(), Tools: actortest.Tools(pay(&paid))})
				w.Say(alice, "alice", "pay")
				<-time.After(time.Minute)
				if diff := cmp.Diff([]string{"I will pay.\nPaid. = done "}, answers(w.View(alice).Messages)); diff != "" {
					t.Errorf("answers (-want +got):\n%s", diff)
				}
				if n := len(p.times()); paid.Load() != 1 || n != 3 || len(w.Platform.Texts(alice)) != 1 {
					t.Errorf("paid %d times in %d requests; in the chat stands %q", paid.Load(), n, w.Platform.Texts(alice))
				}
			})
		})
	}
}

// If the provider reports an overload in the middle of an answer, the run waits as long as the
// provider asks, and the answer starts again.
func TestRL3OverloadInTheStream(t *testing.T) {
	for _, code := range []string{"429", "503", "529"} {
		t.Run(code, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProvider(t, func(w http.ResponseWriter, _ *http.Request, n int) {
					if n < 3 {
						sse(w, strings.SplitAfter(say("Hel"), "\n\n")[0]+`data: {"error":{"message":"Too busy, please retry in 7s","code":`+code+"}}\n\n")
						return
					}
					sse(w, say("Hello."))
				})
				w := newWorld(t, actortest.Options{Model: p.model(t, provider.Options{})})
				w.Say(alice, "alice", "hi")
				<-time.After(time.Minute)
				if diff := cmp.Diff([]string{"Hello."}, w.Platform.Texts(alice)); diff != "" {
					t.Errorf("sent (-want +got):\n%s", diff)
				}
				times := p.times()
				for i := 1; i < len(times); i++ {
					if wait := times[i].Sub(times[i-1]); wait < 7*time.Second || wait > 8*time.Second {
						t.Errorf("asked again after %v", wait)
					}
				}
				if len(times) != 3 {
					t.Errorf("%d requests, want 3", len(times))
				}
			})
		})
	}
}

// A stream that is always cut ends with a notice and nothing else: no partial text
// is stored as an answer or left visible as one, and no call has run.
func TestRL1CutForEver(t *testing.T) {
	end := strings.Index(callPay, `"finish_reason"`)
	for i, at := range cutPoints(end, 20) {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProvider(t, func(w http.ResponseWriter, _ *http.Request, _ int) { cut(w, callPay, at, i%2 == 0) })
				var paid atomic.Int32
				w := newWorld(t, actortest.Options{Model: p.model(t, provider.Options{}), Platform: drafts(), Tools: actortest.Tools(pay(&paid))})
				w.Say(alice, "alice", "pay")
				<-time.After(5 * time.Minute)
				v := w.View(alice)
				if v.Running || v.Counts.Open != 0 || paid.Load() != 0 || len(outcomes(v.Messages)) != 0 {
					t.Errorf("running %t, %d open, paid %d times, calls %q", v.Running, v.Counts.Open, paid.Load(), outcomes(v.Messages))
				}
				if got := answers(v.Messages); len(got) != 1 || !strings.HasPrefix(got[0], " = failed ") {
					t.Errorf("stored %q", got)
				}
				if texts := w.Platform.Texts(alice); len(texts) != 1 || !strings.Contains(texts[0], "it broke off") {
					t.Errorf("in the chat stands %q", texts)
				}
				// If words arrived in time there was a draft, and the notice replaces it.
				if sent := w.Platform.Sent(); at/2 > strings.Index(callPay, ": a comment") && sent[0].Edits == 0 {
					t.Error("there was no draft")
				}
				// The run makes 4 requests after cuts, the model client 6 before a first word.
				if n := len(p.times()); n < 4 || n > 6 {
					t.Errorf("%d requests", n)
				}
			})
		})
	}
}

// A stream that pauses after its first words is cut at the idle deadline, to the second, and
// requested again; one that sends comments has until firstByteS.
func TestRL2SilenceInTheMiddle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProvider(t, func(w http.ResponseWriter, r *http.Request, n int) {
			if n == 1 {
				sse(w, strings.SplitAfter(say("Hel"), "\n\n")[0])
				<-r.Context().Done()
				return
			}
			for range 5 { // a slow one: only comments for 50 s
				sse(w, ": wait\n\n")
				<-time.After(10 * time.Second)
			}
			sse(w, say("Hello."))
		})
		w := newWorld(t, actortest.Options{Model: p.model(t, provider.Options{})})
		w.Say(alice, "alice", "hi")
		<-time.After(time.Hour)
		if diff := cmp.Diff([]string{"Hello."}, w.Platform.Texts(alice)); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
		times := p.times()
		if len(times) != 2 {
			t.Fatalf("%d requests, want 2", len(times))
		}
		// The deadline, and the jitter of a first retry.
		if after := times[1].Sub(times[0]); after < 120*time.Second || after >= 121*time.Second {
			t.Errorf("asked again after %v", after)
		}
	})
}
