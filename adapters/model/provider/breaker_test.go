package provider

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/shipmyagent/shipmyagent/adapters/internal/apicall"
	"github.com/shipmyagent/shipmyagent/adapters/model"
)

// moody is a transport for several models, which answer or refuse as configured.
type moody struct {
	mu    sync.Mutex
	bad   map[string]bool
	late  time.Duration // delay before a bad one refuses
	asked []string
}

func (m *moody) set(name string, bad bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bad[name] = bad
}

// heard returns which models were called since the last check.
func (m *moody) heard() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := strings.Join(m.asked, " ")
	m.asked = nil
	return out
}

func (m *moody) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	_, rest, _ := strings.Cut(string(body), `"model":"`)
	name, _, _ := strings.Cut(rest, `"`)
	m.mu.Lock()
	m.asked = append(m.asked, name)
	bad := m.bad[name]
	m.mu.Unlock()
	if !bad {
		return answers{status: 200, body: textPiece + lastPiece}.RoundTrip(r)
	}
	if err := apicall.Pause(r.Context(), m.late+1); err != nil {
		return nil, err
	}
	return answers{status: 401, body: `{"error":{"message":"no"}}`}.RoundTrip(r)
}

func moodyModel(t *testing.T, net *moody, reg prometheus.Registerer) *Model {
	t.Helper()
	return newModel(t, Options{
		Endpoint: Endpoint{Model: "a"}, Fallbacks: []Endpoint{{Model: "b"}, {Model: "c"}}, Transport: net, Metrics: reg,
	})
}

// A failed model is skipped for a growing time, and then one call probes it.
func TestBreakerSkipsForAWhileThatGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := prometheus.NewRegistry()
		net := &moody{bad: map[string]bool{"a": true}}
		m := moodyModel(t, net, reg)
		ask := func(want string) {
			t.Helper()
			_, _, _ = said(t.Context(), m, hello())
			if got := net.heard(); got != want {
				t.Errorf("asked %q, want %q", got, want)
			}
		}
		for _, wait := range []time.Duration{10, 20, 40, 80, 160, 320, 600, 600} {
			ask("a b")
			if h := m.Health(); h[0].Skipped <= 0 || h[0].Reason != model.ReasonAuth || h[1].Skipped != 0 {
				t.Errorf("health %+v", h)
			}
			<-time.After(wait*time.Second - time.Millisecond)
			ask("b")
			<-time.After(2 * time.Millisecond)
		}
		if n := testutil.ToFloat64(m.endpoints[0].metrics.skipped.WithLabelValues("a", "api.openai.com")); n != 1 {
			t.Errorf("the metric says %v", n)
		}
		net.set("a", false)
		ask("a")
		ask("a")
		if n := testutil.ToFloat64(m.endpoints[0].metrics.skipped.WithLabelValues("a", "api.openai.com")); n != 0 {
			t.Errorf("the metric says %v after an answer", n)
		}
		net.set("a", true)
		ask("a b") // a complete answer has reset the growing time
		<-time.After(11 * time.Second)
		ask("a b")
	})
}

// If all are skipped, only the one that is due first is used.
func TestBreakerAsksTheBestWhenAllAreSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := &moody{bad: map[string]bool{"a": true, "b": true, "c": true}, late: time.Second}
		m := moodyModel(t, net, nil)
		_, _, err := said(t.Context(), m, hello())
		if got := net.heard(); got != "a b c" || model.ReasonOf(err) != model.ReasonAuth {
			t.Errorf("asked %q: %v", got, err)
		}
		net.set("a", false)
		if text, _, err := said(t.Context(), m, hello()); text != "a" || net.heard() != "a" {
			t.Errorf("heard %q, %v", text, err)
		}
	})
}

// While one call probes a failed model, all others continue to skip it.
func TestBreakerTriesWithOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := &moody{bad: map[string]bool{"a": true}}
		m := moodyModel(t, net, nil)
		_, _, _ = said(t.Context(), m, hello())
		_ = net.heard()
		<-time.After(11 * time.Second)
		net.late = 5 * time.Second
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() { _, _, _ = said(t.Context(), m, hello()) })
		}
		wg.Wait()
		if n := strings.Count(net.heard(), "a"); n != 1 {
			t.Errorf("%d calls tried it", n)
		}
	})
}

// Failures caused by the request, and calls ended by the caller, do not count against a model.
func TestBreakerCountsOnlyTheModelsFaults(t *testing.T) {
	b := &breaker{}
	for _, err := range []error{
		&model.Error{Reason: model.ReasonTooLong}, &model.Error{Reason: model.ReasonBadRequest},
		&model.Error{Reason: model.ReasonFiltered}, &model.Error{Reason: model.ReasonInternal}, errStopped,
	} {
		b.ended(err, false)
		if ok, probe := b.admit(); !ok || probe {
			t.Errorf("%v opened it", err)
		}
	}
	b.ended(&model.Error{Reason: model.ReasonRate, RetryAfter: time.Minute}, false)
	if left, _ := b.left(); left < 59*time.Second {
		t.Errorf("skipped for %s, less than the service asked for", left)
	}
}

// Models that were replaced are not shown as failed forever, even if a call in progress fails later.
func TestReplacedModelsAreNotShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := prometheus.NewRegistry()
		net := &moody{bad: map[string]bool{"a": true}}
		before := moodyModel(t, net, reg)
		_, _, _ = said(t.Context(), before, hello())
		if n := testutil.CollectAndCount(reg, "sma_model_skipped"); n != 2 {
			t.Fatalf("%d models are shown, want 2", n)
		}
		after := newModel(t, Options{Endpoint: Endpoint{Model: "c"}, Transport: net, Metrics: reg})
		<-time.After(time.Minute)
		_, _, _ = said(t.Context(), before, hello())
		_, _, _ = said(t.Context(), after, hello())
		if n := testutil.CollectAndCount(reg, "sma_model_skipped"); n != 1 {
			t.Errorf("%d models are shown, want the one that is in use", n)
		}
		if _, err := New(Options{Fallbacks: []Endpoint{{Model: "d"}}, Metrics: reg}); err == nil {
			t.Error("a model without a name is accepted")
		}
		if n := testutil.CollectAndCount(reg, "sma_model_skipped"); n != 1 {
			t.Errorf("%d models are shown after refused settings, want 1", n)
		}
	})
}
