package host

import (
	"fmt"
	"log/slog"
	"reflect"
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
	if err := h.trust.settings(h, next); err != nil {
		h.log.Warn("the changed settings reach outside of the folder in what is not agreed to; the last good ones stay in force", "error", err, "help", "sma trust, then save the file again")
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
	before, after := map[string]config.Secret{}, map[string]config.Secret{}
	secretsOf(reflect.ValueOf(a), "", before)
	secretsOf(reflect.ValueOf(b), "", after)
	var out []string
	for key, s := range after {
		if !s.Equal(before[key]) {
			out = append(out, key)
		}
	}
	return out // a block that is gone is among the other keys
}

// secretsOf collects the secrets of settings, by their keys.
func secretsOf(v reflect.Value, key string, out map[string]config.Secret) {
	if s, ok := reflect.TypeAssert[config.Secret](v); ok {
		out[key] = s
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				secretsOf(v.Field(i), strings.TrimPrefix(key+"."+name, "."), out)
			}
		}
	case reflect.Map:
		for _, name := range v.MapKeys() {
			secretsOf(v.MapIndex(name), key+"."+name.String(), out)
		}
	case reflect.Slice:
		for i := range v.Len() {
			secretsOf(v.Index(i), fmt.Sprintf("%s[%d]", key, i), out)
		}
	default: // a value of another kind
	}
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
