package traces

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/config"
)

// turn is what the audit log gets of one turn with one tool call.
func turn(request, run string, at time.Time) []decision.AuditEntry {
	all := []decision.AuditEntry{
		{Event: "ingress", Result: "open", Reason: "private"},
		{Event: "run", RunID: run, Result: "started"},
		{Event: decision.AuditModel, RunID: run, Name: "gpt-5", Result: "tool-calls", Took: 80 * time.Millisecond, InputTokens: 1000, CachedTokens: 900, OutputTokens: 20},
		{Event: decision.AuditTool, RunID: run, Name: "time_now", Call: "call_1", Result: "ok", Took: 5 * time.Millisecond},
		{Event: "approval", RunID: run, Result: "approved"},
		{Event: decision.AuditModel, RunID: run, Name: "gpt-5", Result: "error", Reason: "overloaded", Took: 30 * time.Millisecond},
		{Event: "run", RunID: run, Result: "failed", Reason: "overloaded"},
		{Event: "egress", RunID: run, Result: "delivered"},
	}
	for i := range all {
		all[i].TS, all[i].RequestID, all[i].ChatKey = at.Add(time.Duration(i+1)*100*time.Millisecond), request, "telegram-chat-1"
	}
	return all
}

// tree draws spans as lines: depth, name, kind, start and end in milliseconds, and the status.
func tree(spans []span, began time.Time) string {
	var out strings.Builder
	var below func(parent string, depth int)
	below = func(parent string, depth int) {
		for _, s := range spans {
			if s.ParentID != parent {
				continue
			}
			from, _ := strconv.ParseInt(s.Start, 10, 64)
			to, _ := strconv.ParseInt(s.End, 10, 64)
			out.WriteString(strings.Repeat("  ", depth) + s.Name + " " + strconv.Itoa(s.Kind) + " " +
				time.Duration(from-began.UnixNano()).String() + "–" + time.Duration(to-began.UnixNano()).String())
			if s.Status != nil {
				out.WriteString(" failed: " + s.Status.Message)
			}
			out.WriteString("\n")
			below(s.SpanID, depth+1)
		}
	}
	below("", 0)
	return out.String()
}

func TestATurnIsOneTree(t *testing.T) {
	var m maker
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var spans []span
	ids := map[string]bool{}
	for _, e := range turn("r-1", "run-1", began) {
		if s, ok := m.span(e); ok {
			spans = append(spans, s)
			ids[s.SpanID] = true
			if s.TraceID != spans[0].TraceID || len(s.TraceID) != 32 || len(s.SpanID) != 16 {
				t.Errorf("%s has the ids %s and %s", s.Name, s.TraceID, s.SpanID)
			}
		}
	}
	const want = `receive 5 100ms–100ms
  invoke_agent 1 200ms–700ms failed: overloaded
    chat gpt-5 3 220ms–300ms
    execute_tool time_now 1 395ms–400ms
    chat gpt-5 3 570ms–600ms failed: overloaded
    deliver 4 800ms–800ms
`
	if got := tree(spans, began); got != want || len(ids) != len(spans) {
		t.Errorf("%d ids of %d spans:\n%s", len(ids), len(spans), got)
	}
	if len(m.began) != 0 {
		t.Errorf("%d ended runs are remembered", len(m.began))
	}
	if got, want := Parent("r-1", "run-1"), "00-"+spans[0].TraceID+"-"+spanOf("run-1")+"-01"; got != want {
		t.Errorf("traceparent %s, want %s", got, want)
	}
}

// A run whose beginning is not known has a span all the same, and only a bounded number is remembered.
func TestRunsThatAreNotRemembered(t *testing.T) {
	var m maker
	for i := range maxRuns + 10 {
		m.span(decision.AuditEntry{Event: "run", RunID: strconv.Itoa(i), Result: "started"})
	}
	if len(m.began) != maxRuns {
		t.Errorf("%d runs are remembered", len(m.began))
	}
	if s, ok := m.span(decision.AuditEntry{Event: "run", RunID: "another", Result: "done", TS: time.Unix(9, 0)}); !ok || s.Start != s.End {
		t.Errorf("%t %+v", ok, s)
	}
}

// collector is a server that answers with the statuses in order, the last one again and again.
type collector struct {
	mu       sync.Mutex
	statuses []int
	bodies   []string
	headers  http.Header
}

func (c *collector) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	w := httptest.NewRecorder()
	w.WriteHeader(c.statuses[0])
	if c.statuses[0] == http.StatusOK {
		c.bodies = append(c.bodies, r.URL.String()+" "+string(body))
		c.headers = r.Header
	}
	if len(c.statuses) > 1 {
		c.statuses = c.statuses[1:]
	}
	return w.Result(), nil
}

func TestExporter(t *testing.T) {
	const spans = 6 // of a turn
	for _, tt := range []struct {
		name     string
		statuses []int
		turns    int
		bodies   int
		dropped  float64
	}{
		{"taken", []int{200}, 1, 1, 0},
		{"busy at first", []int{503, 429, 200}, 1, 1, 0},
		{"refused", []int{400, 200}, 1, 0, spans},
		{"many", []int{200}, 100, 2, 0},
		{"away for long", []int{503, 503, 503, 503, 503, 200}, 3000, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log strings.Builder
				reg, c := prometheus.NewRegistry(), &collector{statuses: tt.statuses}
				x := New(Options{
					Traces:  config.Traces{Endpoint: "http://collector.test/", Headers: map[string]config.Secret{"Authorization": config.NewSecret("Bearer s3cret")}},
					Project: "ada", Version: "1.2.3", Registerer: reg, Logger: slog.New(slog.NewTextHandler(&log, nil)),
				})
				x.client.Transport = c
				go x.Run(t.Context())
				for i := range tt.turns {
					for _, e := range turn("r-"+strconv.Itoa(i), "run-"+strconv.Itoa(i), time.Now()) {
						x.Add(e)
					}
					synctest.Wait()
				}
				<-time.After(6 * sendEvery)
				synctest.Wait()
				c.mu.Lock()
				defer c.mu.Unlock()
				sent := 0
				for _, body := range c.bodies {
					sent += strings.Count(body, `"spanId"`)
				}
				dropped := testutil.ToFloat64(x.dropped)
				if all := tt.turns * spans; sent+int(dropped) != all {
					t.Errorf("%d spans sent and %v dropped of %d", sent, dropped, all)
				}
				if tt.bodies != 0 && len(c.bodies) != tt.bodies || tt.name != "away for long" && dropped != tt.dropped {
					t.Errorf("%d requests, %v dropped", len(c.bodies), dropped)
				}
				if tt.name == "away for long" && (sent != maxWaiting || strings.Count(log.String(), "cannot be sent") != 1 || strings.Count(log.String(), "sent again") != 1) {
					t.Errorf("%d spans sent after the collector was away; log:\n%s", sent, log.String())
				}
				if strings.Contains(log.String(), "s3cret") {
					t.Error("the log has the header")
				}
				if len(c.bodies) == 0 {
					return
				}
				address, body, _ := strings.Cut(c.bodies[0], " ")
				var doc document
				if err := json.Unmarshal([]byte(body), &doc); err != nil || address != "http://collector.test/v1/traces" || c.headers.Get("Authorization") != "Bearer s3cret" ||
					c.headers.Get("Content-Type") != "application/json" || doc.Resources[0].Resource.Attributes[0].Value.String != "shipmyagent" {
					t.Errorf("%v: %s with %v: %.300s", err, address, c.headers, body)
				}
			})
		})
	}
}

// What is left when the host ends is sent once more.
func TestLastSpans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &collector{statuses: []int{200}}
		x := New(Options{Traces: config.Traces{Endpoint: "http://collector.test"}, Registerer: prometheus.NewRegistry(), Logger: slog.New(slog.DiscardHandler)})
		x.client.Transport = c
		for _, e := range turn("r-1", "run-1", time.Now()) {
			x.Add(e)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		x.Run(ctx)
		if len(c.bodies) != 1 || strings.Count(c.bodies[0], `"spanId"`) != 6 {
			t.Errorf("%q", c.bodies)
		}
	})
}
