package feishu

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metrics of one app.
type metrics struct {
	events    *prometheus.CounterVec // by result
	parked    prometheus.Gauge
	plainText prometheus.Counter
	hooks     *prometheus.CounterVec // by status
	links     prometheus.Counter
	cards     *prometheus.CounterVec // by result
}

func newMetrics(reg prometheus.Registerer, name string) *metrics {
	f := promauto.With(prometheus.WrapRegistererWith(prometheus.Labels{"platform": name}, reg))
	return &metrics{
		events:    f.NewCounterVec(prometheus.CounterOpts{Name: "sma_feishu_events_total", Help: "Events, by result."}, []string{"result"}),
		parked:    f.NewGauge(prometheus.GaugeOpts{Name: "sma_feishu_set_aside", Help: "Messages of chats that do not take them at the moment."}),
		plainText: f.NewCounter(prometheus.CounterOpts{Name: "sma_feishu_markup_refused_total", Help: "Texts that were sent as plain text since their markup was refused."}),
		hooks:     f.NewCounterVec(prometheus.CounterOpts{Name: "sma_feishu_webhook_requests_total", Help: "Requests to the webhook, by answer."}, []string{"answer"}),
		links:     f.NewCounter(prometheus.CounterOpts{Name: "sma_feishu_connections_total", Help: "Long connections that were made."}),
		cards:     f.NewCounterVec(prometheus.CounterOpts{Name: "sma_feishu_draft_cards_total", Help: "Cards that show a text under way, by what became of them."}, []string{"result"}),
	}
}
