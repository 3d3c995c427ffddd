package mcp

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Metrics of all servers, named after the OpenTelemetry conventions. No label holds
// a name that a server chose. A nil *Metrics counts nothing.
type Metrics struct {
	duration *prometheus.HistogramVec
	restarts prometheus.Counter
}

// NewMetrics registers the metrics.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	f := promauto.With(reg)
	return &Metrics{
		duration: f.NewHistogramVec(prometheus.HistogramOpts{
			Name: "mcp_client_operation_duration_seconds", Help: "Operations on MCP servers, by method and result.",
			Buckets: prometheus.ExponentialBuckets(0.01, 4, 8), // 0.01 to 163.84
		}, []string{"method", "result"}),
		restarts: f.NewCounter(prometheus.CounterOpts{
			Name: "sma_mcp_restarts_total", Help: "New starts of MCP servers that went away or could not be reached.",
		}),
	}
}

// The methods and results that are labels.
const (
	methodInitialize = "initialize"
	methodList       = "tools/list"
	methodCall       = "tools/call"

	resultOK          = "ok"
	resultError       = "error"       // the server answered with an error, or not at all
	resultRefused     = "refused"     // by us, before anything was sent
	resultInterrupted = "interrupted" // the server went away
	resultCancelled   = "cancelled"   // stopped, or out of time
)

func (m *Metrics) observe(method, result string, began time.Time) {
	if m != nil {
		m.duration.WithLabelValues(method, result).Observe(time.Since(began).Seconds())
	}
}

func (m *Metrics) restarted() {
	if m != nil {
		m.restarts.Inc()
	}
}
