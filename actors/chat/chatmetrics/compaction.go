package chatmetrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
)

// compactionMetrics count compactions and the tokens before and after them.
type compactionMetrics struct {
	total   *prometheus.CounterVec
	seconds prometheus.Histogram
	tokens  *prometheus.HistogramVec
}

func (m *Metrics) registerCompaction(f promauto.Factory) {
	m.compactions = compactionMetrics{
		total: f.NewCounterVec(prometheus.CounterOpts{
			Name: "sma_compactions_total", Help: "Compactions that ended, by cause and result.",
		}, []string{"cause", "result"}),
		seconds: f.NewHistogram(prometheus.HistogramOpts{
			Name: "sma_compaction_seconds", Help: "Duration of compactions, from start to rewritten history.", Buckets: prometheus.ExponentialBuckets(0.1, 2, 12),
		}),
		tokens: f.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sma_compaction_tokens", Help: "Tokens of a chat's messages before and after a compaction.", Buckets: prometheus.ExponentialBuckets(500, 2, 12),
		}, []string{"when"}),
	}
}

func (m *compactionMetrics) count(c decision.Count) {
	switch c.What {
	case decision.CountCompaction:
		m.total.WithLabelValues(string(c.Cause), c.Label).Inc()
		m.seconds.Observe(c.Value)
	case decision.CountTokensBefore:
		m.tokens.WithLabelValues("before").Observe(c.Value)
	case decision.CountTokensAfter:
		m.tokens.WithLabelValues("after").Observe(c.Value)
	default: // the others are not about compactions
	}
}
