package run

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Metrics are the metrics of all runs of a host, named after the OpenTelemetry GenAI conventions.
// The model itself measures model calls. A nil *Metrics counts nothing.
type Metrics struct {
	tool   *prometheus.HistogramVec
	prefix *prometheus.CounterVec
}

// NewMetrics registers the metrics of runs.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	f := promauto.With(reg)
	return &Metrics{
		prefix: f.NewCounterVec(prometheus.CounterOpts{
			Name: "sma_prompt_prefix_broken_total", Help: "Model requests that do not begin with the chat's previous request, by cause.",
		}, []string{"cause"}),
		tool: f.NewHistogramVec(prometheus.HistogramOpts{
			Name: "gen_ai_execute_tool_duration_seconds", Help: "Tool calls, by tool and result.",
			Buckets: prometheus.ExponentialBuckets(0.01, 2, 14), // 0.01 doubling to 81.92
		}, []string{"tool", "result"}),
	}
}

func (m *Metrics) toolCalled(name string, d time.Duration, failed bool) {
	if m == nil {
		return
	}
	result := "ok"
	if failed {
		result = "error"
	}
	if server, _, remote := strings.Cut(name, ":"); remote {
		name = server + ":*" // other servers choose these names
	}
	m.tool.WithLabelValues(name, result).Observe(d.Seconds())
}

// PrefixBroken counts a request whose prefix another actor changed.
func (m *Metrics) PrefixBroken(cause string) { m.prefixBroken(cause) }

// prefixBroken counts a request whose prefix differs from the previous request.
func (m *Metrics) prefixBroken(cause string) {
	if m != nil {
		m.prefix.WithLabelValues(cause).Inc()
	}
}
