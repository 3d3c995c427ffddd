package budgets_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/provider"
	"github.com/shipmyagent/shipmyagent/cmd/internal/budgets"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func open(t *testing.T, state string, limits config.Budget) (*budgets.Budgets, *prometheus.Registry) {
	t.Helper()
	reg := prometheus.NewRegistry()
	b := budgets.Open(state, time.UTC, slog.New(slog.DiscardHandler), reg, budgets.Messenger{})
	stdtest.Must(t, b.Set(limits, ""))
	return b, reg
}

func payer() model.Payer {
	return model.Payer{Chat: "web-chat-1", Run: "r", Work: model.WorkRun}
}

func most() provider.Use { return provider.Use{Input: 100, Output: 100, NanoUSD: 1e9} }

func TestWords(t *testing.T) {
	used := provider.Use{Input: 90, Cached: 50, Output: 10, NanoUSD: 12_340_000}
	for name, tt := range map[string]struct {
		limits config.Budget
		used   provider.Use
		en, zh string
	}{
		"no limit":        {config.Budget{}, used, "", ""},
		"of the chat":     {config.Budget{ChatTokensPerDay: 5000, USDPerChatPerDay: 0.5}, used, "\nused here today: 100 tokens of 5000, $0.0123 of $0.5", "\n今天在这里的用量：100 个 token（上限 5000），0.0123 美元（上限 0.5）"},
		"of the host":     {config.Budget{HostTokensPerDay: 5000}, used, "\nused here today: 100 tokens, $0.0123", "\n今天在这里的用量：100 个 token，0.0123 美元"},
		"without a price": {config.Budget{RunTokens: 5000}, provider.Use{Input: 1}, "\nused here today: 1 tokens", "\n今天在这里的用量：1 个 token"},
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := open(t, t.TempDir(), tt.limits)
			settle, err := b.Reserve(t.Context(), payer(), "m", most)
			stdtest.Must(t, err)
			settle(tt.used)
			if en, zh := b.Today("web-chat-1"); en != tt.en || zh != tt.zh {
				t.Errorf("got %q, %q", en, zh)
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// What is refused says why, and metrics count it.
func TestReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, reg := open(t, t.TempDir(), config.Budget{USDPerChatPerDay: 0.5})
		defer func() { _ = b.Close() }()
		settle, err := b.Reserve(t.Context(), payer(), "m", most)
		stdtest.Must(t, err)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.ErrUnsupported)
		defer cancel()
		if _, err := b.Reserve(ctx, payer(), "m", most); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("a wait that is ended returns %v", err)
		}
		settle(provider.Use{Input: 60, Output: 40, NanoUSD: 5e8})
		_, err = b.Reserve(t.Context(), payer(), "m", most)
		if limit, ok := model.ReasonOf(err).Budget(); !ok || limit != "usdPerChatPerDay" {
			t.Errorf("refused with %v", err)
		}
		for name, want := range map[string]float64{"sma_spent_usd_total": 0.5, "sma_spent_tokens_total": 100, "sma_budget_refused_total": 1} {
			families, err := reg.Gather()
			stdtest.Must(t, err)
			for _, f := range families {
				if f.GetName() == name && f.GetMetric()[0].GetCounter().GetValue() != want {
					t.Errorf("%s: %v, want %v", name, f.GetMetric(), want)
				}
			}
			if n, err := testutil.GatherAndCount(reg, name); n != 1 || err != nil {
				t.Errorf("%s: %d series, %v", name, n, err)
			}
		}
	})
}

// What cannot be recorded is an error of ours, not of the model.
func TestUnwritable(t *testing.T) {
	state := t.TempDir()
	b, _ := open(t, state, config.Budget{RunTokens: 5})
	stdtest.Must(t, os.WriteFile(filepath.Join(state, "usage"), nil, 0o600))
	if _, err := b.Reserve(t.Context(), payer(), "m", most); err == nil || model.ReasonOf(err) != model.ReasonInternal {
		t.Errorf("got %v", err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

// What an open call reserves is in no line of a report, and what one has used is in all of them at once.
func TestReport(t *testing.T) {
	for _, limits := range []config.Budget{{}, {ChatTokensPerDay: 5000}} {
		b, _ := open(t, t.TempDir(), limits)
		settle, err := b.Reserve(t.Context(), payer(), "m", most)
		stdtest.Must(t, err)
		if en, _ := b.Report("web-chat-1", "", false); !strings.HasPrefix(en, "used here today: 0 tokens") || strings.Contains(en, "7 days") {
			t.Errorf("limits %+v, open: %q", limits, en)
		}
		settle(provider.Use{Input: 3, Output: 4})
		if en, _ := b.Report("web-chat-1", "", false); !strings.HasPrefix(en, "used here today: 7 tokens") || !strings.HasSuffix(en, "m: 1 requests, 7 tokens") {
			t.Errorf("limits %+v, settled: %q", limits, en)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}
