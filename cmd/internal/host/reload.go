package host

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
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

// reloadSettings reads the settings again after a change. Those that can change at run time take effect; the others
// are shown as needing a restart. Faulty settings change nothing.
func (h *Host) reloadSettings() {
	if h.opts.Reload == nil {
		return
	}
	next, err := h.opts.Reload()
	file, missing := os.Stat(filepath.Join(h.opts.Dir, config.FileName))
	if err == nil && (h.shipped && missing != nil || missing == nil && file.Size() == 0) {
		err = errors.New("ship.json is empty or missing, as it may be while it is written; {} stands for the defaults")
	}
	var changed []string
	if err == nil {
		changed, err = h.opts.Settings.Changed(next)
	}
	if err != nil {
		if h.reloads.News("settings", err) {
			h.log.Warn("the changed settings have errors; the previous ones stay in effect", "error", err)
		}
		return
	}
	h.warnOf(next.Findings)
	if err := h.trust.settings(h, next); err != nil {
		if h.reloads.News("settings", "untrusted", err) {
			h.log.Warn("the changed settings use something outside the folder that is not trusted; the previous ones stay in effect", "error", err, "help", "sma trust, then save the file again")
		}
		return
	}
	if h.opts.Log != nil {
		h.opts.Log(next.Settings.Log)
	}
	now := next.Settings
	h.mask.Set(slices.Concat(h.opts.Settings.Settings.Secrets(), h.settings().Secrets(), now.Secrets(), []config.Secret{h.login.kept})...)
	models, spoken := h.replaceModels(&now), h.replaceSpeech(&now)
	if !reflect.DeepEqual(*h.settings(), now) {
		h.follow(now)
	}
	for name, p := range h.ports {
		if changed, err = h.services.Follow(p.platform, &next.Settings.Adapters, changed); err != nil && h.reloads.News("access to "+name, err) {
			h.log.Warn("the changed access cannot be used; the previous one stays in effect", "platform", name, "error", err)
		}
	}
	if err := h.budgets.Set(next.Settings.Budget, next.Settings.CheaperModel()); err != nil {
		if h.reloads.News("settings", "spending", err) {
			h.log.Error("what was spent cannot be read, so no spending limit can be kept; requests to models are refused until it can", "error", err)
		}
		return
	}
	changed = slices.DeleteFunc(changed, func(key string) bool { return isLive(key, models, spoken) })
	h.board.needRestart(changed)
	if h.reloads.News("settings", "restart", changed) && len(changed) > 0 {
		h.log.Warn("settings have changed that need a restart", "keys", strings.Join(changed, ", "))
	}
}

// warnOf logs the warnings about changed settings that those at the start did not have.
func (h *Host) warnOf(findings []config.Finding) {
	fresh := slices.DeleteFunc(slices.Clone(findings), func(f config.Finding) bool { return slices.Contains(h.opts.Settings.Findings, f) })
	if !h.reloads.News("warnings", fresh) {
		return
	}
	for _, f := range fresh {
		h.log.Warn("the changed settings are in effect, but one of them is questionable", "finding", f.String())
	}
}

// isLive reports whether a changed setting counts without a restart. Those of models and of speech do if these could be
// replaced.
func isLive(key string, models, spoken bool) bool {
	block, name, _ := strings.Cut(key, ".")
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch block {
	case "$schema", "version", "description", "log", "limits", "retention", "budget":
		return true
	case "llm":
		return models && last != "tools"
	case "speech":
		return spoken
	case "permissions":
		return last == "allow" || last == "deny" || last == "approvers"
	case "adapters":
		return last == "groupContext"
	case "context":
		return strings.HasPrefix(name, "chatQueue.") || strings.HasPrefix(name, "memory.") && last != "embeddingModel" ||
			slices.Contains([]string{"history.keepLastMessages", "history.maxInputTokensApprox", "chatEgress.chatSendMaxCallsPerRun", "chatEgress.idempotency"}, name)
	}
	return false
}

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
