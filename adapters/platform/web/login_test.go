package web

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// A login link logs in by itself, and its token immediately disappears from the URL.
func TestWE5LoginLinkInABrowser(t *testing.T) {
	b := newBrowser(t)
	reg := prometheus.NewRegistry()
	s := newServer(t, func(o *Options) { withToken(o); o.Registerer = reg })
	b.open(LoginLink(s.URL, "wrong"))
	b.Until(`document.querySelector('[role=alert]') && location.hash === ''`)
	if got := testutil.ToFloat64(s.p.metrics.auth.WithLabelValues("wrong")); got != 1 {
		t.Errorf("%v wrong tokens were tried, want 1", got)
	}
	b.open(LoginLink(s.URL, testToken))
	b.Until(`document.getElementById('project')?.textContent === 'Test'`)
	if got := b.Eval(`location.origin + location.pathname`); got != s.URL+"/" {
		t.Errorf("the browser is at %s", got)
	}
	if got := b.Eval(`location.href + document.referrer + document.cookie + JSON.stringify(localStorage)`); strings.Contains(got, testToken) {
		t.Errorf("a script of the page finds the token in %s", got)
	}
	for _, fault := range b.Faults() {
		if !strings.Contains(fault, "401") { // from pages that require the token
			t.Errorf("the browser reports %s", fault)
		}
	}
}
