package web

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metrics count what the server does. Labels are routes and codes, never ids.
type metrics struct {
	requests *prometheus.CounterVec
	auth     *prometheus.CounterVec
	streams  prometheus.Gauge
	dropped  prometheus.Counter
}

func newMetrics(reg prometheus.Registerer, platformName string) *metrics {
	f := promauto.With(prometheus.WrapRegistererWith(prometheus.Labels{"platform": platformName}, reg))
	return &metrics{
		requests: f.NewCounterVec(prometheus.CounterOpts{Name: "sma_http_requests_total", Help: "HTTP requests by route and status code."}, []string{"route", "code"}),
		auth:     f.NewCounterVec(prometheus.CounterOpts{Name: "sma_http_auth_failures_total", Help: "Requests with a wrong token, and requests refused after too many of them."}, []string{"reason"}),
		streams:  f.NewGauge(prometheus.GaugeOpts{Name: "sma_http_streams", Help: "Streams that are open."}),
		dropped:  f.NewCounter(prometheus.CounterOpts{Name: "sma_http_streams_dropped_total", Help: "Streams that were cut because their reader was too slow or the chat was unloaded."}),
	}
}
