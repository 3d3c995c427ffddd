package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// otherVariables are the SMA_ variables that do not set a key.
func otherVariables() []string { return []string{"SMA_TRUST"} }

// warnVariables reports variables that start with SMA_ but set nothing. It reads only their names.
func (l *loader) warnVariables() {
	known := otherVariables()
	for _, k := range fixedKeys(settingsValue(&l.settings)) {
		known = append(known, EnvName(k.key))
	}
	names := slices.Collect(maps.Keys(l.variables))
	if l.Names != nil {
		names = append(names, l.Names()...)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if !strings.HasPrefix(name, "SMA_") || slices.Contains(known, name) {
			continue
		}
		message := fmt.Sprintf("no setting has the variable %s", shorten(name))
		if near := Nearest(name, known); near != "" {
			message += fmt.Sprintf("; did you mean %s?", near)
		} else {
			message += "; sma config show lists the settings, and llm.model is SMA_LLM_MODEL"
		}
		l.report(Warn, Origin{Source: FromEnv, Name: name}, "", message)
	}
}
