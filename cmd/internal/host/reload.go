package host

import (
	"log/slog"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/config"
)

// reloadSettings reads the settings anew after a change. Those that can change
// while the host runs do; the others are shown as needing a restart. Settings
// with faults change nothing.
func (h *Host) reloadSettings() {
	if h.opts.Reload == nil {
		return
	}
	next, err := h.opts.Reload()
	if err != nil {
		h.log.Warn("the changed settings have faults; the last good ones stay in force", "error", err)
		return
	}
	changed, err := changedKeys(h.opts.Settings, next)
	if err != nil {
		h.log.Warn("the changed settings cannot be compared", "error", err)
		return
	}
	changed = slices.DeleteFunc(changed, func(key string) bool {
		if key != "log.level" || h.opts.Level == nil {
			return false
		}
		h.opts.Level.Set(LogLevel(next.Settings.Log.Level))
		return true
	})
	h.board.needRestart(changed)
	if len(changed) > 0 {
		h.log.Warn("settings have changed that need a restart", "keys", strings.Join(changed, ", "))
	}
}

// changedKeys names the keys whose values differ.
func changedKeys(a, b *config.Loaded) ([]string, error) {
	before, err := values(a)
	if err != nil {
		return nil, err
	}
	after, err := values(b)
	if err != nil {
		return nil, err
	}
	var out []string
	for key, v := range after {
		if before[key] != v {
			out = append(out, key)
		}
	}
	for key := range before {
		if _, ok := after[key]; !ok {
			out = append(out, key)
		}
	}
	out = append(out, changedSecrets(a.Settings, b.Settings)...)
	slices.Sort(out)
	return slices.Compact(out), nil
}

func values(l *config.Loaded) (map[string]string, error) {
	keys, err := l.Effective()
	if err != nil {
		return nil, err
	}
	out := make(map[string]string, len(keys))
	for _, k := range keys {
		out[k.Key] = string(k.Value)
	}
	return out, nil
}

// changedSecrets compares what is shown as stars.
func changedSecrets(a, b config.Settings) []string {
	var out []string
	for _, s := range []struct {
		key  string
		a, b config.Secret
	}{
		{"llm.apiKey", a.LLM.APIKey, b.LLM.APIKey},
		{"adapters.telegram.botToken", a.Adapters.Telegram.BotToken, b.Adapters.Telegram.BotToken},
		{"adapters.feishu.appSecret", a.Adapters.Feishu.AppSecret, b.Adapters.Feishu.AppSecret},
		{"adapters.feishu.encryptKey", a.Adapters.Feishu.EncryptKey, b.Adapters.Feishu.EncryptKey},
		{"adapters.feishu.verificationToken", a.Adapters.Feishu.VerificationToken, b.Adapters.Feishu.VerificationToken},
		{"adapters.web.token", a.Adapters.Web.Token, b.Adapters.Web.Token},
		{"adapters.api.token", a.Adapters.API.Token, b.Adapters.API.Token},
	} {
		if !s.a.Equal(s.b) {
			out = append(out, s.key)
		}
	}
	return out
}

// LogLevel is the level of a word in the settings.
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
