package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// shortToken is the length below which a token is considered easy to guess.
const shortToken = 16

// check reports faulty settings at the places where they are set, and warns about settings that are allowed but
// unwise.
func (l *loader) check() {
	for _, f := range l.settings.faults() {
		if !l.hasError(f.key) {
			l.report(Error, l.place(f.key), f.key, f.key+" "+f.message)
		}
	}
	l.checkCommands()
	l.warnLiterals()
	llm := l.settings.LLM
	l.warnNoKey("llm", Fallback{Provider: llm.Provider, BaseURL: llm.BaseURL, APIKey: llm.APIKey, Headers: llm.Headers, Query: llm.Query})
	for i, f := range llm.Fallbacks {
		l.warnNoKey(fmt.Sprintf("llm.fallbacks[%d]", i), f)
	}
	l.warnOpenness()
	l.warnSkillPaths()
	l.warnVariables()
	l.reportIdle()
}

// reportIdle reports keys that are accepted but have no effect yet, so that nobody relies on a limit that is not
// enforced.
func (l *loader) reportIdle() {
	for _, key := range slices.Sorted(maps.Keys(l.origins)) {
		name := key[strings.LastIndexByte(key, '.')+1:]
		model := strings.HasPrefix(key, "llm.models.")
		limit, ok := keyAt(settingsValue(&l.settings), key)
		switch {
		case strings.HasPrefix(key, "budget.") && ok && !limit.value.IsZero():
			l.warn(key, "has no effect yet: nothing stops at it; set a limit where the model is paid for")
		case model && (strings.HasPrefix(name, "usdPerM") || name == "encoding"):
			l.warn(key, "has no effect yet; leave it out")
		}
	}
}

// place is where to look for a key: at least the file in which it would be set.
func (l *loader) place(key string) Origin {
	o := l.origins.place(key)
	if o.Source == FromDefault && l.hasFile {
		return Origin{Source: FromFile, Name: FileName}
	}
	return o
}

// hasError reports whether an error in a key, or in the block that contains it, was already reported.
func (l *loader) hasError(key string) bool {
	return slices.ContainsFunc(l.findings, func(f Finding) bool {
		return f.Severity == Error && f.Key != "" && (f.Key == key || strings.HasPrefix(key, f.Key+"."))
	})
}

// noteSecret records a secret that ship.json contains literally, and checks the permissions of the files that secrets
// come from.
func (l *loader) noteSecret(k keyValue, o Origin, x expansion) {
	if named := k.key[strings.LastIndexByte(k.key, '.')+1:]; x.literal && k.variable == "" && secretWords().MatchString(named) {
		k.variable = variableOf(named)
	}
	if x.literal && k.variable != "" {
		l.literals = append(l.literals, literalSecret{key: k.key, variable: k.variable, origin: o})
	}
	for _, path := range x.files {
		if info, err := os.Stat(path); err == nil && openToOthers(info) {
			l.report(Warn, o, k.key, k.key+" is read from a file that others can read; run chmod 600 on it")
		}
	}
}

// variableOf proposes a variable for the value of a header or query parameter.
func variableOf(name string) string {
	return "LLM_" + strings.ToUpper(regexp.MustCompile("[^a-zA-Z0-9]").ReplaceAllString(name, "_"))
}

func (l *loader) warnLiterals() {
	for _, s := range l.literals {
		l.report(Warn, s.origin, s.key, fmt.Sprintf("%s is spelled out here; write \"${%s}\" and set %s in the environment or in %s", s.key, s.variable, s.variable, envFileName))
	}
	if len(l.literals) == 0 {
		return
	}
	if info, err := os.Stat(filepath.Join(l.Dir, FileName)); err == nil && openToOthers(info) {
		l.report(Warn, Origin{Source: FromFile, Name: FileName}, "",
			fmt.Sprintf("the file holds secrets and its mode is %#o, so others may read them; run: chmod 600 %s", info.Mode().Perm(), FileName))
	}
}

// warnNoKey warns about a remote service that is called without a key. Some need none.
func (l *loader) warnNoKey(at string, f Fallback) {
	given := !f.APIKey.IsZero() || len(f.Headers) > 0 || len(f.Query) > 0
	if f.Provider != ProviderCustom || given || f.BaseURL == "" || isLoopback(f.BaseURL) || l.hasError(at+".apiKey") || l.hasError(at+".baseUrl") {
		return
	}
	l.report(Warn, l.place(at+".baseUrl"), at+".apiKey", at+".apiKey is not set; if this service wants a key, "+keyHint(at, f.Provider))
}

func (l *loader) warn(key, message string) { l.report(Warn, l.place(key), key, key+" "+message) }

// checkCommands reports deny rules that can never match, because people rely on them, and warns about allow rules
// that cover nothing.
func (l *loader) checkCommands() {
	exec := l.settings.Permissions.Exec
	for i, rule := range exec.Deny {
		key := fmt.Sprintf("permissions.exec.deny[%d]", i)
		if l.DenyFault == nil || l.hasError(key) {
			continue
		}
		if err := l.DenyFault(rule); err != nil {
			l.report(Error, l.place(key), key, key+" can never match: "+err.Error())
		}
	}
	for i, rule := range exec.Allow {
		key := fmt.Sprintf("permissions.exec.allow[%d]", i)
		if l.VoidRule != nil && !l.hasError(key) && l.VoidRule(rule) {
			l.warn(key, `covers nothing: a rule is one plain command, such as "git status" or "ls *"; `+
				"* at its end stands for further operands and cannot follow a program that runs others, such as bash")
		}
	}
}

func (l *loader) warnSkillPaths() {
	for i, path := range l.settings.Skills.Paths {
		rel, err := filepath.Rel(l.Dir, l.absolute(path))
		if !l.settings.Skills.AllowExternalPaths && (err != nil || !filepath.IsLocal(rel)) {
			l.warn(fmt.Sprintf("skills.paths[%d]", i), "leads out of the project and is skipped; move the skills, or set skills.allowExternalPaths to true")
		}
	}
}

// absolute resolves a path relative to the project's folder.
func (l *loader) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(l.Dir, path)
}
