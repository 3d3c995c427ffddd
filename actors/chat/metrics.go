package chat

import (
	"maps"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Metrics of all chats of a host. The conservation equation of a process is
//
//	sma_ingress_accepted_total + sma_ingress_recovered =
//	    sum over fates of sma_ingress_fates_total + sma_ingress_open
//
// Counters begin at zero with the process, as Prometheus expects; what earlier
// processes left open is recovered. All four follow the chats' states and nothing
// else, so that they hold whatever a handler did or failed to do. A nil *Metrics
// counts nothing.
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
	parked      prometheus.Gauge
	ages        *persistence.Ages
	steps       prometheus.Histogram
	approvals   *prometheus.CounterVec
	asked       prometheus.Gauge
	wait        prometheus.Histogram
	first       prometheus.Histogram
	compactions compactionMetrics
	memory      memoryMetrics
}

// NewMetrics registers the metrics of chats.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	f := promauto.With(reg)
	m := &Metrics{
		accepted:  f.NewCounter(prometheus.CounterOpts{Name: "sma_ingress_accepted_total", Help: "Ingresses accepted, whatever became of them."}),
		recovered: f.NewGauge(prometheus.GaugeOpts{Name: "sma_ingress_recovered", Help: "Open ingresses found when chats were read, less those that left memory open."}),
		fates: f.NewCounterVec(prometheus.CounterOpts{
			Name: "sma_ingress_fates_total", Help: "Ingresses that ended, by fate.",
		}, []string{"fate"}),
		open:    f.NewGauge(prometheus.GaugeOpts{Name: "sma_ingress_open", Help: "Ingresses of active chats without a fate yet."}),
		running: f.NewGauge(prometheus.GaugeOpts{Name: "sma_runs_in_flight", Help: "Runs under way."}),
		runs: f.NewCounterVec(prometheus.CounterOpts{
			Name: "sma_runs_finished_total", Help: "Runs that ended, by result.",
		}, []string{"result"}),
		seconds: f.NewHistogram(prometheus.HistogramOpts{
			Name: "gen_ai_invoke_agent_duration_seconds", Help: "Runs, from start to end.", Buckets: prometheus.ExponentialBuckets(0.1, 2, 13),
		}),
		mergedTurns: f.NewCounter(prometheus.CounterOpts{Name: "sma_turns_merged_total", Help: "Turns taken into a running run."}),
		steps: f.NewHistogram(prometheus.HistogramOpts{
			Name: "sma_run_steps", Help: "Model calls of a run.", Buckets: []float64{1, 2, 3, 5, 8, 13, 21, 34, 64},
		}),
		first: f.NewHistogram(prometheus.HistogramOpts{
			Name: "sma_first_egress_seconds", Help: "From the first message that a run answers to the first words that people see of it.", Buckets: prometheus.ExponentialBuckets(0.05, 2, 13),
		}),
	}
	m.registerEgress(f)
	m.registerCompaction(f)
	m.registerMemory(f)
	return m
}

func (m *Metrics) registerEgress(f promauto.Factory) {
	m.pending = f.NewGauge(prometheus.GaugeOpts{Name: "sma_outbox_pending", Help: "Outbox rows of active chats that are neither delivered nor parked."})
	m.parked = f.NewGauge(prometheus.GaugeOpts{Name: "sma_outbox_parked", Help: "Outbox rows and messages of active chats that wait for a person to retry or drop them."})
	m.outbox = f.NewCounterVec(prometheus.CounterOpts{
		Name: "sma_outbox_settled_total", Help: "Outbox rows that ended, by outcome.",
	}, []string{"outcome"})
	m.ages = &persistence.Ages{}
	f.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "sma_outbox_oldest_seconds", Help: "Age of the oldest pending outbox row of active chats, to ten seconds; 0: none.",
	}, func() float64 { return m.ages.Oldest(time.Now()).Seconds() })
	m.approvals = f.NewCounterVec(prometheus.CounterOpts{
		Name: "sma_approvals_total", Help: "Requests for approval: asked, and how they ended.",
	}, []string{"event"})
	m.asked = f.NewGauge(prometheus.GaugeOpts{Name: "sma_approvals_pending", Help: "Requests of active chats that wait for a person."})
	m.wait = f.NewHistogram(prometheus.HistogramOpts{
		Name: "sma_approval_wait_seconds", Help: "From a request for approval to a person's answer.", Buckets: prometheus.ExponentialBuckets(1, 2, 12),
	})
}

// told is what the metrics know of a chat.
type told struct {
	n, seq int64
	open   int
	fates  map[journal.Fate]int64
	rows   []int64 // since when each pending row is owed
	parked int
	asked  int
}

// toldOf is what there is to know of a state; it takes the map of the fates told before.
func toldOf(s *journal.State, fates map[journal.Fate]int64) told {
	if fates == nil {
		fates = map[journal.Fate]int64{}
	}
	maps.Insert(fates, s.Fates())
	t := told{n: s.N, seq: s.Seq, open: s.OpenTurns(), fates: fates, asked: len(s.OpenRequests()), parked: len(s.Parked)}
	for _, row := range s.Outbox {
		if row.Parked {
			t.parked++
		} else {
			t.rows = append(t.rows, max(row.Queued, time.Now().Add(-persistence.LongestAge).UnixMilli()))
		}
	}
	return t
}

// count brings the metrics up to the chat's state.
func (c *chat) count() {
	if c.Metrics == nil || c.told.n == c.state.N && c.told.seq == c.state.Seq {
		return
	}
	c.Metrics.accepted.Add(float64(c.state.Seq - c.told.seq))
	for fate, n := range c.state.Fates() {
		if more := n - c.told.fates[fate]; more > 0 {
			c.Metrics.fates.WithLabelValues(string(fate)).Add(float64(more))
		}
	}
	now := toldOf(c.state, c.told.fates)
	c.Metrics.hold(c.told, -1)
	c.Metrics.hold(now, 1)
	c.told = now
}

// hold adds what a chat holds to the gauges, or takes it out.
func (m *Metrics) hold(t told, sign float64) {
	m.open.Add(sign * float64(t.open))
	m.pending.Add(sign * float64(len(t.rows)))
	m.parked.Add(sign * float64(t.parked))
	m.asked.Add(sign * float64(t.asked))
	for _, since := range t.rows {
		m.ages.Add(since, int32(sign))
	}
}

// loaded takes a chat in that was read.
func (m *Metrics) loaded(s *journal.State) told {
	t := toldOf(s, nil)
	if m != nil {
		m.recovered.Add(float64(t.open))
		m.hold(t, 1)
	}
	return t
}

// forgot: what is open left memory with its chat; the next activation recovers it.
func (m *Metrics) forgot(t told) {
	if m != nil {
		m.recovered.Sub(float64(t.open))
		m.hold(t, -1)
	}
}

// firstWord is the run whose first words people have not seen yet.
type firstWord struct {
	runID string
	since time.Time
}

// firstEgress notes that people see something of a run.
func (c *chat) firstEgress(runID string) {
	if runID == "" || runID != c.first.runID {
		return
	}
	if c.Metrics != nil {
		c.Metrics.first.Observe(c.ago(c.first.since).Seconds())
	}
	c.first = firstWord{}
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

func (m *Metrics) finished(result journal.Result, began time.Time) {
	if m != nil {
		m.runs.WithLabelValues(string(result)).Inc()
		m.seconds.Observe(time.Since(began).Seconds())
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

// answered notes how long a person took to decide.
func (m *Metrics) answered(asked, at int64) {
	if m != nil && at > asked {
		m.wait.Observe(float64(at-asked) / 1000)
	}
}
