package telegram

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
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
	labels := prometheus.Labels{"platform": name}
	m := &metrics{
		polls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sma_telegram_polls_total", Help: "Polls for updates, by result.", ConstLabels: labels,
		}, []string{"result"}),
		unread: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "sma_telegram_unreadable_updates_total", Help: "Updates that could not be read and were confirmed.", ConstLabels: labels,
		}),
		parked: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "sma_telegram_set_aside", Help: "Messages of chats that do not take them at the moment.", ConstLabels: labels,
		}),
		plainText: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "sma_telegram_markup_refused_total", Help: "Texts that were sent as plain text since their markup was refused.", ConstLabels: labels,
		}),
		notRich: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "sma_telegram_rich_refused_total", Help: "Texts that were sent as usual since they were refused as rich messages.", ConstLabels: labels,
		}),
		hooks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sma_telegram_webhook_requests_total", Help: "Requests to the webhook, by answer.", ConstLabels: labels,
		}, []string{"answer"}),
	}
	if reg == nil {
		return m, nil
	}
	var errs []error
	for _, c := range []prometheus.Collector{m.polls, m.unread, m.parked, m.plainText, m.notRich, m.hooks} {
		errs = append(errs, reg.Register(c))
	}
	return m, errors.Join(errs...)
}
