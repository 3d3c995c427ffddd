package feishu

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
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

func newMetrics(reg prometheus.Registerer, name string) (*metrics, error) {
	made := botkit.NewMetrics(name)
	m := &metrics{
		events:    made.Counters("sma_feishu_events_total", "Events, by result.", "result"),
		parked:    made.Gauge("sma_feishu_set_aside", "Messages of chats that do not take them at the moment."),
		plainText: made.Counter("sma_feishu_markup_refused_total", "Texts that were sent as plain text since their markup was refused."),
		hooks:     made.Counters("sma_feishu_webhook_requests_total", "Requests to the webhook, by answer.", "answer"),
		links:     made.Counter("sma_feishu_connections_total", "Long connections that were made."),
		cards:     made.Counters("sma_feishu_draft_cards_total", "Cards that show a text under way, by what became of them.", "result"),
	}
	return m, made.Register(reg)
}
