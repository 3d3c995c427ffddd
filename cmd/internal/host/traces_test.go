package host

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// sink is the end of a way of spans.
type sink struct {
	url string

	mu    sync.Mutex
	spans []sunkSpan
}

type sunkSpan struct {
	TraceID, SpanID, ParentSpanID, Name string
	Attributes                          []struct {
		Key   string
		Value struct {
			StringValue string
			IntValue    json.RawMessage
		}
	}
}

// text is an attribute of a span, or "".
func (s sunkSpan) text(key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.StringValue + strings.Trim(string(a.Value.IntValue), `"`)
		}
	}
	return ""
}

func newSink(t *testing.T) *sink {
	t.Helper()
	s := &sink{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var doc struct {
			ResourceSpans []struct {
				ScopeSpans []struct{ Spans []sunkSpan }
			}
		}
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(body, &doc)
		}
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v: %.200s", r.URL, err, body)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, rs := range doc.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				s.spans = append(s.spans, ss.Spans...)
			}
		}
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *sink) all() []sunkSpan {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.spans)
}

// tree draws the spans of a trace below a parent, in the order of their names.
func (s *sink) tree(trace string) string {
	list := s.all()
	slices.SortFunc(list, func(a, b sunkSpan) int { return strings.Compare(a.Name, b.Name) })
	var out strings.Builder
	var below func(parent, indent string)
	below = func(parent, indent string) {
		for _, span := range list {
			if span.TraceID == trace && span.ParentSpanID == parent {
				out.WriteString(indent + span.Name + "\n")
				below(span.SpanID, indent+"  ")
			}
		}
	}
	below("", "")
	return out.String()
}

// startCollector starts a real OpenTelemetry collector that sends on what it gets, and returns its address.
func startCollector(t *testing.T, to string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "otelcol.yml")
	stdtest.Write(t, file, fmt.Sprintf(`
receivers: {otlp: {protocols: {http: {endpoint: "127.0.0.1:0"}}}}
exporters: {otlphttp: {endpoint: %q, encoding: json, compression: none}}
service: {telemetry: {metrics: {level: none}}, pipelines: {traces: {receivers: [otlp], exporters: [otlphttp]}}}
`, to))
	cmd := exec.CommandContext(t.Context(), needProm(t, "otelcol"), "--config", file)
	stderr, err := cmd.StderrPipe()
	stdtest.Must(t, err)
	stdtest.Must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Wait() }) // the test's context killed it
	var said strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if m := regexp.MustCompile(`Starting HTTP server.*"endpoint": "([^"]+)"`).FindStringSubmatch(lines.Text()); m != nil {
			go func() {
				for lines.Scan() { // so that it never waits for a reader
				}
			}()
			return "http://" + m[1]
		}
	}
	t.Fatalf("the collector ended:\n%s", said.String())
	return ""
}

// The spans of a turn with a tool call are one tree, for a collector and for what is behind the model's address.
func TestTraces(t *testing.T) {
	s := newSink(t)
	to := s.url
	if os.Getenv("SOAK") != "" {
		to = startCollector(t, s.url)
	}
	p := newProject(t)
	model := modeltest.NewServer(modeltest.NewScript(modeltest.CallTools(modeltest.Call{ID: "w", Name: "list_files", Input: `{}`}), modeltest.Say("It is noon.")), modeltest.ServerOptions{})
	t.Cleanup(model.Close)
	var parents sync.Map
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parents.Store(r.Header.Get("Traceparent"), true)
		model.ServeHTTP(w, r)
	}))
	t.Cleanup(gateway.Close)
	p.start(t, Options{}, merged(telegramFlags(p), map[string]string{
		"llm.baseUrl": gateway.URL + "/v1", "traces.endpoint": to, "traces.propagate": "true", "context.memory.autoExtractEnabled": "false",
		"adapters.telegram.egress": "direct",
	}))
	p.api.Say(1, 1, "What time is it, my secret?", nil)
	p.api.Await(t, "an answer", func() bool { return len(p.api.Sent(1)) > 0 })
	faketest.Poll(t, "the last span", func() bool {
		return slices.ContainsFunc(s.all(), func(s sunkSpan) bool { return s.Name == "deliver" })
	})
	spans := s.all()
	const want = `receive
  invoke_agent
    chat fake
    chat fake
    deliver
    execute_tool list_files
`
	if got := s.tree(spans[0].TraceID); got != want {
		t.Errorf("the tree is\n%s", got)
	}
	for _, span := range spans {
		if span.text("gen_ai.conversation.id") != "telegram-chat-1" || strings.Contains(fmt.Sprint(span), "secret") {
			t.Errorf("%+v", span)
		}
		if span.Name == "invoke_agent" {
			if _, ok := parents.Load("00-" + span.TraceID + "-" + span.SpanID + "-01"); !ok {
				t.Errorf("no model call had the run %s as its parent", span.SpanID)
			}
		}
		if tokens := span.text("gen_ai.usage.input_tokens"); strings.HasPrefix(span.Name, "chat ") && (tokens == "" || tokens == "0") {
			t.Errorf("%s has %q input tokens", span.Name, tokens)
		}
	}
}

// Without the setting, model calls do not show what they belong to.
func TestTraceParentIsNotSent(t *testing.T) {
	p := newProject(t)
	model := modeltest.NewServer(modeltest.NewScript(modeltest.Say("Hi.")), modeltest.ServerOptions{})
	t.Cleanup(model.Close)
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if parent := r.Header.Get("Traceparent"); parent != "" {
			t.Errorf("the model got traceparent %s", parent)
		}
		model.ServeHTTP(w, r)
	}))
	t.Cleanup(gateway.Close)
	p.start(t, Options{}, merged(telegramFlags(p), map[string]string{"llm.baseUrl": gateway.URL + "/v1", "traces.endpoint": newSink(t).url}))
	p.api.Say(1, 1, "Hi", nil)
	p.api.Await(t, "an answer", func() bool { return len(p.api.Sent(1)) > 0 })
}
