package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/config/internal/keys"
)

// This file holds what follows from the settings of platforms, and what must fit together in them.

type platform struct {
	name    string
	enabled *bool
	egress  *string
	// credentials enable the platform when all of them are set.
	credentials []credential
	// address is the base URL of the service and hosts are its own hosts, which alone get variable, the well-known
	// variable of the first credential, by themselves.
	address, variable string
	hosts             []string
	// demo says that the demo model may serve the platform, because only the operator can reach it.
	demo bool
}

type credential struct {
	name string
	set  bool
}

func (a *Adapters) platforms() []platform {
	return []platform{
		{
			name: "telegram", enabled: &a.Telegram.Enabled, egress: &a.Telegram.Egress, credentials: []credential{{"botToken", !a.Telegram.BotToken.IsZero()}},
			address: a.Telegram.BaseURL, variable: "TELEGRAM_BOT_TOKEN", hosts: []string{"api.telegram.org"},
		},
		{
			name: "feishu", enabled: &a.Feishu.Enabled, egress: &a.Feishu.Egress, credentials: []credential{{"appSecret", !a.Feishu.AppSecret.IsZero()}, {"appId", a.Feishu.AppID != ""}},
			hosts: []string{"open.feishu.cn", "open.larksuite.com"},
		},
		{name: "api", enabled: &a.API.Enabled, egress: &a.API.Egress, credentials: []credential{{"token", !a.API.Token.IsZero()}}},
		{name: "web", enabled: &a.Web.Enabled, egress: &a.Web.Egress, demo: true},
		{name: "cli", enabled: &a.CLI.Enabled, egress: &a.CLI.Egress, demo: true},
	}
}

func (p platform) key(name string) string { return keys.Join("adapters."+p.name, name) }

// validatePlatforms checks that the platforms have what they need, and that the demo model serves only those that the
// operator alone can reach.
func (l *loader) validatePlatforms() {
	a := &l.settings.Adapters
	telegram, feishu, web := a.Telegram, a.Feishu, a.Web
	const noToken = "is not a token of BotFather, which looks like 123456:letters-and-digits"
	isToken := func(token Secret) bool { return !strings.ContainsAny(token.Reveal(), "/?#%") }
	tokens := map[string]bool{telegram.BotToken.Reveal(): true}
	l.FaultIf(len(telegram.Accounts) > 0 && telegram.BotToken.IsZero(), "adapters.telegram.accounts", "are further bots, but adapters.telegram.botToken, the first, is not set")
	for _, name := range slices.Sorted(maps.Keys(telegram.Accounts)) {
		key, token := "adapters.telegram.accounts."+name+".botToken", telegram.Accounts[name].BotToken
		l.FaultIf(token.IsZero(), key, "is not set; BotFather gives every bot a token")
		l.FaultIf(!isToken(token), key, noToken)
		l.FaultIf(tokens[token.Reveal()], key, "is the token of another bot here; every bot needs its own")
		tokens[token.Reveal()] = true
	}
	l.FaultIf(telegram.Enabled && telegram.BotToken.IsZero(), "adapters.telegram.botToken", "is not set, but the adapter is on; set TELEGRAM_BOT_TOKEN to the token from BotFather")
	l.FaultIf(telegram.Enabled && !isToken(telegram.BotToken), "adapters.telegram.botToken", noToken)
	l.FaultIf(feishu.Enabled && feishu.AppID == "", "adapters.feishu.appId", "is not set, but the adapter is on")
	l.FaultIf(feishu.Enabled && feishu.AppSecret.IsZero(), "adapters.feishu.appSecret", `is not set, but the adapter is on; write "${FEISHU_APP_SECRET}" and set that variable`)
	l.FaultIf(feishu.Enabled && feishu.Receive == "webhook" && feishu.EncryptKey.IsZero(), "adapters.feishu.encryptKey", `is not set, but receive is "webhook", whose events are checked with it`)
	l.FaultIf(a.API.Enabled && a.API.Token.IsZero(), "adapters.api.token", `is not set, but the API is on; write "${API_TOKEN}" and set that variable, or switch the API off`)
	const shared = " too; who may only look needs a token of their own"
	isViewers := func(token Secret) bool { // settings as config show prints them can be loaded again, with stars for every secret
		return !token.IsZero() && token.Reveal() == web.ViewerToken.Reveal() && token.Reveal() != token.String()
	}
	l.FaultIf(isViewers(web.Token), "adapters.web.viewerToken", "is adapters.web.token"+shared)
	l.FaultIf(isViewers(a.API.Token), "adapters.web.viewerToken", "is adapters.api.token"+shared)
	isDemo := l.settings.LLM.Provider == ProviderDemo
	for _, p := range a.platforms() {
		l.FaultIf(isDemo && !p.demo && *p.enabled, p.key("enabled"), "cannot be on with the demo model, which serves only the terminal and the loopback web chat; set OPENAI_API_KEY, or llm.baseUrl and llm.model")
	}
	l.FaultIf(isDemo && web.Enabled && isPublic(web.Listen), "adapters.web.listen", "must be loopback with the demo model; set OPENAI_API_KEY, or listen on 127.0.0.1")
	l.FaultIf(web.Enabled && web.Token.IsZero() && isPublic(web.Listen), "adapters.web.listen",
		`is reachable from other machines, so a token is needed: set adapters.web.token to "${WEB_TOKEN}" and that variable to a long random text, or listen on 127.0.0.1`)
}

// validateListeners checks that each listener has its own port, and that profiles stay on this machine.
func (l *loader) validateListeners() {
	a := &l.settings.Adapters
	all := []struct {
		key, address string
		checked, on  bool
	}{
		{"adapters.web.listen", a.Web.Listen, false, a.Web.Enabled},
		{"metrics.listen", l.settings.Metrics.Listen, true, true}, // "off" is not an address.
		{"adapters.telegram.webhook.listen", a.Telegram.Webhook.Listen, a.Telegram.Webhook.URL != "", a.Telegram.Enabled && a.Telegram.Webhook.URL != ""},
		{"adapters.feishu.webhook.listen", a.Feishu.Webhook.Listen, a.Feishu.Enabled && a.Feishu.Receive == "webhook", true},
	}
	for i, listener := range all {
		for _, before := range all[:i] {
			l.FaultIf(listener.checked && before.on && sameAddress(listener.address, before.address), listener.key, "takes the port of "+before.key+"; each needs its own")
		}
	}
	m := l.settings.Metrics
	l.FaultIf(m.Pprof && isPublic(m.Listen), "metrics.pprof", "would show other machines what this process works on; set metrics.listen to 127.0.0.1:9464, or leave it out")
}

// warnOpenness warns about settings that let strangers in.
func (l *loader) warnOpenness() {
	a := l.settings.Adapters
	telegram, feishu := a.Telegram, a.Feishu
	short := func(token Secret) bool { return !token.IsZero() && len(token.Reveal()) < shortToken }
	const plain = "is reachable from other machines and speaks plain HTTP; let a proxy that speaks TLS reach it on 127.0.0.1"
	guessed := fmt.Sprintf("has fewer than %d characters and can be guessed", shortToken)
	for _, w := range []struct {
		unwise       bool
		key, message string
	}{
		// A Bot API on this machine is assumed to be a test server, whose bot no strangers use.
		{telegram.Enabled && telegram.Access == AccessOpen && !isLoopback(telegram.BaseURL), "adapters.telegram.access", `is "open": anybody on Telegram can talk to the bot and spend your tokens`},
		{telegram.Enabled && telegram.Webhook.URL != "" && isPublic(telegram.Webhook.Listen), "adapters.telegram.webhook.listen", plain},
		{telegram.Enabled && short(telegram.Webhook.Secret), "adapters.telegram.webhook.secret", guessed},
		{feishu.Enabled && feishu.Access == AccessOpen, "adapters.feishu.access", `is "open": everybody who finds the app can talk to it and spend your tokens`},
		{feishu.Enabled && feishu.Receive == "webhook" && isPublic(feishu.Webhook.Listen), "adapters.feishu.webhook.listen", plain},
		{l.settings.Permissions.Exec.Sandbox == Off, "permissions.exec.sandbox", `is "off": approved commands can do whatever this user can`},
		{a.Web.Enabled && short(a.Web.Token), "adapters.web.token", guessed},
		{a.Web.Enabled && short(a.Web.ViewerToken), "adapters.web.viewerToken", guessed},
		{a.API.Enabled && short(a.API.Token), "adapters.api.token", guessed},
	} {
		if w.unwise {
			l.Warn(w.key, w.message)
		}
	}
}
