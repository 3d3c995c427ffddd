package mcp

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Metrics are the metrics of all servers, named after the OpenTelemetry conventions. No label contains a name that a
// server chose. A nil *Metrics records nothing.
type Metrics struct{ duration *prometheus.HistogramVec }

// NewMetrics registers the metrics.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	f := promauto.With(reg)
	return &Metrics{
		duration: f.NewHistogramVec(prometheus.HistogramOpts{
			Name: "mcp_client_operation_duration_seconds", Help: "Operations on MCP servers, by method and result.",
			Buckets: prometheus.ExponentialBuckets(0.01, 4, 8), // 0.01 to 163.84
		}, []string{"method", "result"}),
	}
}

// The values of the labels.
const (
	methodInitialize = "initialize"
	methodList       = "tools/list"
	methodCall       = "tools/call"

	resultOK          = "ok"
	resultError       = "error"       // the server answered with an error or did not answer
	resultRefused     = "refused"     // by the host, before anything was sent
	resultInterrupted = "interrupted" // the server ended
	resultCancelled   = "cancelled"   // stopped or timed out
)

func (m *Metrics) observe(method, result string, began time.Time) {
	if m != nil {
		m.duration.WithLabelValues(method, result).Observe(time.Since(began).Seconds())
	}
}
