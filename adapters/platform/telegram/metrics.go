package telegram

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
)

// metrics of one bot.
type metrics struct {
	polls     *prometheus.CounterVec // by result
	unread    prometheus.Counter
	parked    prometheus.Gauge
	plainText prometheus.Counter
	notRich   prometheus.Counter
	hooks     *prometheus.CounterVec // by answer
}

func newMetrics(reg prometheus.Registerer, name string) (*metrics, error) {
	made := botkit.NewMetrics(name)
	m := &metrics{
		polls:     made.Counters("sma_telegram_polls_total", "Polls for updates, by result.", "result"),
		unread:    made.Counter("sma_telegram_unreadable_updates_total", "Updates that could not be read and were confirmed."),
		parked:    made.Gauge("sma_telegram_set_aside", "Messages of chats that do not take them at the moment."),
		plainText: made.Counter("sma_telegram_markup_refused_total", "Texts that were sent as plain text since their markup was refused."),
		notRich:   made.Counter("sma_telegram_rich_refused_total", "Texts that were sent as usual since they were refused as rich messages."),
		hooks:     made.Counters("sma_telegram_webhook_requests_total", "Requests to the webhook, by answer.", "answer"),
	}
	return m, made.Register(reg)
}
