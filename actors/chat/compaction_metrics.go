package chat

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/shipmyagent/shipmyagent/messages"
)

// compactionMetrics count how often chats were folded, and what that saved.
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
			Name: "sma_compaction_seconds", Help: "Compactions, from their begin to the rewritten history.", Buckets: prometheus.ExponentialBuckets(0.1, 2, 12),
		}),
		tokens: f.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sma_compaction_tokens", Help: "Tokens of a chat's messages before and after a compaction.", Buckets: prometheus.ExponentialBuckets(500, 2, 12),
		}, []string{"when"}),
	}
}

func (m *Metrics) compacted(cause messages.Cause, result string, began time.Time) {
	if m == nil {
		return
	}
	m.compactions.total.WithLabelValues(string(cause), result).Inc()
	m.compactions.seconds.Observe(time.Since(began).Seconds())
}

func (m *Metrics) saved(done messages.CompactionFinished) {
	if m == nil {
		return
	}
	m.compactions.tokens.WithLabelValues("before").Observe(float64(done.Before))
	m.compactions.tokens.WithLabelValues("after").Observe(float64(done.After))
}
