package provider

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shipmyagent/shipmyagent/adapters/model"
)

// metrics of all models on one registry. The outcome is "ok", "stopped" or the
// reason of a failure.
type metrics struct {
	duration  *prometheus.HistogramVec // model, outcome
	first     *prometheus.HistogramVec // model
	tokens    *prometheus.HistogramVec // model, token_type
	retries   *prometheus.CounterVec   // model, reason
	fallbacks *prometheus.CounterVec   // model, reason
	skipped   *prometheus.GaugeVec     // model, address
	cached    *prometheus.GaugeVec     // model
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	seconds := prometheus.ExponentialBuckets(0.01, 2, 14)
	m := &metrics{
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "gen_ai_client_operation_duration_seconds", Help: "Duration of one model request, by outcome.", Buckets: seconds,
		}, []string{"model", "outcome"}),
		first: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "gen_ai_client_operation_time_to_first_chunk_seconds", Help: "Time from a model request to its first chunk.", Buckets: seconds,
		}, []string{"model"}),
		tokens: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "gen_ai_client_token_usage", Help: "Tokens of one model request, by type.", Buckets: prometheus.ExponentialBuckets(1, 4, 14),
		}, []string{"model", "token_type"}),
		retries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sma_model_retries_total", Help: "Model requests that were retried, by reason of the failure.",
		}, []string{"model", "reason"}),
		fallbacks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sma_model_fallbacks_total", Help: "Model calls that fell back to the next model, by reason of the failure.",
		}, []string{"model", "reason"}),
		skipped: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "sma_model_skipped", Help: "1 from the failure of a model until it answers again, otherwise 0.",
		}, []string{"model", "address"}),
		cached: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "sma_model_cache_ratio", Help: "Share of the input tokens of recent requests that the provider read from its prompt cache.",
		}, []string{"model"}),
	}
	if reg == nil {
		return m, nil
	}
	reg.Unregister(m.skipped) // those of earlier models, which calls in progress may still set
	reg.Unregister(m.cached)
	return m, errors.Join(register(reg, &m.duration), register(reg, &m.first), register(reg, &m.tokens), register(reg, &m.retries), register(reg, &m.fallbacks), register(reg, &m.skipped), register(reg, &m.cached))
}

// register registers *c, or uses the collector that an earlier model registered.
func register[C prometheus.Collector](reg prometheus.Registerer, c *C) error {
	err := reg.Register(*c)
	if already, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if existing, ok := already.ExistingCollector.(C); ok {
			*c = existing
			return nil
		}
	}
	return err
}

// done records the end of one attempt.
func (m *metrics) done(name, outcome string, start time.Time) {
	m.duration.WithLabelValues(name, outcome).Observe(time.Since(start).Seconds())
}

func (m *metrics) usage(name string, u model.Usage) {
	for _, t := range []struct {
		kind  string
		count *int64
	}{{"input", u.InputTokens}, {"cached_input", u.CachedInputTokens}, {"output", u.OutputTokens}, {"reasoning", u.ReasoningTokens}} {
		if t.count != nil {
			m.tokens.WithLabelValues(name, t.kind).Observe(float64(*t.count))
		}
	}
}
