// Package chatmetrics has the Prometheus metrics of chats. It observes their states and the counts that they plan.
package chatmetrics

import (
	"maps"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Metrics of all chats of a host. The following equation holds for every process:
//
//	sma_ingress_accepted_total + sma_ingress_recovered =
//	    sum over fates of sma_ingress_fates_total + sma_ingress_open
//
// Counters begin at zero with the process, as Prometheus expects; ingresses that earlier processes left open count as
// recovered. All four are derived only from the states of the chats, so that the equation holds whatever a handler
// did. A nil *Metrics counts nothing.
type Metrics struct {
	accepted    prometheus.Counter
	recovered   prometheus.Gauge
	fates       *prometheus.CounterVec
	open        prometheus.Gauge
	running     prometheus.Gauge
	runs        *prometheus.CounterVec
	seconds     prometheus.Histogram
	mergedTurns prometheus.Counter
	outbox      *prometheus.CounterVec
	pending     prometheus.Gauge
	parked      *persistence.Tally
	ages        *persistence.Ages
	steps       prometheus.Histogram
	approvals   *prometheus.CounterVec
	asked       prometheus.Gauge
	wait        prometheus.Histogram
	first       prometheus.Histogram

	compactions       *prometheus.CounterVec
	compactionSeconds prometheus.Histogram
	compactionTokens  *prometheus.HistogramVec
	extractions       *prometheus.CounterVec
	facts, dropped    prometheus.Counter
}

// New registers the metrics of chats.
func New(reg prometheus.Registerer) *Metrics {
	f := promauto.With(reg)
	m := &Metrics{
		accepted:  f.NewCounter(prometheus.CounterOpts{Name: "sma_ingress_accepted_total", Help: "Ingresses that were accepted."}),
		recovered: f.NewGauge(prometheus.GaugeOpts{Name: "sma_ingress_recovered", Help: "Open ingresses found when chats were loaded, minus those that were open when chats were unloaded."}),
		fates: f.NewCounterVec(prometheus.CounterOpts{
			Name: "sma_ingress_fates_total", Help: "Ingresses that ended, by fate.",
		}, []string{"fate"}),
		open:    f.NewGauge(prometheus.GaugeOpts{Name: "sma_ingress_open", Help: "Ingresses of active chats without a fate yet."}),
		running: f.NewGauge(prometheus.GaugeOpts{Name: "sma_runs_in_flight", Help: "Runs in progress."}),
		runs: f.NewCounterVec(prometheus.CounterOpts{
			Name: "sma_runs_finished_total", Help: "Runs that ended, by result.",
		}, []string{"result"}),
		seconds: f.NewHistogram(prometheus.HistogramOpts{
			Name: "gen_ai_invoke_agent_duration_seconds", Help: "Duration of runs.", Buckets: prometheus.ExponentialBuckets(0.1, 2, 13),
		}),
		mergedTurns: f.NewCounter(prometheus.CounterOpts{Name: "sma_turns_merged_total", Help: "Turns merged into a run in progress."}),
		steps: f.NewHistogram(prometheus.HistogramOpts{
			Name: "sma_run_steps", Help: "Model calls per run.", Buckets: []float64{1, 2, 3, 5, 8, 13, 21, 34, 64},
		}),
		first: f.NewHistogram(prometheus.HistogramOpts{
			Name: "sma_first_egress_seconds", Help: "Time from the first message that a run answers to its first visible words.", Buckets: prometheus.ExponentialBuckets(0.05, 2, 13),
		}),
	}
	m.registerEgress(f)
	m.registerChildren(f)
	return m
}

func (m *Metrics) registerEgress(f promauto.Factory) {
	m.pending = f.NewGauge(prometheus.GaugeOpts{Name: "sma_outbox_pending", Help: "Outbox rows of active chats that are neither delivered nor parked."})
	m.parked = &persistence.Tally{}
	f.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "sma_outbox_parked", Help: "Outbox rows and messages, of chats that this process has loaded, that failed and wait for a person to retry or drop them.",
	}, m.parked.Sum)
	m.outbox = f.NewCounterVec(prometheus.CounterOpts{
		Name: "sma_outbox_settled_total", Help: "Outbox rows that were settled, by outcome.",
	}, []string{"outcome"})
	m.ages = &persistence.Ages{}
	f.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "sma_outbox_oldest_seconds", Help: "Age of the oldest pending outbox row of active chats, to ten seconds; 0 if there is none.",
	}, func() float64 { return m.ages.Oldest(time.Now()).Seconds() })
	m.approvals = f.NewCounterVec(prometheus.CounterOpts{
		Name: "sma_approvals_total", Help: "Requests for approval: asked, and how they ended.",
	}, []string{"event"})
	m.asked = f.NewGauge(prometheus.GaugeOpts{Name: "sma_approvals_pending", Help: "Requests for approval in active chats that wait for a decision."})
	m.wait = f.NewHistogram(prometheus.HistogramOpts{
		Name: "sma_approval_wait_seconds", Help: "Time from a request for approval to a person's answer.", Buckets: prometheus.ExponentialBuckets(1, 2, 12),
	})
}

// registerChildren registers the metrics of compactions and of extractions of facts.
func (m *Metrics) registerChildren(f promauto.Factory) {
	m.compactions = f.NewCounterVec(prometheus.CounterOpts{
		Name: "sma_compactions_total", Help: "Compactions that ended, by cause and result.",
	}, []string{"cause", "result"})
	m.compactionSeconds = f.NewHistogram(prometheus.HistogramOpts{
		Name: "sma_compaction_seconds", Help: "Duration of compactions, from start to rewritten history.", Buckets: prometheus.ExponentialBuckets(0.1, 2, 12),
	})
	m.compactionTokens = f.NewHistogramVec(prometheus.HistogramOpts{
		Name: "sma_compaction_tokens", Help: "Tokens of a chat's messages before and after a compaction.", Buckets: prometheus.ExponentialBuckets(500, 2, 12),
	}, []string{"when"})
	m.extractions = f.NewCounterVec(prometheus.CounterOpts{
		Name: "sma_memory_extractions_total", Help: "Memory extractions that ended, by result.",
	}, []string{"result"})
	m.facts = f.NewCounter(prometheus.CounterOpts{
		Name: "sma_memory_facts_total", Help: "Facts that extractions added to memories.",
	})
	m.dropped = f.NewCounter(prometheus.CounterOpts{
		Name: "sma_memory_dropped_total", Help: "Facts that the model proposed and the host rejected: nobody said them, the words differ, or they are instructions.",
	})
}

// Counted is what has been added to the metrics for a chat. The zero value is that of a chat that is not loaded.
type Counted struct {
	n, seq int64
	open   int
	fates  map[journal.Fate]int64
	rows   []int64 // when each pending row was queued
	asked  int
}

// countedOf returns the numbers of a state. It reuses the given map for the fates.
func countedOf(s *journal.State, fates map[journal.Fate]int64) Counted {
	if fates == nil {
		fates = map[journal.Fate]int64{}
	}
	maps.Insert(fates, s.Fates())
	t := Counted{n: s.N, seq: s.Seq, open: s.OpenTurns(), fates: fates, asked: len(s.OpenRequests())}
	for _, row := range s.Outbox {
		if !row.Parked {
			t.rows = append(t.rows, max(row.Queued, time.Now().Add(-persistence.LongestAge).UnixMilli()))
		}
	}
	return t
}

// Loaded adds a chat that was loaded.
func (m *Metrics) Loaded(key messages.ChatKey, s *journal.State) Counted {
	t := countedOf(s, nil)
	if m != nil {
		m.parked.Set(key, len(s.Outbox)-len(t.rows)+len(s.Quarantine))
		m.recovered.Add(float64(t.open))
		m.hold(t, 1)
	}
	return t
}

// Update adds what changed in a chat since the last update, and returns what has been added now.
func (m *Metrics) Update(key messages.ChatKey, was Counted, s *journal.State) Counted {
	if m == nil || was.n == s.N && was.seq == s.Seq {
		return was
	}
	m.accepted.Add(float64(s.Seq - was.seq))
	for fate, n := range s.Fates() {
		if more := n - was.fates[fate]; more > 0 {
			m.fates.WithLabelValues(string(fate)).Add(float64(more))
		}
	}
	now := countedOf(s, was.fates)
	m.parked.Set(key, len(s.Outbox)-len(now.rows)+len(s.Quarantine))
	m.hold(was, -1)
	m.hold(now, 1)
	return now
}

// Unloaded removes a chat that leaves memory. Its open ingresses count as recovered when it is loaded again. What waits
// for a person there stays counted.
func (m *Metrics) Unloaded(t Counted) {
	if m != nil {
		m.recovered.Sub(float64(t.open))
		m.hold(t, -1)
	}
}

// hold adds a chat's numbers to the gauges, or subtracts them if sign is -1.
func (m *Metrics) hold(t Counted, sign float64) {
	m.open.Add(sign * float64(t.open))
	m.pending.Add(sign * float64(len(t.rows)))
	m.asked.Add(sign * float64(t.asked))
	for _, since := range t.rows {
		m.ages.Add(since, int32(sign))
	}
}

// Count records a count that a chat planned.
func (m *Metrics) Count(c decision.Count) {
	if m == nil {
		return
	}
	switch c.What {
	case decision.CountRunStarted:
		m.running.Inc()
	case decision.CountRunGone:
		m.running.Dec()
	case decision.CountRunFinished:
		m.runs.WithLabelValues(c.Label).Inc()
	case decision.CountRunSeconds:
		m.seconds.Observe(c.Value)
	case decision.CountRunSteps:
		m.steps.Observe(c.Value)
	case decision.CountMerged:
		m.mergedTurns.Add(c.Value)
	case decision.CountFirstWords:
		m.first.Observe(c.Value)
	case decision.CountEgress:
		m.outbox.WithLabelValues(c.Label).Inc()
	case decision.CountApproval:
		m.approvals.WithLabelValues(c.Label).Inc()
	case decision.CountApprovalWait:
		m.wait.Observe(c.Value)
	case decision.CountCompaction:
		m.compactions.WithLabelValues(string(c.Cause), c.Label).Inc()
		m.compactionSeconds.Observe(c.Value)
	case decision.CountTokensBefore:
		m.compactionTokens.WithLabelValues("before").Observe(c.Value)
	case decision.CountTokensAfter:
		m.compactionTokens.WithLabelValues("after").Observe(c.Value)
	case decision.CountExtraction:
		m.extractions.WithLabelValues(c.Label).Inc()
	case decision.CountFacts:
		m.facts.Add(c.Value)
	case decision.CountFactsDropped:
		m.dropped.Add(c.Value)
	}
}
