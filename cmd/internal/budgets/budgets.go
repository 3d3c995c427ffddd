// Package budgets keeps what the models of a host use within the limits of the settings, records it, and says how much
// it is: as metrics, and to people.
package budgets

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/provider"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/ledger"
)

const nanoPerUSD = 1e9

// Dir is the folder of the ledger in a state folder.
func Dir(state string) string { return filepath.Join(state, "usage") }

// USD converts billionths of a US dollar.
func USD(nano int64) float64 { return float64(nano) / nanoPerUSD }

// Budgets admits the requests to models and records what they use. It is safe for concurrent use.
type Budgets struct {
	ledger *ledger.Ledger
	limits atomic.Pointer[config.Budget]
	log    *slog.Logger

	usd, tokens, refused *prometheus.CounterVec
}

var _ provider.Meter = (*Budgets)(nil)

// Open reads what was used today. Days begin at midnight in the zone.
func Open(state string, zone *time.Location, log *slog.Logger, reg prometheus.Registerer) (*Budgets, error) {
	l, err := ledger.Open(Dir(state), zone, func(err error) { log.Error("what a model has used cannot be recorded", "error", err) })
	if err != nil {
		return nil, err
	}
	f := promauto.With(reg)
	b := &Budgets{
		ledger: l, log: log,
		usd: f.NewCounterVec(prometheus.CounterOpts{
			Name: "sma_spent_usd_total", Help: "US dollars that requests to models cost, by model and kind of work; 0 if prices are unknown.",
		}, []string{"model", "work"}),
		tokens: f.NewCounterVec(prometheus.CounterOpts{
			Name: "sma_spent_tokens_total", Help: "Tokens of requests to models, with estimates for those whose use is unknown, by model and kind of work.",
		}, []string{"model", "work"}),
		refused: f.NewCounterVec(prometheus.CounterOpts{
			Name: "sma_budget_refused_total", Help: "Requests to models that a spending limit refused, by limit.",
		}, []string{"limit"}),
	}
	b.limits.Store(&config.Budget{})
	return b, nil
}

// Set replaces the limits.
func (b *Budgets) Set(limits config.Budget) {
	b.limits.Store(&limits)
	nano := func(d config.Dollars) int64 { return int64(math.Ceil(float64(d) * nanoPerUSD)) }
	b.ledger.SetLimits(ledger.Limits{
		RunTokens: int64(limits.RunTokens), ChatTokensPerDay: int64(limits.ChatTokensPerDay), HostTokensPerDay: int64(limits.HostTokensPerDay),
		RunNanoUSD: nano(limits.USDPerRun), ChatNanoUSDPerDay: nano(limits.USDPerChatPerDay), HostNanoUSDPerDay: nano(limits.USDPerHostPerDay),
	})
}

// Reserve implements [provider.Meter].
func (b *Budgets) Reserve(ctx context.Context, payer model.Payer, name string, most func() provider.Use) (settle func(provider.Use), err error) {
	call := ledger.Call{Chat: payer.Chat, Run: payer.Run, Work: string(payer.Work), Model: name}
	r, err := b.ledger.Reserve(ctx, call, func() ledger.Amount { return ledger.Amount(most()) })
	switch exhausted, ok := errors.AsType[*ledger.Exhausted](err); {
	case ok:
		b.refused.WithLabelValues(string(exhausted.Limit)).Inc()
		return nil, &model.Error{Reason: model.ReasonBudget(string(exhausted.Limit)), Message: exhausted.Error()}
	case err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		return nil, &model.Error{Reason: model.ReasonInternal, Message: "what it may use cannot be recorded", Err: err}
	}
	return func(used provider.Use) {
		r.Settle(ledger.Amount(used))
		b.usd.WithLabelValues(name, call.Work).Add(USD(used.NanoUSD))
		b.tokens.WithLabelValues(name, call.Work).Add(float64(used.Input + used.Output))
	}, nil
}

// Today is a line about what a chat has used today, in English and Chinese. It is empty if there is no limit.
func (b *Budgets) Today(chat messages.ChatKey) (en, zh string) {
	limits := b.limits.Load()
	if *limits == (config.Budget{}) {
		return "", ""
	}
	used, err := b.ledger.Today(chat)
	if err != nil {
		b.log.Error("what a chat has used today cannot be read", "chat_key", string(chat), "error", err)
		return "", ""
	}
	en, zh = fmt.Sprintf("\nused here today: %d tokens", used.Tokens()), fmt.Sprintf("\n今天在这里的用量：%d 个 token", used.Tokens())
	if most := limits.ChatTokensPerDay; most > 0 {
		en += fmt.Sprintf(" of %d", most)
		zh += fmt.Sprintf("（上限 %d）", most)
	}
	if used.NanoUSD > 0 || limits.USDPerChatPerDay > 0 {
		en += fmt.Sprintf(", $%.4f", USD(used.NanoUSD))
		zh += fmt.Sprintf("，%.4f 美元", USD(used.NanoUSD))
	}
	if most := limits.USDPerChatPerDay; most > 0 {
		en += fmt.Sprintf(" of $%g", most)
		zh += fmt.Sprintf("（上限 %g）", most)
	}
	return en, zh
}

// Close writes what is pending. Requests may still be settled after it.
func (b *Budgets) Close() error { return b.ledger.Close() }
