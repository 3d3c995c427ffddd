package host

import (
	"context"
	"iter"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/provider"
	"github.com/shipmyagent/shipmyagent/cmd/internal/endpoints"
	"github.com/shipmyagent/shipmyagent/config"
)

// liveModels are the models of a host, which new settings replace while it runs. Calls in progress go on with those
// that they began with.
type liveModels struct {
	llm     atomic.Pointer[config.LLM]
	choices atomic.Pointer[[]decision.ModelChoice] // of those settings
	models  atomic.Pointer[provider.Choices]       // nil if no model is called at an address
}

func (l *liveModels) set(llm *config.LLM) {
	all := endpoints.Answering(*llm)
	l.llm.Store(llm)
	l.choices.Store(&all)
}

var _ model.Model = (*liveModels)(nil)

func (l *liveModels) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return l.models.Load().Stream(ctx, req)
}

// replaceModels makes the models of changed settings answer from now on, and returns the changes that still need a
// restart.
func (h *Host) replaceModels(next *config.Loaded, changed []string) []string {
	llm := next.Settings.LLM
	if h.live.models.Load() == nil || llm.Provider == config.ProviderDemo {
		return changed
	}
	if reflect.DeepEqual(*h.live.llm.Load(), llm) { // they may also be as they were at the start again
		h.reloads.News("models")
		return slices.DeleteFunc(changed, isLive)
	}
	models, err := h.modelsOf(llm)
	if err != nil {
		if h.reloads.News("models", err) {
			h.log.Warn("the changed models cannot be used; the previous ones stay in effect", "error", err)
		}
		return changed
	}
	h.reloads.News("models")
	h.mask.Set(slices.Concat(h.opts.Settings.Settings.Secrets(), next.Settings.Secrets(), []config.Secret{h.login.kept})...)
	h.live.set(&llm)
	h.live.models.Store(models)
	h.log.Info("the models have changed", "model", llm.Model, "fallbacks", len(llm.Fallbacks), "choices", len(llm.Choices))
	return slices.DeleteFunc(changed, isLive)
}

// isLive reports whether a changed setting is one of the models' own. What chats and the gate were told when the host
// started, such as the size of the window, needs a restart.
func isLive(key string) bool {
	name, ok := strings.CutPrefix(key, "llm.")
	if !ok {
		return false
	}
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case "contextWindow", "encoding", "maxOutputTokens", "maxConcurrency", "requestsPerMinute", "tools":
		return false
	}
	return true
}
