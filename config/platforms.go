package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// This file holds what follows from the settings of platforms, and what must fit together in them.

// platform is a row of the table of platforms.
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

// platforms is the table of platforms.
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

// key is the key of one of the platform's settings.
func (p platform) key(name string) string { return joinKey("adapters."+p.name, name) }

// resolveAdapters enables the platforms whose credentials are set.
func (l *loader) resolveAdapters() {
	a := &l.settings.Adapters
	for _, p := range a.platforms() {
		if p.variable != "" {
			l.wellKnownSecret(p.key(p.credentials[0].name), p.variable, p.key("baseUrl"), p.address)
		}
	}
	for _, p := range a.platforms() { // again, with the credentials that were just read
		if len(p.credentials) > 0 {
			l.switchOn("adapters."+p.name, p.enabled, p.credentials...)
		}
	}
}

// switchOn enables an adapter that has all its credentials, unless the settings enable or disable it explicitly. It
// warns if only some of them are set.
func (l *loader) switchOn(block string, enabled *bool, credentials ...credential) {
	if !l.origins.untouched(block + ".enabled") {
		return
	}
	var touched, absent []string
	for _, c := range credentials {
		key := block + "." + c.name
		if !l.origins.untouched(key) {
			touched = append(touched, key)
		}
		if !c.set {
			absent = append(absent, key)
		}
	}
	switch {
	case len(absent) == 0:
		*enabled = true
		l.follow(block+".enabled", block+"."+credentials[0].name)
	case len(touched) > 0:
		l.report(Warn, l.origins.place(touched[0]), block+".enabled",
			fmt.Sprintf("%s stays off: %s is not set%s", block, absent[0], l.whatIsMissing(absent[0])))
	}
}

// resolveEgress applies context.chatEgress.mode to the platforms without their own setting.
func (l *loader) resolveEgress() {
	const from = "context.chatEgress.mode"
	mode := l.settings.Context.ChatEgress.Mode
	if mode != EgressTool && mode != EgressDirect {
		return
	}
	for _, p := range l.settings.Adapters.platforms() {
		if l.origins.untouched(p.key("egress")) {
			*p.egress = mode
			l.follow(p.key("egress"), from)
		}
	}
}

// inUse reports whether a key matters. Keys of a disabled adapter do not, nor does access to a model while the demo
// model is chosen.
func (l *loader) inUse(key string) bool {
	a := &l.settings.Adapters
	blocks := map[string]bool{
		"llm.": l.settings.LLM.Provider != ProviderDemo, "speech.transcribe.": l.settings.Speech.Transcribe.On(), "speech.speak.": l.settings.Speech.Speak.On(),
	}
	for _, p := range a.platforms() {
		blocks["adapters."+p.name+"."] = *p.enabled
	}
	blocks["adapters.web."] = a.Web.Enabled || a.API.Enabled // the API listens where the pages do
	for block, on := range blocks {
		if strings.HasPrefix(key, block) {
			return on
		}
	}
	return true
}

// credentials checks that enabled adapters have what they need.
func (c *checker) credentials(s *Settings) {
	telegram, feishu, api := s.Adapters.Telegram, s.Adapters.Feishu, s.Adapters.API
	c.unset(telegram.Enabled && telegram.BotToken.IsZero(), "adapters.telegram.botToken", ", but the adapter is on; set TELEGRAM_BOT_TOKEN to the token from BotFather")
	if telegram.Enabled {
		c.check("adapters.telegram.botToken", botToken(telegram.BotToken))
	}
	c.unset(feishu.Enabled && feishu.AppID == "", "adapters.feishu.appId", ", but the adapter is on")
	c.unset(feishu.Enabled && feishu.AppSecret.IsZero(), "adapters.feishu.appSecret", `, but the adapter is on; write "${FEISHU_APP_SECRET}" and set that variable`)
	c.unset(feishu.Enabled && feishu.Receive == "webhook" && feishu.EncryptKey.IsZero(), "adapters.feishu.encryptKey", `, but receive is "webhook", whose events are checked with it`)
	c.unset(api.Enabled && api.Token.IsZero(), "adapters.api.token", `, but the API is on; write "${API_TOKEN}" and set that variable, or switch the API off`)
}

// botToken says what is wrong with the token of a bot, or returns "".
func botToken(token Secret) string {
	return unless(!strings.ContainsAny(token.Reveal(), "/?#%"), "is not a token of BotFather, which looks like 123456:letters-and-digits")
}

// accounts checks that each further bot has a name for the keys of its chats, and its own token.
func (c *checker) accounts(t Telegram) {
	const block = "adapters.telegram.accounts"
	tokens := map[string]bool{t.BotToken.Reveal(): true}
	if len(t.Accounts) > 0 && t.BotToken.IsZero() {
		c.fault(block, "are further bots, but adapters.telegram.botToken, the first, is not set")
	}
	for _, name := range slices.Sorted(maps.Keys(t.Accounts)) {
		key, token := joinKey(block, name)+".botToken", t.Accounts[name].BotToken
		c.check(joinKey(block, name), unless(c.matches("[a-z0-9_]{1,32}", name), "is not an account name; use 1 to 32 small letters, digits and _"))
		switch {
		case token.IsZero():
			c.fault(key, "is not set; BotFather gives every bot a token")
		case botToken(token) != "":
			c.check(key, botToken(token))
		case tokens[token.Reveal()]:
			c.fault(key, "is the token of another bot here; every bot needs its own")
		}
		tokens[token.Reveal()] = true
	}
}

// demo restricts the demo model to platforms that only the operator can reach.
func (c *checker) demo(a Adapters) {
	for _, p := range a.platforms() {
		if !p.demo && *p.enabled {
			c.fault(p.key("enabled"), "cannot be on with the demo model, which serves only the terminal and the loopback web chat; set OPENAI_API_KEY, or llm.baseUrl and llm.model")
		}
	}
	if a.Web.Enabled && isAddress(a.Web.Listen) && !IsLoopback(a.Web.Listen) {
		c.fault("adapters.web.listen", "must be loopback with the demo model; set OPENAI_API_KEY, or listen on 127.0.0.1")
	}
}

// listeners checks that each listener has its own port, and that the web chat is not open to everyone.
func (c *checker) listeners(s *Settings) {
	web, telegram, feishu := s.Adapters.Web, s.Adapters.Telegram, s.Adapters.Feishu
	if web.Enabled && web.Token.IsZero() && isAddress(web.Listen) && !IsLoopback(web.Listen) {
		c.fault("adapters.web.listen", `is reachable from other machines, so a token is needed: set adapters.web.token to "${WEB_TOKEN}" and that variable to a long random text, or listen on 127.0.0.1`)
	}
	all := []struct {
		key, address string
		checked, on  bool
	}{
		{"adapters.web.listen", web.Listen, false, web.Enabled},
		{"metrics.listen", s.Metrics.Listen, true, true}, // "off" is not an address.
		{"adapters.telegram.webhook.listen", telegram.Webhook.Listen, telegram.Webhook.URL != "", telegram.Enabled && telegram.Webhook.URL != ""},
		{"adapters.feishu.webhook.listen", feishu.Webhook.Listen, feishu.Enabled && feishu.Receive == "webhook", true},
	}
	for i, l := range all {
		for _, before := range all[:i] {
			if l.checked && before.on && sameAddress(l.address, before.address) {
				c.fault(l.key, "takes the port of %s; each needs its own", before.key)
				break
			}
		}
	}
}

// warnOpenness warns about settings that let strangers in.
func (l *loader) warnOpenness() {
	a := l.settings.Adapters
	telegram, feishu := a.Telegram, a.Feishu
	public := func(listen string) bool { return isAddress(listen) && !IsLoopback(listen) }
	short := func(token Secret) bool { return !token.IsZero() && len(token.Reveal()) < shortToken }
	const plain = "is reachable from other machines and speaks plain HTTP; let a proxy that speaks TLS reach it on 127.0.0.1"
	guessed := fmt.Sprintf("has fewer than %d characters and can be guessed", shortToken)
	for _, w := range []struct {
		unwise       bool
		key, message string
	}{
		// A Bot API on this machine is assumed to be a test server, whose bot no strangers use.
		{telegram.Enabled && telegram.Access == AccessOpen && !isLoopbackURL(telegram.BaseURL), "adapters.telegram.access", `is "open": anybody on Telegram can talk to the bot and spend your tokens`},
		{telegram.Enabled && telegram.Webhook.URL != "" && public(telegram.Webhook.Listen), "adapters.telegram.webhook.listen", plain},
		{telegram.Enabled && short(telegram.Webhook.Secret), "adapters.telegram.webhook.secret", guessed},
		{feishu.Enabled && feishu.Access == AccessOpen, "adapters.feishu.access", `is "open": everybody who finds the app can talk to it and spend your tokens`},
		{feishu.Enabled && feishu.Receive == "webhook" && public(feishu.Webhook.Listen), "adapters.feishu.webhook.listen", plain},
		{l.settings.Permissions.Exec.Sandbox == Off, "permissions.exec.sandbox", `is "off": approved commands can do whatever this user can`},
		{a.Web.Enabled && short(a.Web.Token), "adapters.web.token", guessed},
		{a.API.Enabled && short(a.API.Token), "adapters.api.token", guessed},
	} {
		if w.unwise {
			l.warn(w.key, w.message)
		}
	}
}

// platformHosts are the hosts of the platform whose address a key sets. A proxy or another address of the operator has
// none.
func platformHosts(key string) []string {
	for _, p := range (&Adapters{}).platforms() {
		if key == p.key("baseUrl") {
			return p.hosts
		}
	}
	return nil
}
