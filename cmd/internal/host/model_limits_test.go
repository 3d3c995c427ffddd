package host

import (
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// The settings reach the limiter of model calls: with one call at once, or one a minute, the second
// chat waits.
func TestOV1ModelLimitsAreWired(t *testing.T) {
	for _, tt := range []struct {
		setting string
		held    bool // the first call takes until the end of the test
	}{
		{"llm.maxConcurrency", true},
		{"llm.requestsPerMinute", false},
	} {
		t.Run(tt.setting, func(t *testing.T) {
			p := newProject(t)
			p.api.AddChat(telegramtest.Chat{ID: 2, Type: "private"})
			first, release := modeltest.Say("first"), make(chan struct{})
			if tt.held {
				first = modeltest.Held(release, first)
			}
			script := modeltest.NewScript(first, modeltest.Say("second"))
			flags := telegramFlags(p)
			flags[tt.setting] = "1"
			h := p.start(t, Options{Model: script}, flags)
			p.api.Say(1, 1, "hi", nil)
			stdtest.Must(t, script.WaitAsked(t.Context(), 1))
			p.api.Say(2, 2, "hi", nil)
			for deadline := time.Now().Add(20 * time.Second); gauge(t, h, "sma_model_calls_waiting") != 1; {
				if time.Now().After(deadline) {
					t.Fatal("the second call does not wait")
				}
				<-time.After(5 * time.Millisecond)
			}
			if n := len(script.Requests()); n != 1 {
				t.Errorf("%d calls were made", n)
			}
			close(release)
			if !tt.held {
				p.api.Say(2, 2, "/stop", nil) // the minute is not over
			}
			p.api.Await(t, "both answers", func() bool { return len(p.api.Sent(1)) == 1 && len(p.api.Sent(2)) == 1 })
		})
	}
}

// gauge returns the current value of a metric without labels.
func gauge(t *testing.T, h *Host, name string) float64 {
	t.Helper()
	families, err := h.registry.Gather()
	stdtest.Must(t, err)
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}
