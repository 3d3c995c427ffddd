package shard

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Metrics of all shards of a host. A nil *Metrics counts nothing.
type Metrics struct {
	active      prometheus.Gauge
	activations prometheus.Counter
	restarts    prometheus.Counter
}

// NewMetrics registers the metrics of shards.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	f := promauto.With(reg)
	return &Metrics{
		active:      f.NewGauge(prometheus.GaugeOpts{Name: "sma_chats_active", Help: "Chats that hold memory."}),
		activations: f.NewCounter(prometheus.CounterOpts{Name: "sma_chat_activations_total", Help: "Chats activated from the store."}),
		restarts: f.NewCounter(prometheus.CounterOpts{
			Name: "sma_actor_restarts_total", Help: "Actors restarted after a panic.", ConstLabels: prometheus.Labels{"actor": "chat"},
		}),
	}
}

func (m *Metrics) activated() {
	if m != nil {
		m.active.Inc()
		m.activations.Inc()
	}
}

func (m *Metrics) passivated() {
	if m != nil {
		m.active.Dec()
	}
}

func (m *Metrics) restarted() {
	if m != nil {
		m.restarts.Inc()
	}
}
