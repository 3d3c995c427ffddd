package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/apitest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

const testKey = "sk-test-0123456789"

func said(ctx context.Context, m model.Model, req model.Request) (text string, finished bool, err error) {
	for e, err := range m.Stream(ctx, req) {
		if err != nil {
			return text, finished, err
		}
		switch e.Kind {
		case model.EventTextDelta:
			text += e.Delta
		case model.EventFinish:
			finished = true
		default:
		}
	}
	return text, finished, nil
}

func newModel(t *testing.T, o Options) *Model {
	t.Helper()
	if o.Model == "" {
		o.Model = "m"
	}
	if o.APIKey == "" {
		o.APIKey = testKey
	}
	m, err := New(o)
	stdtest.Must(t, err)
	return m
}

// serve starts a strict server that plays the steps.
func serve(t *testing.T, steps ...modeltest.Step) (*modeltest.Server, *modeltest.Script) {
	t.Helper()
	script := modeltest.NewScript(steps...)
	s := modeltest.NewServer(script, modeltest.ServerOptions{Key: testKey})
	t.Cleanup(s.Close)
	return s, script
}

// TestServerShapes covers responses that are not a stream of chunks.
func TestServerShapes(t *testing.T) {
	tests := []struct {
		name   string
		status int
		kind   string
		body   string
		reason model.Reason
		words  string // of the text or the error
	}{
		{"page of a proxy", 502, "text/html", "<html><body>bad gateway</body></html>", model.ReasonOverloaded, "bad gateway"},
		{"whole answer", 200, "application/json; charset=utf-8", `{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}]}`, "", "hello"},
		{"error with status 200", 200, "application/json", `{"error":{"message":"quota","type":"insufficient_quota"}}`, model.ReasonQuota, "quota"},
		{"empty answer", 200, "application/json", ``, model.ReasonCut, "without a finish reason"},
		{"empty stream", 200, "text/event-stream", ``, model.ReasonCut, "without a finish reason"},
		{"page with status 200", 200, "text/html", "<html>login</html>", model.ReasonAddress, " answered with a web page, not with a model's answer. Check the base URL; it usually ends in /v1."},
		{"page without a type", 200, "", "\n<!DOCTYPE html><html>login</html>", model.ReasonAddress, "a web page"},
		{"page that is not found", 404, "text/html", "<html>not here</html>", model.ReasonAddress, "a web page"},
		{"page for a wrong method", 405, "text/html", "<html>no</html>", model.ReasonAddress, "a web page"},
		{"page of a server of files", 501, "text/html;charset=utf-8", "<!DOCTYPE HTML><html>Unsupported method ('POST').</html>", model.ReasonAddress, "a web page"},
		{"what a model's service does not support", 501, "application/json", `{"error":{"message":"This server does not support logprobs."}}`, model.ReasonOverloaded, "logprobs"},
		{"JSON of another kind", 200, "application/json", `{"status":"ok"}`, model.ReasonAddress, "JSON of another kind"},
		{"plain text", 200, "text/plain; charset=utf-8", "Ollama is running", model.ReasonAddress, "plain text"},
		{"a stream as plain text", 200, "text/plain", textPiece + lastPiece, "", "a"},
		{"a path that is not there", 404, "application/json", `{"detail":"Not Found"}`, model.ReasonAddress, "\"Not Found\""},
		{"unknown model", 404, "application/json", `{"error":{"message":"no such model"}}`, model.ReasonNotFound, " does not know the model m: no such model"},
		{"error in a list", 400, "application/json", `[{"error":{"code":400,"message":"The input token count (9) exceeds the maximum number of tokens allowed (5).","status":"INVALID_ARGUMENT"}}]`, model.ReasonTooLong, "exceeds"},
		{"error as text", 400, "application/json", `{"error":"model requires more system memory"}`, model.ReasonBadRequest, "memory"},
		{"detail", 422, "application/json", `{"detail":"bad field"}`, model.ReasonBadRequest, "bad field"},
		{"redirect", 307, "text/html", "", model.ReasonAddress, "a redirect to another place"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tt.kind)
				w.Header().Set("Location", "http://other.test/")
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			}))
			defer server.Close()
			text, _, err := said(t.Context(), newModel(t, Options{Endpoint: Endpoint{BaseURL: server.URL}, MaxAttempts: 1}), hello())
			if tt.reason == "" {
				if err != nil || text != tt.words {
					t.Errorf("heard %q and %v", text, err)
				}
				return
			}
			if model.ReasonOf(err) != tt.reason || !strings.Contains(err.Error(), tt.words) {
				t.Errorf("failed with %v, want %s with %q", err, tt.reason, tt.words)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	m := newModel(t, Options{Endpoint: Endpoint{BaseURL: server.URL}, MaxAttempts: 1})
	if _, _, err := said(t.Context(), m, hello()); model.ReasonOf(err) != model.ReasonNetwork {
		t.Errorf("failed with %v, want network", err)
	}
}

// TestConnectionsAreReused makes sequential calls and expects one connection.
func TestConnectionsAreReused(t *testing.T) {
	script := modeltest.NewFunc(func(model.Request) []model.Event {
		return append(modeltest.TextEvents("x"), modeltest.Finish("stop"))
	})
	server := modeltest.NewServer(script, modeltest.ServerOptions{})
	defer server.Close()
	counted := &dialCounter{Transport: NewTransport()}
	m := newModel(t, Options{Endpoint: Endpoint{BaseURL: server.URL}, Transport: counted})
	for range 20 {
		if _, _, err := said(t.Context(), m, hello()); err != nil {
			t.Fatal(err)
		}
	}
	if fresh := counted.fresh(); fresh != 1 {
		t.Errorf("%d connections for 20 calls, want 1", fresh)
	}
	if n := NewTransport().MaxIdleConnsPerHost; n < 64 {
		t.Errorf("%d idle connections are kept, want at least 64", n)
	}
}

func TestBreakingOffClosesTheStream(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	server, _ := serve(t, modeltest.Step{Text: []string{"a", "b"}, WaitAfterText: release})
	m := newModel(t, Options{Endpoint: Endpoint{BaseURL: server.URL}})
	for e, err := range m.Stream(t.Context(), hello()) {
		stdtest.Must(t, err)
		if e.Kind == model.EventTextDelta {
			break
		}
	}
}

func TestContextEnds(t *testing.T) {
	stop := errors.New("stopped by a person")
	server, script := serve(t, modeltest.Step{Text: []string{"a"}, Stall: true}, modeltest.Say("never"))
	m := newModel(t, Options{Endpoint: Endpoint{BaseURL: server.URL}})
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	for e, err := range m.Stream(ctx, hello()) {
		if err != nil {
			if !errors.Is(err, stop) {
				t.Errorf("failed with %v, want the cause", err)
			}
			break
		}
		if e.Kind == model.EventTextDelta {
			cancel(stop)
		}
	}
	if script.Left() != 1 {
		t.Error("the call was made again after its context ended")
	}
	if _, _, err := said(ctx, m, hello()); !errors.Is(err, stop) {
		t.Errorf("a dead context gave %v", err)
	}
}

// The fallbacks are called in order if a model failed before its first event, on every protocol.
func TestRL3Fallbacks(t *testing.T) {
	for _, name := range apitest.APIs() {
		t.Run(name, func(t *testing.T) { fallBack(t, name) })
	}
}

func fallBack(t *testing.T, api string) {
	t.Helper()
	tests := []struct {
		name  string
		first modeltest.Step
		text  string
		fails model.Reason
	}{
		{"auth", modeltest.FailWith(model.ReasonAuth, false), "second", ""},
		{"overloaded", modeltest.FailWith(model.ReasonOverloaded, true), "second", ""},
		{"bad request", modeltest.FailWith(model.ReasonBadRequest, false), "second", ""},
		{"too long is the caller's", modeltest.FailWith(model.ReasonTooLong, false), "", model.ReasonTooLong},
		{"never after the first event", modeltest.CutAfter("half"), "half", model.ReasonCut},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, first := apitest.Start(t, api, modeltest.NewScript(tt.first), testKey)
			second, url := apitest.Start(t, api, modeltest.NewScript(modeltest.Say("second")), testKey)
			reg := prometheus.NewRegistry()
			m := newModel(t, Options{
				Endpoint: Endpoint{API: apiOf(api), BaseURL: first}, MaxAttempts: 1, Metrics: reg,
				Fallbacks: []Endpoint{{API: apiOf(api), BaseURL: url, APIKey: testKey, Model: "other"}},
			})
			req := hello()
			req.Memo = new(model.Memo)
			text, _, err := said(t.Context(), m, req)
			if text != tt.text || (tt.fails == "") != (err == nil) || err != nil && model.ReasonOf(err) != tt.fails {
				t.Errorf("heard %q and %v", text, err)
			}
			if asked := len(second.Bodies()); asked != 0 != (tt.fails == "") {
				t.Errorf("the fallback was asked %d times", asked)
			}
			if tt.fails == "" && !bytes.HasPrefix(second.Bodies()[0], []byte(`{"model":"other"`)) {
				t.Errorf("the fallback got %s", second.Bodies()[0])
			}
			if n := testutil.CollectAndCount(reg, "sma_model_fallbacks_total"); (n == 1) != (tt.fails == "") {
				t.Errorf("%d series of fallbacks", n)
			}
		})
	}
}

// TestRL3FallbacksInOrder calls one after the other, each once, until one answers; the next call
// skips those that failed.
func TestRL3FallbacksInOrder(t *testing.T) {
	var order []string
	answers := roundTrip(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		var req struct{ Model string }
		if err := json.Unmarshal(body, &req); err != nil {
			return nil, err
		}
		order = append(order, req.Model)
		if req.Model != "third" {
			return answers{status: 404, body: `{"error":{"message":"no such model"}}`}.RoundTrip(r)
		}
		return answers{status: 200, body: textPiece + lastPiece}.RoundTrip(r)
	})
	m := newModel(t, Options{Endpoint: Endpoint{Model: "first"}, Transport: answers, Fallbacks: []Endpoint{{Model: "second"}, {Model: "third"}, {Model: "fourth"}}})
	for range 2 {
		if text, finished, err := said(t.Context(), m, hello()); text != "a" || !finished {
			t.Errorf("heard %q, finished %t, %v", text, finished, err)
		}
	}
	if got := strings.Join(order, " "); got != "first second third third" {
		t.Errorf("asked %s", got)
	}
}

func TestAllModelsFail(t *testing.T) {
	first, _ := serve(t, modeltest.FailWith(model.ReasonAuth, false))
	second, _ := serve(t, modeltest.FailWith(model.ReasonOverloaded, true))
	m := newModel(t, Options{Endpoint: Endpoint{BaseURL: first.URL}, MaxAttempts: 1, Fallbacks: []Endpoint{{BaseURL: second.URL, APIKey: testKey, Model: "other"}}})
	_, _, err := said(t.Context(), m, hello())
	e, ok := errors.AsType[*model.Error](err)
	if !ok || e.Reason != model.ReasonAuth || !e.Retryable {
		t.Errorf("failed with %#v, want the first failure, and that asking again may help", err)
	}
}

// TestSecretsStaySecret looks for keys in everything that can be printed.
func TestSecretsStaySecret(t *testing.T) {
	const header = "header-secret-1"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Extra") != header {
			t.Error("the extra header is missing")
		}
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = fmt.Fprintf(w, `{"error":{"message":"bad %s and %s and Bearer abcdef and api_key=zzz&x and sk-other-key-12345"}}`, r.Header.Get("Authorization"), header)
	}))
	defer server.Close()
	var log bytes.Buffer
	o := Options{
		Endpoint: Endpoint{BaseURL: server.URL, Model: "m", APIKey: testKey, Headers: map[string]Secret{"X-Extra": header}},
		Logger:   slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), MaxAttempts: 2, MaxWait: 1,
	}
	m := newModel(t, o)
	_, _, err := said(t.Context(), m, hello())
	printed := fmt.Sprintf("%v %+v %#v %s %v %+v %#v", err, err, err, log.String(), o.Endpoint, o.Endpoint, o.Endpoint)
	for _, secret := range []string{testKey, header, "abcdef", "zzz", "sk-other"} {
		if strings.Contains(printed, secret) {
			t.Errorf("%q is printed in %s", secret, printed)
		}
	}
	if !strings.Contains(log.String(), "the request is repeated") {
		t.Errorf("the retry is not logged: %s", log.String())
	}
}

func TestMetrics(t *testing.T) {
	reg := prometheus.NewRegistry()
	usage := model.Usage{InputTokens: new(int64(10)), OutputTokens: new(int64(3))}
	server, _ := serve(t, modeltest.FailWith(model.ReasonOverloaded, true), modeltest.Step{Text: []string{"x"}, Usage: usage})
	o := Options{Endpoint: Endpoint{BaseURL: server.URL}, Metrics: reg, MaxWait: 1}
	m := newModel(t, o)
	newModel(t, o) // a second model shares the metrics
	if _, _, err := said(t.Context(), m, hello()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{
		"gen_ai_client_operation_duration_seconds":            2, // ok, overloaded
		"gen_ai_client_operation_time_to_first_chunk_seconds": 1,
		"gen_ai_client_token_usage":                           2, // input, output
		"sma_model_retries_total":                             1,
	} {
		if got := testutil.CollectAndCount(reg, name); got != want {
			t.Errorf("%s has %d series, want %d", name, got, want)
		}
	}
	if problems, err := testutil.GatherAndLint(reg); err != nil || len(problems) > 0 {
		t.Errorf("lint: %v %v", problems, err)
	}
}

func TestNewRefuses(t *testing.T) {
	tests := []struct {
		name string
		opts Options
	}{
		{"no model", Options{}},
		{"bad address", Options{Endpoint: Endpoint{Model: "m", BaseURL: "ftp://x"}}},
		{"no host", Options{Endpoint: Endpoint{Model: "m", BaseURL: "https://"}}},
		{"bad fallback", Options{Endpoint: Endpoint{Model: "m"}, Fallbacks: []Endpoint{{}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := New(tt.opts); err == nil {
				t.Error("made a model")
			}
		})
	}
}

// TestAddresses checks where requests are sent and how they identify themselves.
func TestAddresses(t *testing.T) {
	tests := []struct {
		name     string
		endpoint Endpoint
		url      string
		header   string
		value    string
		limit    string
	}{
		{"default", Endpoint{Model: "m"}, "https://api.openai.com/v1/chat/completions", "Authorization", "Bearer " + testKey, "max_completion_tokens"},
		{"other", Endpoint{Model: "o1-like", BaseURL: "https://x.test/api/v1/"}, "https://x.test/api/v1/chat/completions", "User-Agent", "shipmyagent", "max_tokens"},
		{"organization", Endpoint{Model: "m", Organization: "org"}, "https://api.openai.com/v1/chat/completions", "OpenAI-Organization", "org", "max_completion_tokens"},
		{"azure", Endpoint{Model: "dep.1", BaseURL: "https://r.openai.azure.com", AzureVersion: "2026-01-01"}, "https://r.openai.azure.com/openai/deployments/dep.1/chat/completions?api-version=2026-01-01", "Api-Key", testKey, "max_completion_tokens"},
		{"azure, by the address of the deployment", Endpoint{Model: "gpt-4o", BaseURL: "https://r.openai.azure.com/openai/deployments/dep.1/chat/completions", AzureVersion: "v"}, "https://r.openai.azure.com/openai/deployments/dep.1/chat/completions?api-version=v", "Api-Key", testKey, "max_completion_tokens"},
		{"azure, by the address of its API", Endpoint{Model: "dep.1", BaseURL: "https://r.openai.azure.com/openai/", AzureVersion: "v"}, "https://r.openai.azure.com/openai/deployments/dep.1/chat/completions?api-version=v", "Api-Key", testKey, "max_completion_tokens"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var seen *http.Request
			var body []byte
			transport := roundTrip(func(r *http.Request) (*http.Response, error) {
				seen = r
				body, _ = io.ReadAll(r.Body)
				return answers{status: 200, body: "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\n"}.RoundTrip(r)
			})
			req := hello()
			req.MaxOutputTokens = 1_000_000
			if _, _, err := said(t.Context(), newModel(t, Options{Endpoint: tt.endpoint, Transport: transport}), req); err != nil {
				t.Fatal(err)
			}
			if got := seen.URL.String(); got != tt.url {
				t.Errorf("asked %s, want %s", got, tt.url)
			}
			if got := seen.Header.Get(tt.header); got != tt.value {
				t.Errorf("%s is %q, want %q", tt.header, got, tt.value)
			}
			if want := `"` + tt.limit + `":1000000,`; !strings.Contains(string(body), want) || int64(len(body)) != seen.ContentLength {
				t.Errorf("no %s in %s, or its length is not %d", want, body, seen.ContentLength)
			}
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
