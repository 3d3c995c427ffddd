package shard

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Metrics are the metrics of all shards of a host. A nil *Metrics counts nothing.
type Metrics struct {
	active       prometheus.Gauge
	bytes        prometheus.Gauge
	parked       prometheus.Gauge
	activations  prometheus.Counter
	passivations *prometheus.CounterVec
	restarts     prometheus.Counter
	refusals     prometheus.Counter
}

// NewMetrics registers the metrics of shards.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	f := promauto.With(reg)
	m := &Metrics{
		active:      f.NewGauge(prometheus.GaugeOpts{Name: "sma_chats_active", Help: "Chats in memory."}),
		bytes:       f.NewGauge(prometheus.GaugeOpts{Name: "sma_chats_bytes_estimate", Help: "Estimated memory of active chats, in bytes."}),
		parked:      f.NewGauge(prometheus.GaugeOpts{Name: "sma_chats_parked", Help: "Chats that failed repeatedly and accept no messages for a while."}),
		activations: f.NewCounter(prometheus.CounterOpts{Name: "sma_chat_activations_total", Help: "Chats that were loaded from the store."}),
		passivations: f.NewCounterVec(prometheus.CounterOpts{
			Name: "sma_chat_passivations_total", Help: "Chats that were unloaded, by cause: idle, too many chats, too much memory, an order, or shutdown.",
		}, []string{"cause"}),
		restarts: f.NewCounter(prometheus.CounterOpts{
			Name: "sma_actor_restarts_total", Help: "Actors restarted after a panic.", ConstLabels: prometheus.Labels{"actor": "chat"},
		}),
		refusals: f.NewCounter(prometheus.CounterOpts{
			Name: "sma_shard_refusals_total", Help: "Messages to chats that were refused because the host is stopping, or because the chat is down and its queue is full.",
		}),
	}
	for _, c := range []cause{causeIdle, causeChats, causeMemory, causeOrder, causeStop} {
		m.passivations.WithLabelValues(string(c))
	}
	return m
}

func (m *Metrics) activated() {
	if m != nil {
		m.active.Inc()
		m.activations.Inc()
	}
}

func (m *Metrics) passivated(e *entry) {
	if m == nil {
		return
	}
	why := e.asked
	if why == "" {
		why = causeStop
	}
	m.active.Dec()
	m.bytes.Sub(float64(e.bytes))
	m.passivations.WithLabelValues(string(why)).Inc()
	if e.crash.parked {
		m.parked.Dec()
	}
}

func (m *Metrics) grew(bytes int64) {
	if m != nil {
		m.bytes.Add(float64(bytes))
	}
}

func (m *Metrics) park(n float64) {
	if m != nil {
		m.parked.Add(n)
	}
}

func (m *Metrics) restarted() {
	if m != nil {
		m.restarts.Inc()
	}
}

func (m *Metrics) refused() {
	if m != nil {
		m.refusals.Inc()
	}
}
