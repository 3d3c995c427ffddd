package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// shortToken is the length below which a token can be guessed.
const shortToken = 16

// check reports the faults of [Settings.Validate] where they stand, and what is
// allowed but unwise.
func (l *loader) check() {
	for _, fault := range l.settings.faults() {
		if !l.hasError(fault.Key) {
			l.report(Error, l.place(fault.Key), fault.Key, fault.Error())
		}
	}
	l.checkDenied()
	l.warnLiterals()
	llm := l.settings.LLM
	l.warnNoKey("llm", llm.Provider, llm.BaseURL, !llm.APIKey.IsZero() || len(llm.Headers) > 0 || len(llm.Query) > 0)
	for i, f := range llm.Fallbacks {
		l.warnNoKey(fmt.Sprintf("llm.fallbacks[%d]", i), f.Provider, f.BaseURL, !f.APIKey.IsZero() || len(f.Headers) > 0 || len(f.Query) > 0)
	}
	l.warnOpenness()
	l.warnSkillPaths()
	l.warnVariables()
	l.reportIdle()
}

// reportIdle reports keys that are accepted and that nothing reads yet. Who sets a
// limit must not believe that it holds.
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

// place is where to look for a key, at least the file it would stand in.
func (l *loader) place(key string) Origin {
	o := l.origins.place(key)
	if o.Source == FromDefault && l.hasFile {
		return Origin{Source: FromFile, Name: FileName}
	}
	return o
}

// hasError reports whether a key, or the block it is in, is known to be wrong.
func (l *loader) hasError(key string) bool {
	return slices.ContainsFunc(l.findings, func(f Finding) bool {
		return f.Severity == Error && f.Key != "" && (f.Key == key || strings.HasPrefix(key, f.Key+"."))
	})
}

// noteSecret remembers a secret that ship.json spells out, and looks at the
// files that secrets come from.
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
	return "LLM_" + strings.ToUpper(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name))
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

// warnNoKey warns of a service elsewhere that is asked without a key. Some want none.
func (l *loader) warnNoKey(at, provider, address string, given bool) {
	if provider != ProviderCustom || given || address == "" || isLoopback(address) || l.hasError(at+".apiKey") || l.hasError(at+".baseUrl") {
		return
	}
	l.report(Warn, l.place(at+".baseUrl"), at+".apiKey", at+".apiKey is not set; if this service wants a key, "+keyHint(at, provider))
}

func (l *loader) warn(key, message string) { l.report(Warn, l.place(key), key, key+" "+message) }

func (l *loader) warnOpenness() {
	a := l.settings.Adapters
	// A Bot API on this machine is taken for a test server: nobody else talks to that bot.
	if a.Telegram.Enabled && a.Telegram.Access == AccessOpen && !isLoopbackURL(a.Telegram.BaseURL) {
		l.warn("adapters.telegram.access", `is "open": anybody on Telegram can talk to the bot and spend your tokens`)
	}
	hook := a.Telegram.Webhook
	if a.Telegram.Enabled && hook.URL != "" && isAddress(hook.Listen) && !IsLoopback(hook.Listen) {
		l.warn("adapters.telegram.webhook.listen", "is reachable from other machines and speaks plain HTTP; let a proxy that speaks TLS reach it on 127.0.0.1")
	}
	if t := hook.Secret; a.Telegram.Enabled && !t.IsZero() && len(t.Reveal()) < shortToken {
		l.warn("adapters.telegram.webhook.secret", fmt.Sprintf("has fewer than %d characters and can be guessed", shortToken))
	}
	if a.Feishu.Enabled && a.Feishu.Access == AccessOpen {
		l.warn("adapters.feishu.access", `is "open": everybody who finds the app can talk to it and spend your tokens`)
	}
	if hook := a.Feishu.Webhook; a.Feishu.Enabled && a.Feishu.Receive == "webhook" && isAddress(hook.Listen) && !IsLoopback(hook.Listen) {
		l.warn("adapters.feishu.webhook.listen", "is reachable from other machines and speaks plain HTTP; let a proxy that speaks TLS reach it on 127.0.0.1")
	}
	if l.settings.Permissions.Exec.Sandbox == Off {
		l.warn("permissions.exec.sandbox", `is "off": approved commands can do whatever this user can`)
	}
	l.warnRules("allow", l.settings.Permissions.Exec.Allow)
	if t := a.Web.Token; a.Web.Enabled && !t.IsZero() && len(t.Reveal()) < shortToken {
		l.warn("adapters.web.token", fmt.Sprintf("has fewer than %d characters and can be guessed", shortToken))
	}
	if t := a.API.Token; a.API.Enabled && !t.IsZero() && len(t.Reveal()) < shortToken {
		l.warn("adapters.api.token", fmt.Sprintf("has fewer than %d characters and can be guessed", shortToken))
	}
}

// checkDenied reports prohibitions that forbid nothing: whoever writes one relies on it.
func (l *loader) checkDenied() {
	for i, rule := range l.settings.Permissions.Exec.Deny {
		key := fmt.Sprintf("permissions.exec.deny[%d]", i)
		if l.DenyFault == nil || l.hasError(key) {
			continue
		}
		if err := l.DenyFault(rule); err != nil {
			l.report(Error, l.place(key), key, key+" can never match: "+err.Error())
		}
	}
}

// warnRules reports rules for commands that cover nothing.
func (l *loader) warnRules(name string, rules []string) {
	for i, rule := range rules {
		key := fmt.Sprintf("permissions.exec.%s[%d]", name, i)
		if l.VoidRule != nil && !l.hasError(key) && l.VoidRule(rule) {
			l.warn(key, "covers nothing: a rule is one plain command, such as \"git status\" or \"ls *\"; "+
				"* at its end stands for further operands and cannot follow a program that runs others, such as bash")
		}
	}
}

func (l *loader) warnSkillPaths() {
	if l.settings.Skills.AllowExternalPaths {
		return
	}
	for i, path := range l.settings.Skills.Paths {
		full := path
		if !filepath.IsAbs(full) {
			full = filepath.Join(l.Dir, full)
		}
		rel, err := filepath.Rel(l.Dir, full)
		if err != nil || !filepath.IsLocal(rel) {
			l.warn(fmt.Sprintf("skills.paths[%d]", i), "leads out of the project and is skipped; move the skills, or set skills.allowExternalPaths to true")
		}
	}
}
