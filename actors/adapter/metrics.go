package adapter

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

// Metrics are the metrics of all adapter actors of a host. A nil *Metrics counts nothing.
type Metrics struct {
	in  *prometheus.CounterVec
	out *prometheus.CounterVec
}

// NewMetrics registers the metrics of adapters.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	f := promauto.With(reg)
	return &Metrics{
		in: f.NewCounterVec(prometheus.CounterOpts{
			Name: "sma_ingress_total", Help: "Messages received from platforms, by immediate outcome.",
		}, []string{"platform", "result"}),
		out: f.NewCounterVec(prometheus.CounterOpts{
			Name: "sma_egress_total", Help: "Messages sent to platforms, by result.",
		}, []string{"platform", "result"}),
	}
}

func (m *Metrics) ingress(name string, in *platform.Inbound, r platform.Result) {
	if m == nil {
		return
	}
	result := "accepted"
	switch {
	case r.Err != nil:
		result = "failed"
	case r.Duplicate:
		result = "duplicate"
	case r.Declined != "":
		result = "declined"
	case in.Gate.Refuse:
		result = "refused"
	case !in.Gate.Open:
		result = "ignored"
	case in.Kind == platform.KindCommand:
		result = "command"
	}
	m.in.WithLabelValues(name, result).Inc()
}

func (m *Metrics) sent(name, result string) {
	if m != nil {
		m.out.WithLabelValues(name, result).Inc()
	}
}
