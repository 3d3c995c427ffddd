package host

import (
	"log/slog"
	"slices"
	"strings"
)

// reloadSettings reads the settings again after a change. Those that can change at run time take effect; the others
// are shown as needing a restart. Faulty settings change nothing.
func (h *Host) reloadSettings() {
	if h.opts.Reload == nil {
		return
	}
	next, err := h.opts.Reload()
	if err != nil {
		if h.reloads.News("settings", err) {
			h.log.Warn("the changed settings have errors; the previous ones stay in effect", "error", err)
		}
		return
	}
	if err := h.trust.settings(h, next); err != nil {
		if h.reloads.News("settings", "untrusted", err) {
			h.log.Warn("the changed settings use something outside the folder that is not trusted; the previous ones stay in effect", "error", err, "help", "sma trust, then save the file again")
		}
		return
	}
	changed, err := h.opts.Settings.Changed(next)
	if err != nil {
		if h.reloads.News("settings", "not compared", err) {
			h.log.Warn("the changed settings cannot be compared", "error", err)
		}
		return
	}
	changed = slices.DeleteFunc(changed, func(key string) bool {
		if key != "log.level" || h.opts.Level == nil {
			return false
		}
		h.opts.Level.Set(LogLevel(next.Settings.Log.Level))
		return true
	})
	changed = h.replaceModels(next, changed)
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
	changed = slices.DeleteFunc(changed, func(key string) bool { return strings.HasPrefix(key, "budget.") })
	h.board.needRestart(changed)
	if h.reloads.News("settings", "restart", changed) && len(changed) > 0 {
		h.log.Warn("settings have changed that need a restart", "keys", strings.Join(changed, ", "))
	}
}

// LogLevel converts the word of the settings to a level.
func LogLevel(word string) slog.Level {
	switch word {
	case "debug":
		return slog.LevelDebug
	case "warn":
		return slog.LevelWarn
	case "error":
		return slog.LevelError
	default:
		return slog.LevelInfo
	}
}
