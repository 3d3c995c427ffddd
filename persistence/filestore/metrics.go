package filestore

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the metrics of the store.
type metrics struct {
	append     prometheus.Histogram
	quarantine prometheus.Counter
	failed     *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		append: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "sma_history_append_seconds",
			Help:    "Time until records or turns of a chat are durable.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 2.5, 12),
		}),
		quarantine: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "sma_store_quarantined_total",
			Help: "Parts of chat files that could not be read and were moved to quarantine.",
		}),
		failed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sma_store_failed_writes_total",
			Help: "Writes that failed: full (undone, can be retried), refused (nothing written) or final (chat is read-only).",
		}, []string{"result"}),
	}
	if reg == nil {
		return m, nil
	}
	if err := errors.Join(register(reg, &m.append), register(reg, &m.quarantine), register(reg, &m.failed)); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	return m, nil
}

// register adds a collector, or uses the one that an earlier store registered.
func register[C prometheus.Collector](reg prometheus.Registerer, c *C) error {
	err := reg.Register(*c)
	var before prometheus.AlreadyRegisteredError
	if !errors.As(err, &before) {
		return err
	}
	old, ok := before.ExistingCollector.(C)
	if !ok {
		return err
	}
	*c = old
	return nil
}
