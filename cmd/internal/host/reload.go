package host

import (
	"log/slog"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/config"
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
	changed = h.setRules(&next.Settings.Adapters, changed)
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

// setRules makes bots follow changed rules of access, and returns the changes that still need a restart. Whom the owner
// has let in is not in the settings.
func (h *Host) setRules(next *config.Adapters, changed []string) []string {
	for name, p := range h.ports {
		bot, ok := p.platform.(platform.Ruled)
		service, known := h.services.Of(name)
		if !ok || !known {
			continue
		}
		_, account, _ := strings.Cut(name, "@")
		if err := bot.SetRules(service.Rules(next, account)); err != nil {
			if h.reloads.News("access to "+name, err) {
				h.log.Warn("the changed access cannot be used; the previous one stays in effect", "platform", name, "error", err)
			}
			continue
		}
		changed = slices.DeleteFunc(changed, func(key string) bool { return isRule(service.Name, key) })
	}
	return changed
}

// isRule reports whether a key is about who may talk to the bots of a service. A new account has other keys, too.
func isRule(service, key string) bool {
	if !strings.HasPrefix(key, "adapters."+service+".") {
		return false
	}
	last := key[strings.LastIndexByte(key, '.')+1:]
	return last == "access" || last == "groups" || last == "addressed"
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
