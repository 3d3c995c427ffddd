// Package budgets keeps what the models of a host use within the limits of the settings, records it, and says how much
// it is: as metrics, and to people.
package budgets

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/provider"
	"github.com/shipmyagent/shipmyagent/adapters/speech"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/window"
	"github.com/shipmyagent/shipmyagent/persistence/ledger"
	"github.com/shipmyagent/shipmyagent/persistence/taskfile"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

const nanoPerUSD = 1e9

// Dir is the folder of the ledger in a state folder.
func Dir(state string) string { return filepath.Join(state, "usage") }

// USD converts billionths of a US dollar.
func USD(nano int64) float64 { return float64(nano) / nanoPerUSD }

// Budgets admits the requests to models and records what they use. It is safe for concurrent use.
type Budgets struct {
	ledger *ledger.Ledger
	tasks  *taskfile.Store
	zone   *time.Location
	limits atomic.Pointer[config.Budget]
	// cheaper is the model that has higher limits.
	cheaper atomic.Pointer[string]
	log     *slog.Logger

	news      chan news
	messenger Messenger

	usd, tokens, refused *prometheus.CounterVec
}

var _ provider.Meter = (*Budgets)(nil)

// Open makes the budgets of a state folder, without limits. Windows are those of the calendar in the zone.
func Open(state string, zone *time.Location, log *slog.Logger, reg prometheus.Registerer, m Messenger) *Budgets {
	f := promauto.With(reg)
	b := &Budgets{
		ledger: ledger.Open(Dir(state), zone, func(err error) { log.Error("what a model has used cannot be recorded", "error", err) }),
		tasks:  taskfile.New(state, zone), zone: zone, log: log, news: make(chan news, maxNews), messenger: m,
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
	b.cheaper.Store(new(string))
	return b
}

// Set replaces the limits, and the name of the model that is asked once a limit is reached. The name may be empty.
// The error says that what was used cannot be read, so that requests are refused until it can.
func (b *Budgets) Set(limits config.Budget, cheaper string) error {
	b.limits.Store(&limits)
	b.cheaper.Store(&cheaper)
	return b.ledger.SetLimits(ledgerLimits(limits)) //nolint:wrapcheck // it names the file
}

func ledgerLimits(l config.Budget) ledger.Limits {
	of := func(tokens config.Limit, usd config.Dollars) ledger.Bound {
		return ledger.Bound{Tokens: int64(tokens), NanoUSD: int64(math.Ceil(float64(usd) * nanoPerUSD))}
	}
	out := ledger.Limits{CheaperPercent: int64(l.CheaperPercent), Ask: l.AtLimit == config.AtLimitAsk, Run: of(l.RunTokens, l.USDPerRun)}
	out.Person[window.Hour] = of(l.PersonTokensPerHour, l.USDPerPersonPerHour)
	out.Person[window.Day] = of(l.PersonTokensPerDay, l.USDPerPersonPerDay)
	out.Person[window.Month] = of(l.PersonTokensPerMonth, l.USDPerPersonPerMonth)
	out.Chat[window.Hour] = of(l.ChatTokensPerHour, l.USDPerChatPerHour)
	out.Chat[window.Day] = of(l.ChatTokensPerDay, l.USDPerChatPerDay)
	out.Chat[window.Month] = of(l.ChatTokensPerMonth, l.USDPerChatPerMonth)
	out.Host[window.Hour] = of(l.HostTokensPerHour, l.USDPerHostPerHour)
	out.Host[window.Day] = of(l.HostTokensPerDay, l.USDPerHostPerDay)
	out.Host[window.Month] = of(l.HostTokensPerMonth, l.USDPerHostPerMonth)
	return out
}

// Reserve implements [provider.Meter].
func (b *Budgets) Reserve(ctx context.Context, payer model.Payer, name string, most func() provider.Use) (settle func(provider.Use), err error) {
	done, err := b.reserve(ctx, b.callOf(payer, name), func() ledger.Amount { return amountOf(most()) })
	switch exhausted, ok := errors.AsType[*ledger.Exhausted](err); {
	case ok:
		return nil, &model.Error{Reason: model.ReasonBudget(exhausted.Limit, exhausted.Question.Code != ""), Message: exhausted.Error()}
	case err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		return nil, &model.Error{Reason: model.ReasonInternal, Message: "what it may use cannot be recorded", Err: err}
	}
	return func(used provider.Use) { done(amountOf(used)) }, nil
}

func amountOf(u provider.Use) ledger.Amount {
	return ledger.Amount{Input: u.Input, Cached: u.Cached, Output: u.Output, NanoUSD: u.NanoUSD}
}

// reserve admits a call of any kind. A task is on the account of the person who asked for it.
func (b *Budgets) reserve(ctx context.Context, call ledger.Call, most func() ledger.Amount) (settle func(ledger.Amount), err error) {
	if call.Person == "" && call.Run != "" {
		if task, ok := timetable.TaskOf(call.Chat); ok {
			t, _ := b.tasks.Task(task) // otherwise it is unknown who made it
			call.Person = t.MadeBy
		}
	}
	r, err := b.ledger.Reserve(ctx, call, most)
	if err != nil {
		if exhausted, ok := errors.AsType[*ledger.Exhausted](err); ok {
			b.refused.WithLabelValues(exhausted.Limit).Inc()
			if exhausted.First {
				b.send(news{Question: exhausted.Question})
			}
		}
		return nil, err //nolint:wrapcheck // the callers tell apart what it is
	}
	return func(used ledger.Amount) {
		r.Settle(used)
		b.usd.WithLabelValues(call.Model, call.Work).Add(USD(used.NanoUSD))
		b.tokens.WithLabelValues(call.Model, call.Work).Add(float64(used.Tokens()))
	}, nil
}

func (b *Budgets) callOf(payer model.Payer, name string) ledger.Call {
	return ledger.Call{
		Chat: payer.Chat, Person: payer.Person, Run: payer.Run, Work: string(payer.Work), Model: name, Cheaper: name != "" && name == *b.cheaper.Load(),
	}
}

// Cheaper implements [provider.Meter].
func (b *Budgets) Cheaper() string {
	if *b.cheaper.Load() == "" {
		return ""
	}
	return b.limits.Load().Cheaper
}

// ToTell implements [provider.Meter].
func (b *Budgets) ToTell(payer model.Payer, limit string) bool {
	return b.ledger.Tell(b.callOf(payer, ""), limit)
}

// Close writes what is pending. Requests may still be settled after it.
func (b *Budgets) Close() error { return b.ledger.Close() }

// Recordings accounts for the recordings that a model turns into text.
func (b *Budgets) Recordings(model string, usdPerMinute float64) speech.Meter {
	return b.speech(ledger.Call{Work: "transcribe", Model: model}, func(seconds int64) ledger.Amount {
		return ledger.Amount{Seconds: seconds, NanoUSD: int64(math.Round(float64(seconds) * usdPerMinute / 60 * nanoPerUSD))}
	})
}

// Texts accounts for the texts that a model speaks.
func (b *Budgets) Texts(model string, usdPerMillion float64) speech.Meter {
	return b.speech(ledger.Call{Work: "speak", Model: model}, func(characters int64) ledger.Amount {
		return ledger.Amount{Characters: characters, NanoUSD: int64(math.Round(float64(characters) * usdPerMillion * nanoPerUSD / 1e6))}
	})
}

// speech accounts for calls whose size is known in advance. They are charged to their chat, not to a person.
func (b *Budgets) speech(call ledger.Call, amount func(size int64) ledger.Amount) speech.Meter {
	return func(ctx context.Context, chat string, size int64) (settle func(paid bool), err error) {
		call := call
		call.Chat = messages.ChatKey(chat)
		cost := amount(size)
		done, err := b.reserve(ctx, call, func() ledger.Amount { return cost })
		exhausted, ok := errors.AsType[*ledger.Exhausted](err)
		switch {
		case ok:
			return nil, &speech.Error{Reason: speech.ReasonRate, Message: exhausted.Error()}
		case err != nil && ctx.Err() != nil:
			return nil, err
		case err != nil:
			return nil, &speech.Error{Reason: speech.ReasonProgram, Message: "what it may use cannot be recorded", Err: err}
		}
		return func(paid bool) {
			if !paid {
				cost = ledger.Amount{}
			}
			done(cost)
		}, nil
	}
}
