package feishu

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics of one app.
type metrics struct {
	events    *prometheus.CounterVec // by result
	parked    prometheus.Gauge
	plainText prometheus.Counter
	hooks     *prometheus.CounterVec // by answer
	links     prometheus.Counter
	cards     *prometheus.CounterVec // by result
}

func newMetrics(reg prometheus.Registerer, name string) (*metrics, error) {
	labels := prometheus.Labels{"platform": name}
	counters := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels}, []string{label})
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels})
	}
	m := &metrics{
		events:    counters("sma_feishu_events_total", "Events, by result.", "result"),
		parked:    prometheus.NewGauge(prometheus.GaugeOpts{Name: "sma_feishu_set_aside", Help: "Messages of chats that do not take them at the moment.", ConstLabels: labels}),
		plainText: counter("sma_feishu_markup_refused_total", "Texts that were sent as plain text since their markup was refused."),
		hooks:     counters("sma_feishu_webhook_requests_total", "Requests to the webhook, by answer.", "answer"),
		links:     counter("sma_feishu_connections_total", "Long connections that were made."),
		cards:     counters("sma_feishu_draft_cards_total", "Cards that show a text under way, by what became of them.", "result"),
	}
	if reg == nil {
		return m, nil
	}
	var errs []error
	for _, c := range []prometheus.Collector{m.events, m.parked, m.plainText, m.hooks, m.links, m.cards} {
		errs = append(errs, reg.Register(c))
	}
	return m, errors.Join(errs...)
}
