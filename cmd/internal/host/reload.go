package host

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

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
