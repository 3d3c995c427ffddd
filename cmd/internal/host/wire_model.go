package host

import (
	"context"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/demo"
	"github.com/shipmyagent/shipmyagent/adapters/model/provider"
	"github.com/shipmyagent/shipmyagent/cmd/internal/budgets"
	"github.com/shipmyagent/shipmyagent/cmd/internal/commands"
	"github.com/shipmyagent/shipmyagent/cmd/internal/endpoints"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/cmd/internal/traces"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages"
)

// demo reports whether the built-in demo model is used.
func (h *Host) demo() bool { return h.opts.Settings.Settings.LLM.Provider == config.ProviderDemo }

// modelLabel is what people call the main model.
func (h *Host) modelLabel() string { return h.modelChoices()[0].Label }

// modelChoices are the main model and those that people may choose for a chat in its place.
func (h *Host) modelChoices() []decision.ModelChoice { return h.current.Load().choices }

// newModel makes the configured model. It contacts no service.
func (h *Host) newModel() (model.Model, error) {
	llm := h.opts.Settings.Settings.LLM
	h.budgets = budgets.Open(h.opts.State, h.zone, h.opts.Logger.With("component", "budgets"), h.registry, budgets.Messenger{
		Owner: h.deciders.OwnerChat, Name: h.deciders.ChatName, Post: func(ctx context.Context, words messages.PostWords) error {
			_, err := query.Ask[messages.WordsPosted](ctx, h.askChat, words)
			return err
		},
	})
	h.cleanups.add("budgets", func(context.Context) error { return h.budgets.Close() })
	h.background("spending limits", h.budgets.Tell)
	if err := h.budgets.Set(h.opts.Settings.Settings.Budget, h.opts.Settings.Settings.CheaperModel()); err != nil {
		return nil, &Failure{Kind: KindFailed, What: "what was spent cannot be read, so no spending limit can be kept", Why: err}
	}
	switch {
	case h.opts.Model != nil:
		return h.opts.Model, nil
	case h.demo():
		return demo.New(), nil
	}
	m, err := h.modelsOf(llm)
	if err != nil {
		return nil, &Failure{Kind: KindConfig, What: "the model cannot be set up", Why: err, Help: "sma config check --dir " + h.folder()}
	}
	h.live.models.Store(m)
	return &h.live, nil
}

// modelsOf makes the models of some settings.
func (h *Host) modelsOf(llm config.LLM) (*provider.Choices, error) {
	var traceParent func(requestID, runID string) string
	if h.opts.Settings.Settings.Traces.Propagate {
		traceParent = traces.Parent
	}
	m, err := provider.NewChoices(provider.Options{
		Endpoint: endpoints.Main(llm, llm.Model), Fallbacks: endpoints.Fallbacks(llm),
		FirstByteTimeout: time.Duration(llm.FirstByteS) * time.Second, IdleTimeout: time.Duration(llm.IdleTimeoutS) * time.Second,
		Logger: h.opts.Logger.With("component", "model"), Metrics: h.registry, Load: h.shelf.Load,
		Meter: h.budgets, TraceParent: traceParent,
	}, endpoints.Choices(llm))
	if err == nil && h.embedAt != nil {
		err = h.embedAt(llm)
	}
	return m, err
}

// models returns the status of the main model and of its fallbacks, in this order, or nil if it is unknown.
func (h *Host) models() []commands.ModelStatus {
	models := h.live.models.Load()
	if models == nil {
		return nil
	}
	var out []commands.ModelStatus
	for _, m := range models.Health() {
		s := commands.ModelStatus{Name: m.Model, NoTools: m.NoTools, RefusedEfforts: m.Efforts, Reason: string(m.Reason)}
		if m.Skipped > 0 {
			s.SkippedS = max(1, int(m.Skipped.Round(time.Second).Seconds()))
		}
		out = append(out, s)
	}
	return out
}
