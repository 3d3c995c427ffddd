package botkit

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics makes the metrics of one bot and registers them.
type Metrics struct {
	labels prometheus.Labels
	all    []prometheus.Collector
}

// NewMetrics makes metrics with the bot's name as a label.
func NewMetrics(name string) *Metrics { return &Metrics{labels: prometheus.Labels{"platform": name}} }

// Counter makes a counter.
func (m *Metrics) Counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: m.labels})
	m.all = append(m.all, c)
	return c
}

// Counters makes counters by a label.
func (m *Metrics) Counters(name, help, label string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: m.labels}, []string{label})
	m.all = append(m.all, c)
	return c
}

// Gauge makes a gauge.
func (m *Metrics) Gauge(name, help string) prometheus.Gauge {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: m.labels})
	m.all = append(m.all, g)
	return g
}

// Register registers all that were made; reg may be nil.
func (m *Metrics) Register(reg prometheus.Registerer) error {
	if reg == nil {
		return nil
	}
	var errs []error
	for _, c := range m.all {
		errs = append(errs, reg.Register(c))
	}
	return errors.Join(errs...)
}
