package host

import (
	"context"
	"iter"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/run"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/provider"
	"github.com/shipmyagent/shipmyagent/cmd/internal/endpoints"
	"github.com/shipmyagent/shipmyagent/config"
)

// current is what follows from the settings that count now. It never changes; new settings replace all of it at once.
// Chats and runs ask for it with every message.
type current struct {
	config.Settings
	choices []decision.ModelChoice
	runs    run.Options
	chats   *chat.Options
}

// settings are those that count now. Only what may change at run time is read from them.
func (h *Host) settings() *config.Settings { return &h.current.Load().Settings }

// follow makes settings count from the next message, step and call on.
func (h *Host) follow(s config.Settings) {
	next := &current{Settings: s, choices: endpoints.Answering(s.LLM), runs: h.runs}
	next.runs.MaxOutputTokens, next.runs.Rules = s.LLM.MaxOutputTokens, run.NewRules(s.Permissions.Exec.Allow, s.Permissions.Exec.Deny)
	chats := h.chats
	queue, egress := s.Context.ChatQueue, s.Context.ChatEgress
	chats.Mode, chats.MaxQueued, chats.FairToSenders, chats.Debounce = queue.Mode, queue.MaxQueued, queue.Fairness == "sender", time.Duration(queue.DebounceMS)*time.Millisecond
	chats.MaxSends, chats.RepeatSends = egress.ChatSendMaxCallsPerRun, !egress.Idempotency
	h.wireCompaction(&chats, s)
	h.wireMemory(&chats, s.Context.Memory, s.LLM)
	next.chats = chats.Complete()
	h.current.Store(next)
}

// liveModels are the models of a host, which new settings replace while it runs. Calls in progress go on with those
// that they began with. The pointer is nil if no model is called at an address.
type liveModels struct {
	models atomic.Pointer[provider.Choices]
}

func (l *liveModels) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return l.models.Load().Stream(ctx, req)
}

// replaceModels makes the models of changed settings answer from now on. If that is not possible, it returns false, and
// puts the previous settings of models in place of the changed ones.
func (h *Host) replaceModels(s *config.Settings) bool {
	before, llm := h.settings().LLM, &s.LLM
	if h.live.models.Load() == nil || llm.Provider == config.ProviderDemo {
		*llm = before
		return false
	}
	if reflect.DeepEqual(before, *llm) { // they may also be as they were at the start again
		h.reloads.News("models")
		return true
	}
	models, err := h.modelsOf(*llm)
	if err != nil {
		if h.reloads.News("models", err) {
			h.log.Warn("the changed models cannot be used; the previous ones stay in effect", "error", err)
		}
		*llm = before
		return false
	}
	h.reloads.News("models")
	h.live.models.Store(models)
	h.log.Info("the models have changed", "model", llm.Model, "fallbacks", len(llm.Fallbacks), "choices", len(llm.Choices))
	return true
}
