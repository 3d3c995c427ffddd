package control_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/cmd/internal/control"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// options are those of a host without chats.
func options(t *testing.T) control.Options {
	t.Helper()
	desk, err := query.OpenStopped(query.StoppedOptions{State: t.TempDir() + "/none"})
	stdtest.Must(t, err)
	return control.Options{
		Status: func(context.Context) any { return "status" }, Starting: func() bool { return false }, Desk: desk, Metrics: prometheus.NewRegistry(),
		Watch: func(context.Context, messages.ChatKey) (<-chan platform.Frame, error) {
			return nil, platform.ErrNotFound
		},
		By: "operator", Audit: func(decision.AuditEntry) {},
	}
}

func serve(t *testing.T, o control.Options, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	control.Routes(o).ServeHTTP(w, r)
	return w
}

func TestFollow(t *testing.T) {
	frames := []platform.Frame{{Kind: platform.FrameStart, RunID: "r"}, {Kind: platform.FrameEnd, RunID: "r", Last: true, Result: "done"}}
	for _, tt := range []struct{ name, accept, want string }{
		{"lines", "", `{"kind":"watching"}` + "\n" + `{"kind":"start","runId":"r"}` + "\n" + `{"kind":"end","runId":"r","last":true,"result":"done"}` + "\n"},
		{
			"events", "text/event-stream",
			"data: {\"kind\":\"watching\"}\n\n: waiting\n\ndata: {\"kind\":\"start\",\"runId\":\"r\"}\n\n" +
				": waiting\n\ndata: {\"kind\":\"end\",\"runId\":\"r\",\"last\":true,\"result\":\"done\"}\n\n: waiting\n\n: waiting\n\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := options(t)
				o.Watch = func(context.Context, messages.ChatKey) (<-chan platform.Frame, error) {
					out := make(chan platform.Frame)
					go func() {
						defer close(out) // the chat is passivated
						for _, f := range frames {
							<-time.After(14 * time.Second) // simulated
							out <- f
						}
						<-time.After(14 * time.Second)
					}()
					return out, nil
				}
				w := serve(t, o, "GET", "/control/follow?key=web-chat-x", "", "Accept", tt.accept)
				stdtest.Diff(t, "the stream", tt.want, w.Body.String())
			})
		})
	}
}

// failing is a client that has gone.
type failing struct{ *httptest.ResponseRecorder }

func (failing) Write([]byte) (int, error)       { return 0, io.ErrClosedPipe }
func (failing) WriteString(string) (int, error) { return 0, io.ErrClosedPipe }

// A stream ends when its client leaves, whether or not anything happens, and when the request is canceled.
func TestFollowEnds(t *testing.T) {
	for _, name := range []string{"canceled", "gone"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := options(t)
				o.Watch = func(context.Context, messages.ChatKey) (<-chan platform.Frame, error) {
					return make(chan platform.Frame), nil
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var w http.ResponseWriter = failing{httptest.NewRecorder()}
				if name == "canceled" {
					w = httptest.NewRecorder()
					time.AfterFunc(time.Minute, cancel)
				}
				r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/control/follow?key=web-chat-x", http.NoBody)
				r.Header.Set("Accept", "text/event-stream")
				control.Routes(o).ServeHTTP(w, r)
			})
		})
	}
}

func TestRefusals(t *testing.T) {
	o := options(t)
	o.Questions = map[string]func(context.Context, string) any{"what": func(_ context.Context, of string) any { return of }}
	o.Orders = map[string]func(context.Context, []byte) (any, error){
		"good": func(_ context.Context, order []byte) (any, error) { return string(order), nil },
		"bad":  func(context.Context, []byte) (any, error) { return nil, errors.New("not now") },
	}
	starting := o
	starting.Starting = func() bool { return true }
	for _, tt := range []struct {
		name, method, target, body string
		o                          control.Options
		status                     int
		want                       string
	}{
		{"a question", "GET", "/control/ask/what?of=it", "", o, 200, `"it"`},
		{"a question while it starts", "GET", "/control/ask/what", "", starting, 200, `""`},
		{"another question", "GET", "/control/ask/that", "", o, 404, ""},
		{"no chat", "GET", "/control/chat?key=web-chat-x", "", o, 404, ""},
		{"no chat to follow", "GET", "/control/follow?key=web-chat-x", "", o, 404, ""},
		{"no key to follow", "GET", "/control/follow", "", o, 400, ""},
		{"chats while it starts", "GET", "/control/chats", "", starting, 200, "[]"},
		{"approvals while it starts", "GET", "/control/approvals", "", starting, 503, ""},
		{"an order while it starts", "POST", "/control/good", "{}", starting, 503, ""},
		{"an order", "POST", "/control/good", `{"a":1}`, o, 200, `"{\"a\":1}"`},
		{"an order that fails", "POST", "/control/bad", "{}", o, 409, `{"error":"not now"}`},
		{"an order that is no JSON", "POST", "/control/good", "{", o, 400, ""},
		{"an order to no chat", "POST", "/control/forget", "{}", o, 400, ""},
		{"a long order", "POST", "/control/good", `"` + strings.Repeat("x", 1<<20) + `"`, o, 400, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := serve(t, tt.o, tt.method, tt.target, tt.body)
			if got := strings.TrimSpace(w.Body.String()); w.Code != tt.status || tt.want != "" && got != tt.want {
				t.Errorf("got %d %s, want %d %s", w.Code, got, tt.status, tt.want)
			}
		})
	}
}

// Every order is audited, whether or not it is carried out: who gave it and what it was about, without texts and codes.
func TestOrdersAreAudited(t *testing.T) {
	for _, tt := range []struct {
		name, target, body string
		want               []decision.AuditEntry
	}{
		{"about a person", "/control/people", `{"bot":"telegram","do":"block","id":"7","code":"ABC"}`, []decision.AuditEntry{
			{Event: "order", Name: "people", By: "operator", Result: "ok", Reason: "do=block bot=telegram id=7"},
		}},
		{"to a chat that does not exist", "/control/pause", `{"chatKey":"web-chat-x","paused":true}`, []decision.AuditEntry{
			{Event: "order", Name: "pause", ChatKey: "web-chat-x", By: "operator", Result: "refused", Reason: "paused=true"},
		}},
		{"with a text", "/control/people", `{"memory":"web-chat-x","text":"secret"}`, []decision.AuditEntry{
			{Event: "order", Name: "people", By: "operator", Result: "ok", Reason: "memory=web-chat-x"},
		}},
		{"of a skill", "/control/people", `{"name":"notes","digest":"abc"}`, []decision.AuditEntry{
			{Event: "order", Name: "people", By: "operator", Result: "ok", Digest: "abc", Reason: "name=notes"},
		}},
		{"of a task", "/control/people?id=t1", `{}`, []decision.AuditEntry{{Event: "order", Name: "people", By: "operator", Result: "ok", Reason: "id=t1"}}},
		{"that nobody can read", "/control/people", `[`, []decision.AuditEntry{{Event: "order", Name: "people", By: "operator", Result: "refused"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := options(t)
			o.Orders = map[string]func(context.Context, []byte) (any, error){"people": func(context.Context, []byte) (any, error) { return "done", nil }}
			var got []decision.AuditEntry
			o.Audit = func(e decision.AuditEntry) { got = append(got, e) }
			serve(t, o, http.MethodPost, tt.target, tt.body)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("audited, - wanted + got:\n%s", diff)
			}
		})
	}
}
