package speech

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics count transcriptions and recordings. If nil, nothing is counted.
type Metrics struct {
	calls   *prometheus.CounterVec
	seconds *prometheus.HistogramVec
}

// NewMetrics registers the metrics, unless r is nil.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sma_speech_total", Help: "Transcriptions and spoken texts, by outcome.",
		}, []string{"kind", "result"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sma_speech_seconds", Help: "Time to transcribe a recording or to speak a text, including waits.",
			Buckets: []float64{0.25, 1, 4, 16, 64},
		}, []string{"kind"}),
	}
	if r != nil {
		r.MustRegister(m.calls, m.seconds)
	}
	return m
}

func (m *Metrics) heard(began time.Time, err error) { m.note("transcribe", began, err) }

func (m *Metrics) spoke(began time.Time, err error) { m.note("speak", began, err) }

func (m *Metrics) note(kind string, began time.Time, err error) {
	if m == nil {
		return
	}
	result := "ok"
	if err != nil {
		result = string(ReasonOf(err))
	}
	m.calls.WithLabelValues(kind, result).Inc()
	m.seconds.WithLabelValues(kind).Observe(time.Since(began).Seconds())
}
