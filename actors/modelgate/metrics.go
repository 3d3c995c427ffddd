package modelgate

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Metrics are the metrics of the model gate. A nil *Metrics counts nothing.
type Metrics struct {
	waiting, inFlight prometheus.Gauge
	waited            prometheus.Histogram
}

// NewMetrics registers the metrics of the model gate.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	f := promauto.With(reg)
	return &Metrics{
		waiting:  f.NewGauge(prometheus.GaugeOpts{Name: "sma_model_calls_waiting", Help: "Model calls that wait for a slot."}),
		inFlight: f.NewGauge(prometheus.GaugeOpts{Name: "sma_model_calls_in_flight", Help: "Model calls that hold a slot."}),
		waited: f.NewHistogram(prometheus.HistogramOpts{
			Name: "sma_model_slot_wait_seconds", Help: "Time that model calls waited for a slot.", Buckets: prometheus.ExponentialBuckets(0.001, 4, 10),
		}),
	}
}

func (m *Metrics) admitted(after time.Duration) {
	if m != nil {
		m.waited.Observe(after.Seconds())
	}
}

func (m *Metrics) counts(waiting, inFlight int) {
	if m != nil {
		m.waiting.Set(float64(waiting))
		m.inFlight.Set(float64(inFlight))
	}
}
