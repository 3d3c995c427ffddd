package chat

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/shipmyagent/shipmyagent/persistence"
)

// Metrics of all chats of a host. The conservation equation of a process is
//
//	sma_turns_accepted_total + sma_turns_recovered =
//	    sum over fates of sma_turns_settled_total + sma_turns_open
//
// A nil *Metrics counts nothing.
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
	steps       prometheus.Histogram
	approvals   *prometheus.CounterVec
}

// NewMetrics registers the metrics of chats.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	f := promauto.With(reg)
	return &Metrics{
		accepted:  f.NewCounter(prometheus.CounterOpts{Name: "sma_turns_accepted_total", Help: "Ingresses accepted, whatever became of them."}),
		recovered: f.NewGauge(prometheus.GaugeOpts{Name: "sma_turns_recovered", Help: "Open turns found when chats were read, less those that left memory open."}),
		fates: f.NewCounterVec(prometheus.CounterOpts{
			Name: "sma_turns_settled_total", Help: "Ingresses that ended, by fate.",
		}, []string{"fate"}),
		open:    f.NewGauge(prometheus.GaugeOpts{Name: "sma_turns_open", Help: "Ingresses of active chats without a fate yet."}),
		running: f.NewGauge(prometheus.GaugeOpts{Name: "sma_runs_in_flight", Help: "Runs under way."}),
		runs: f.NewCounterVec(prometheus.CounterOpts{
			Name: "sma_runs_finished_total", Help: "Runs that ended, by result.",
		}, []string{"result"}),
		seconds: f.NewHistogram(prometheus.HistogramOpts{
			Name: "gen_ai_invoke_agent_duration_seconds", Help: "Runs, from start to end.", Buckets: prometheus.ExponentialBuckets(0.1, 2, 13),
		}),
		mergedTurns: f.NewCounter(prometheus.CounterOpts{Name: "sma_turns_merged_total", Help: "Turns taken into a running run."}),
		pending:     f.NewGauge(prometheus.GaugeOpts{Name: "sma_outbox_pending", Help: "Outbox rows of active chats that are neither delivered nor parked."}),
		steps: f.NewHistogram(prometheus.HistogramOpts{
			Name: "sma_run_steps", Help: "Model calls of a run.", Buckets: []float64{1, 2, 3, 5, 8, 13, 21, 34, 64},
		}),
		outbox: f.NewCounterVec(prometheus.CounterOpts{
			Name: "sma_outbox_settled_total", Help: "Outbox rows that ended, by outcome.",
		}, []string{"outcome"}),
		approvals: f.NewCounterVec(prometheus.CounterOpts{
			Name: "sma_approvals_total", Help: "Requests for approval: asked, and how they ended.",
		}, []string{"event"}),
	}
}

func (m *Metrics) loaded(s *persistence.State) {
	if m != nil {
		n := float64(len(s.Open()))
		m.recovered.Add(n)
		m.open.Add(n)
	}
}

// opened counts turns that have no fate yet.
func (m *Metrics) opened(n int) {
	if m != nil {
		m.accepted.Add(float64(n))
		m.open.Add(float64(n))
	}
}

// settled counts ingresses that ended in the moment they were accepted.
func (m *Metrics) settled(fate persistence.Fate, n int) {
	if m != nil {
		m.accepted.Add(float64(n))
		m.fates.WithLabelValues(string(fate)).Add(float64(n))
	}
}

// ended counts open turns that got their fate.
func (m *Metrics) ended(fate persistence.Fate, n int) {
	if m != nil {
		m.open.Sub(float64(n))
		m.fates.WithLabelValues(string(fate)).Add(float64(n))
	}
}

// forgot: open turns left memory with their chat; the next activation recovers them.
func (m *Metrics) forgot(n int) {
	if m != nil {
		m.open.Sub(float64(n))
		m.recovered.Sub(float64(n))
	}
}

// owe counts rows that came into the outboxes of active chats, or left them.
func (m *Metrics) owe(n int) {
	if m != nil {
		m.pending.Add(float64(n))
	}
}

func (m *Metrics) took(steps int) {
	if m != nil {
		m.steps.Observe(float64(steps))
	}
}

func (m *Metrics) runStarted() {
	if m != nil {
		m.running.Inc()
	}
}

func (m *Metrics) runEnded() {
	if m != nil {
		m.running.Dec()
	}
}

func (m *Metrics) finished(result persistence.Result, began time.Time, fates []persistence.Settled) {
	if m == nil {
		return
	}
	m.runs.WithLabelValues(string(result)).Inc()
	m.seconds.Observe(time.Since(began).Seconds())
	for _, f := range fates {
		m.ended(f.Fate, 1)
	}
}

func (m *Metrics) merged(n int) {
	if m != nil {
		m.mergedTurns.Add(float64(n))
	}
}

func (m *Metrics) delivered(outcome string) {
	if m != nil {
		m.outbox.WithLabelValues(outcome).Inc()
	}
}

func (m *Metrics) approval(event string) {
	if m != nil {
		m.approvals.WithLabelValues(event).Inc()
	}
}
