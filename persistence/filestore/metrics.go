package filestore

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metrics are the metrics of the store.
type metrics struct {
	append     prometheus.Histogram
	quarantine prometheus.Counter
	failed     *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer) *metrics {
	f := promauto.With(reg)
	return &metrics{
		append: f.NewHistogram(prometheus.HistogramOpts{
			Name:    "sma_history_append_seconds",
			Help:    "Time until records or turns of a chat are durable.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 2.5, 12),
		}),
		quarantine: f.NewCounter(prometheus.CounterOpts{
			Name: "sma_store_quarantined_total",
			Help: "Parts of chat files that could not be read and were moved to quarantine.",
		}),
		failed: f.NewCounterVec(prometheus.CounterOpts{
			Name: "sma_store_failed_writes_total",
			Help: "Writes that failed: full (undone, can be retried), refused (nothing written) or final (chat is read-only).",
		}, []string{"result"}),
	}
}
