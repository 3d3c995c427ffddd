package run

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Metrics of all runs of a host, named after the OpenTelemetry GenAI
// conventions. Model calls are measured by the model itself. A nil *Metrics
// counts nothing.
type Metrics struct {
	tool *prometheus.HistogramVec
}

// NewMetrics registers the metrics of runs.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	return &Metrics{
		tool: promauto.With(reg).NewHistogramVec(prometheus.HistogramOpts{
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
	m.tool.WithLabelValues(name, result).Observe(d.Seconds())
}
