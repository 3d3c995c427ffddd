package chatmetrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
)

// memoryMetrics count extractions of facts from chats.
type memoryMetrics struct {
	total   *prometheus.CounterVec
	facts   prometheus.Counter
	dropped prometheus.Counter
}

func (m *Metrics) registerMemory(f promauto.Factory) {
	m.memory = memoryMetrics{
		total: f.NewCounterVec(prometheus.CounterOpts{
			Name: "sma_memory_extractions_total", Help: "Memory extractions that ended, by result.",
		}, []string{"result"}),
		facts: f.NewCounter(prometheus.CounterOpts{
			Name: "sma_memory_facts_total", Help: "Facts that extractions added to memories.",
		}),
		dropped: f.NewCounter(prometheus.CounterOpts{
			Name: "sma_memory_dropped_total", Help: "Facts that the model proposed and the host rejected: nobody said them, the words differ, or they are instructions.",
		}),
	}
}

func (m *memoryMetrics) count(c decision.Count) {
	switch c.What {
	case decision.CountExtraction:
		m.total.WithLabelValues(c.Label).Inc()
	case decision.CountFacts:
		m.facts.Add(c.Value)
	case decision.CountFactsDropped:
		m.dropped.Add(c.Value)
	default: // the others are not about memories
	}
}
