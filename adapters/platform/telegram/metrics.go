package telegram

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
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

func newMetrics(reg prometheus.Registerer, name string) *metrics {
	f := promauto.With(prometheus.WrapRegistererWith(prometheus.Labels{"platform": name}, reg))
	return &metrics{
		polls:     f.NewCounterVec(prometheus.CounterOpts{Name: "sma_telegram_polls_total", Help: "Polls for updates, by result."}, []string{"result"}),
		unread:    f.NewCounter(prometheus.CounterOpts{Name: "sma_telegram_unreadable_updates_total", Help: "Updates that could not be read and were confirmed."}),
		parked:    f.NewGauge(prometheus.GaugeOpts{Name: "sma_telegram_set_aside", Help: "Messages of chats that do not take them at the moment."}),
		plainText: f.NewCounter(prometheus.CounterOpts{Name: "sma_telegram_markup_refused_total", Help: "Texts that were sent as plain text since their markup was refused."}),
		notRich:   f.NewCounter(prometheus.CounterOpts{Name: "sma_telegram_rich_refused_total", Help: "Texts that were sent as usual since they were refused as rich messages."}),
		hooks:     f.NewCounterVec(prometheus.CounterOpts{Name: "sma_telegram_webhook_requests_total", Help: "Requests to the webhook, by answer."}, []string{"answer"}),
	}
}
