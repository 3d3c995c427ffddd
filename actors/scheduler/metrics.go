package scheduler

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Metrics are the metrics of the scheduler. A nil *Metrics counts nothing.
type Metrics struct {
	lateness prometheus.Histogram
	fires    *prometheus.CounterVec
}

// NewMetrics registers the metrics of the scheduler.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	f := promauto.With(reg)
	return &Metrics{
		lateness: f.NewHistogram(prometheus.HistogramOpts{
			Name: "sma_task_lateness_seconds", Help: "Delay of tasks after their scheduled times.", Buckets: []float64{0.05, 0.25, 1, 5, 30, 120, 600, 3600, 86400},
		}),
		fires: f.NewCounterVec(prometheus.CounterOpts{Name: "sma_task_fires_total", Help: "Scheduled times of tasks, by outcome."}, []string{"result"}),
	}
}

func (m *Metrics) started(late time.Duration) {
	if m != nil {
		m.lateness.Observe(max(late, 0).Seconds())
	}
}

func (m *Metrics) became(result string, n int) {
	if m != nil {
		m.fires.WithLabelValues(result).Add(float64(n))
	}
}
