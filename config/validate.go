package config

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Fault is one wrong value.
type Fault struct {
	Key     string // for example llm.fallbacks[0].model
	Message string // reads on after the key: "wants …"
}

// Error is the key and what is wrong with it, never the value.
func (f *Fault) Error() string { return f.Key + " " + f.Message }

// Validate checks values and how they fit together. It joins one [*Fault] for
// every fault, and touches neither files nor the network but for the zone data.
func (s *Settings) Validate() error {
	faults := s.faults()
	errs := make([]error, 0, len(faults))
	for _, f := range faults {
		errs = append(errs, f)
	}
	return errors.Join(errs...)
}

// faults collects what Validate joins.
func (s *Settings) faults() []*Fault {
	c := &checker{}
	c.values(s)
	c.llm(s)
	c.groups(s.Adapters.Feishu.Groups)
	c.accounts(s.Adapters.Telegram)
	c.adapters(s)
	c.listeners(s)
	c.budget(s)
	c.exec(s.Permissions.Exec)
	c.fetch(s.Permissions.Fetch)
	c.speech(s)
	for i, path := range s.Skills.Paths {
		if strings.TrimSpace(path) == "" || hasControl(path) {
			c.fault(fmt.Sprintf("skills.paths[%d]", i), "wants the path of a folder")
		}
	}
	if _, err := time.LoadLocation(s.Timezone); err != nil {
		c.fault("timezone", `wants the name of a time zone, such as "Europe/Berlin", "Asia/Shanghai" or "UTC"`)
	}
	return c.faults
}

// checker collects faults.
type checker struct{ faults []*Fault }

func (c *checker) fault(key, format string, args ...any) {
	c.faults = append(c.faults, &Fault{Key: key, Message: fmt.Sprintf(format, args...)})
}

// values checks what the struct tags say, and that secrets can be sent.
func (c *checker) values(s *Settings) {
	for _, k := range allKeys(settingsValue(s)) {
		v := k.value
		if v.Kind() == reflect.Pointer && !v.IsNil() {
			v = v.Elem()
		}
		switch {
		case v.Kind() == reflect.String:
			c.word(k, v.String())
		case v.CanInt():
			c.between(k, float64(v.Int()))
		case v.CanFloat():
			c.between(k, v.Float())
		}
		if secret, ok := reflect.TypeAssert[Secret](v); ok && !isExtra(k.key) && strings.ContainsFunc(secret.Reveal(), notInToken) {
			c.fault(k.key, "has blanks or characters that no key or token has; check what was pasted")
		}
	}
}

// headerName matches the names that headers can have.
func headerName() *regexp.Regexp { return regexp.MustCompile("^[a-zA-Z0-9!#$%&'*+.^_`|~-]+$") }

func notInToken(r rune) bool { return r <= ' ' || r >= 0x7f }

func hasControl(s string) bool { return strings.ContainsFunc(s, unicode.IsControl) }

func (c *checker) word(k keyValue, word string) {
	if len(k.enum) == 0 && k.key != "description" && hasControl(word) {
		c.fault(k.key, "has a line break or another control character")
	}
	if len(k.enum) == 0 || slices.Contains(k.enum, word) || (word == "" && k.optional) {
		return
	}
	hint := ""
	if near := nearest(word, k.enum); near != "" && word != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	c.fault(k.key, "wants %s%s", oneOf(k.enum), hint)
}

func (c *checker) between(k keyValue, v float64) {
	tooLow := k.min != nil && v < *k.min
	tooHigh := k.max != nil && v > *k.max
	if tooLow || tooHigh {
		c.fault(k.key, "wants a number from %s to %s", plain(*k.min), plain(*k.max))
	}
}

func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// accounts checks that each further bot has a name for chat keys and a token of its own.
func (c *checker) accounts(t Telegram) {
	const block = "adapters.telegram.accounts"
	pattern := regexp.MustCompile(`^[a-z0-9_]{1,32}$`)
	tokens := map[string]bool{t.BotToken.Reveal(): true}
	if len(t.Accounts) > 0 && t.BotToken.IsZero() {
		c.fault(block, "are further bots, but adapters.telegram.botToken, the first, is not set")
	}
	for _, name := range slices.Sorted(maps.Keys(t.Accounts)) {
		at, token := joinKey(block, name), t.Accounts[name].BotToken
		if !pattern.MatchString(name) {
			c.fault(at, "is no name of an account; use 1 to 32 small letters, digits and _")
		}
		switch {
		case token.IsZero():
			c.fault(at+".botToken", "is not set; BotFather gives every bot a token")
		case strings.ContainsAny(token.Reveal(), "/?#%"):
			c.fault(at+".botToken", "is no token of BotFather, which looks like 123456:letters-and-digits")
		case tokens[token.Reveal()]:
			c.fault(at+".botToken", "is the token of another bot here; every bot needs its own")
		}
		tokens[token.Reveal()] = true
	}
}

func (c *checker) llm(s *Settings) {
	llm := s.LLM
	c.api("llm", llm.Provider, llm.BaseURL, llm.Model, llm.APIKey)
	c.extras("llm", llm.APIVersion, llm.Headers, llm.Query)
	c.tags("llm.reasoningTags", llm.ReasoningTags)
	for _, name := range slices.Sorted(maps.Keys(llm.Models)) {
		c.tags(joinKey("llm.models", name)+".reasoningTags", llm.Models[name].ReasoningTags)
	}
	for i, f := range llm.Fallbacks {
		key := fmt.Sprintf("llm.fallbacks[%d]", i)
		c.api(key, f.Provider, f.BaseURL, f.Model, f.APIKey)
		c.extras(key, f.APIVersion, f.Headers, f.Query)
	}
	if len(llm.Fallbacks) > 0 && llm.Provider == ProviderDemo {
		c.fault("llm.fallbacks", "stand in for a model, but there is only the demo model; set llm.model and its key")
	}
	c.embeddings(s.Context.Memory.EmbeddingModel, llm)
}

// isExtra reports whether a key is a header or query parameter of a model.
func isExtra(key string) bool {
	return strings.HasPrefix(key, "llm.") && (strings.Contains(key, ".headers.") || strings.Contains(key, ".query."))
}

// extras checks what goes along with the requests to a model.
func (c *checker) extras(block, version string, headers, query map[string]Secret) {
	if !regexp.MustCompile(`^[A-Za-z0-9._-]*$`).MatchString(version) {
		c.fault(block+".apiVersion", `wants a version such as "2024-10-21"`)
	}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		switch {
		case !headerName().MatchString(name) || hasControl(headers[name].Reveal()):
			c.fault(block+".headers", "has %q, which is no header that can be sent", shorten(name))
		case slices.Contains([]string{"content-type", "content-length", "host", "accept", "transfer-encoding", "connection", "accept-encoding"}, strings.ToLower(name)):
			c.fault(block+".headers", "has %q, which every request sets by itself; leave it out", shorten(name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if name == "" || hasControl(name) {
			c.fault(block+".query", "has a parameter without a usable name")
		}
	}
}

// tags checks the names of tags.
func (c *checker) tags(key string, tags Tags) {
	for _, name := range tags {
		if !regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_:-]{0,63}$`).MatchString(name) {
			c.fault(key, `wants names of tags without brackets, such as "think"`)
			return
		}
	}
}

// embeddings checks that the API of the model can have an embedding model.
func (c *checker) embeddings(name string, llm LLM) {
	const key = "context.memory.embeddingModel"
	known := providerOf(llm.Provider)
	switch own := llm.BaseURL == "" || llm.BaseURL == known.baseURL; {
	case name == "":
	case strings.ContainsFunc(name, unicode.IsSpace):
		c.fault(key, "has blanks, which no name of a model has")
	case llm.Provider == ProviderDemo:
		c.fault(key, "needs a model's API, but there is only the demo model; set llm.model and its key, or leave it out")
	case own && known.noEmbeddings:
		c.fault(key, "is asked for at llm's address, and %s has no embeddings; leave it out", llm.Provider)
	}
}

// api checks that a model can be called.
func (c *checker) api(block, name, baseURL, model string, key Secret) {
	if name == ProviderDemo {
		return
	}
	known := providerOf(name)
	if known.name == "" && name != ProviderCustom { // the word of the provider is a fault of its own
		if baseURL != "" {
			c.baseURL(block+".baseUrl", baseURL)
		}
		return
	}
	if model == "" {
		c.fault(block+".model", "is not set; write the name of the model as its provider spells it")
	}
	switch {
	case baseURL == "" && known.baseURL == "":
		c.fault(block+".baseUrl", `is not set; provider "custom" needs it, such as "http://127.0.0.1:11434/v1"`)
	case baseURL != "":
		c.baseURL(block+".baseUrl", baseURL)
	}
	if known.needsKeyAt(baseURL) && key.IsZero() {
		c.fault(block+".apiKey", "is not set; %s", keyHint(block, name))
	}
}

// keyHint says how a model's key is given.
func keyHint(block, provider string) string {
	switch {
	case block == "llm" && providerOf(provider).variable() != "":
		return "set " + providerOf(provider).variable() + " in the environment or in " + envFileName
	case block == "llm":
		return "set " + EnvName("llm.apiKey") + " in the environment or in " + envFileName
	}
	return `write "${NAME}" and set that variable in the environment or in ` + envFileName
}

func (c *checker) baseURL(key, text string) {
	u, err := url.Parse(text)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.Opaque != "":
		c.fault(key, `wants an address such as "https://api.example.com/v1"`)
	case u.User != nil:
		c.fault(key, "must not hold a name or password; keys have keys of their own")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		c.fault(key, "must not hold ? or #")
	case u.Port() != "" && !isPort(u.Port()):
		c.fault(key, "wants a port from 1 to 65535")
	}
}

func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}

// groups checks how the groups of Feishu are named.
func (c *checker) groups(groups map[string]Group) {
	pattern := regexp.MustCompile(`^oc_[A-Za-z0-9]{1,64}$`)
	for _, id := range slices.Sorted(maps.Keys(groups)) {
		if id != "*" && !pattern.MatchString(id) {
			c.fault(joinKey("adapters.feishu.groups", id), "is not named by the id of a group, such as oc_a0553eda9014c201e6969b478895c230, or *")
		}
	}
}

func (c *checker) adapters(s *Settings) {
	a := s.Adapters
	c.baseURL("adapters.telegram.baseUrl", a.Telegram.BaseURL)
	c.baseURL("adapters.feishu.baseUrl", a.Feishu.BaseURL)
	if a.Telegram.Enabled && a.Telegram.BotToken.IsZero() {
		c.fault("adapters.telegram.botToken", "is not set, but the adapter is on; set TELEGRAM_BOT_TOKEN to the token from BotFather")
	}
	if a.Telegram.Enabled && strings.ContainsAny(a.Telegram.BotToken.Reveal(), "/?#%") {
		c.fault("adapters.telegram.botToken", "is no token of BotFather, which looks like 123456:letters-and-digits")
	}
	c.hook(s)
	if a.Feishu.Enabled && a.Feishu.AppID == "" {
		c.fault("adapters.feishu.appId", "is not set, but the adapter is on")
	}
	if a.Feishu.Enabled && a.Feishu.AppSecret.IsZero() {
		c.fault("adapters.feishu.appSecret", "is not set, but the adapter is on; write \"${FEISHU_APP_SECRET}\" and set that variable")
	}
	if a.Feishu.Enabled && a.Feishu.Receive == "webhook" && a.Feishu.EncryptKey.IsZero() {
		c.fault("adapters.feishu.encryptKey", "is not set, but receive is \"webhook\", whose events are checked with it")
	}
	c.feishuHook(s)
	if a.API.Enabled && a.API.Token.IsZero() {
		c.fault("adapters.api.token", "is not set, but the API is on; write \"${API_TOKEN}\" and set that variable, or switch the API off")
	}
	if s.LLM.Provider == ProviderDemo {
		c.demo(a)
	}
}

// hook checks Telegram's webhook, if there is one.
func (c *checker) hook(s *Settings) {
	const block = "adapters.telegram.webhook"
	hook := s.Adapters.Telegram.Webhook
	if !isAddress(hook.Listen) {
		c.fault(block+".listen", `wants host:port, such as "127.0.0.1:8443"`)
	}
	if !regexp.MustCompile(`^[A-Za-z0-9_-]{0,256}$`).MatchString(hook.Secret.Reveal()) {
		c.fault(block+".secret", "wants at most 256 letters, digits, _ and -")
	}
	if proxy := s.Adapters.Telegram.Proxy; proxy != "" {
		u, err := url.Parse(proxy)
		if err != nil || !slices.Contains([]string{"http", "https", "socks5"}, u.Scheme) || u.Hostname() == "" || u.User != nil || strings.Trim(u.Path, "/") != "" {
			c.fault("adapters.telegram.proxy", `wants http://, https:// or socks5:// with host and port, such as "http://127.0.0.1:3128"; a name and a password go into HTTPS_PROXY`)
		}
	}
	if hook.URL == "" {
		return
	}
	if u, err := url.Parse(hook.URL); err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		c.fault(block+".url", `wants the public https address that Telegram calls, such as "https://bot.example.com/telegram"`)
	}
	switch web := s.Adapters.Web; {
	case web.Enabled && sameAddress(hook.Listen, web.Listen):
		c.fault(block+".listen", "takes the port of adapters.web.listen; each needs its own")
	case s.Metrics.Listen != Off && sameAddress(hook.Listen, s.Metrics.Listen):
		c.fault(block+".listen", "takes the port of metrics.listen; each needs its own")
	}
}

// feishuHook checks Feishu's webhook.
func (c *checker) feishuHook(s *Settings) {
	const block = "adapters.feishu.webhook"
	f, hook := s.Adapters.Feishu, s.Adapters.Feishu.Webhook
	if !isAddress(hook.Listen) {
		c.fault(block+".listen", `wants host:port, such as "127.0.0.1:8445"`)
	}
	if !regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`).MatchString(hook.Path) {
		c.fault(block+".path", `wants a path of letters, digits, ., _, ~ and -, such as "/feishu"`)
	}
	if !f.Enabled || f.Receive != "webhook" {
		return
	}
	switch telegram := s.Adapters.Telegram; {
	case s.Adapters.Web.Enabled && sameAddress(hook.Listen, s.Adapters.Web.Listen):
		c.fault(block+".listen", "takes the port of adapters.web.listen; each needs its own")
	case s.Metrics.Listen != Off && sameAddress(hook.Listen, s.Metrics.Listen):
		c.fault(block+".listen", "takes the port of metrics.listen; each needs its own")
	case telegram.Enabled && telegram.Webhook.URL != "" && sameAddress(hook.Listen, telegram.Webhook.Listen):
		c.fault(block+".listen", "takes the port of adapters.telegram.webhook.listen; each needs its own")
	}
}

// demo keeps the demo model to places that only the operator reaches.
func (c *checker) demo(a Adapters) {
	const msg = "cannot be on with the demo model, which serves only the terminal and the loopback web chat; set OPENAI_API_KEY, or llm.baseUrl and llm.model"
	for _, on := range []struct {
		key string
		on  bool
	}{
		{"adapters.telegram.enabled", a.Telegram.Enabled},
		{"adapters.feishu.enabled", a.Feishu.Enabled},
		{"adapters.api.enabled", a.API.Enabled},
	} {
		if on.on {
			c.fault(on.key, msg)
		}
	}
	if a.Web.Enabled && isAddress(a.Web.Listen) && !IsLoopback(a.Web.Listen) {
		c.fault("adapters.web.listen", "must be loopback with the demo model; set OPENAI_API_KEY, or listen on 127.0.0.1")
	}
}

func (c *checker) listeners(s *Settings) {
	web, metrics := s.Adapters.Web, s.Metrics.Listen
	switch {
	case !isAddress(web.Listen):
		c.fault("adapters.web.listen", `wants host:port, such as "127.0.0.1:3000"`)
	case web.Enabled && web.Token.IsZero() && !IsLoopback(web.Listen):
		c.fault("adapters.web.listen", "is reachable from other machines, so a token is needed: set adapters.web.token to \"${WEB_TOKEN}\" and that variable to a long random text, or listen on 127.0.0.1")
	}
	if metrics == Off {
		return
	}
	if !isAddress(metrics) {
		c.fault("metrics.listen", `wants host:port, such as "127.0.0.1:9464", or "off"`)
		return
	}
	if web.Enabled && sameAddress(metrics, web.Listen) {
		c.fault("metrics.listen", "takes the port of adapters.web.listen; each needs its own")
	}
}

// sameAddress reports whether two listeners cannot both have their address.
func sameAddress(a, b string) bool {
	hostA, portA, errA := net.SplitHostPort(a)
	hostB, portB, errB := net.SplitHostPort(b)
	if errA != nil || errB != nil || portA != portB || portA == "0" {
		return false
	}
	return hostA == hostB || isWildcard(hostA) || isWildcard(hostB)
}

func isWildcard(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "" || (err == nil && ip.IsUnspecified())
}

// isAddress reports whether a text is host:port with a numeric port.
func isAddress(text string) bool {
	host, port, err := net.SplitHostPort(text)
	if err != nil || strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r == '/' || r == 0x7f }) {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

// IsLoopback reports whether an address host:port can be reached from this
// machine only. A host name other than localhost counts as reachable from outside.
func IsLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// isLoopbackURL reports whether an address names a server on this machine.
func isLoopbackURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && IsLoopback(net.JoinHostPort(u.Hostname(), "0"))
}

// budget refuses limits in dollars that could not be held for want of prices.
func (c *checker) budget(s *Settings) {
	b := s.Budget
	if b.USDPerRun == 0 && b.USDPerChatPerDay == 0 && b.USDPerHostPerDay == 0 || s.LLM.Provider == ProviderDemo {
		return
	}
	models := []string{s.LLM.Model}
	for _, f := range s.LLM.Fallbacks {
		models = append(models, f.Model)
	}
	slices.Sort(models)
	for _, name := range slices.Compact(models) {
		if p := s.LLM.Models[name]; name != "" && (p.USDPerMInput == 0 || p.USDPerMOutput == 0) {
			c.fault("budget", "limits US dollars, but the prices of the model are not known; set usdPerMInput and usdPerMOutput in %s", joinKey("llm.models", shorten(name)))
		}
	}
}

func (c *checker) exec(e Exec) {
	rules := func(name string, list []string) {
		for i, rule := range list {
			if strings.TrimSpace(rule) == "" || hasControl(rule) {
				c.fault(fmt.Sprintf("permissions.exec.%s[%d]", name, i), "wants the words of a command, such as \"git status\"")
			}
		}
	}
	rules("allow", e.Allow)
	rules("deny", e.Deny)
	for i, folder := range e.Exclude {
		if clean := filepath.Clean(folder); !filepath.IsLocal(folder) || clean == "." || hasControl(folder) {
			c.fault(fmt.Sprintf("permissions.exec.exclude[%d]", i), `wants the path of a folder in the project, relative to it, such as "data/archive"`)
		}
	}
	if len(e.Approvers) == 0 {
		c.fault("permissions.exec.approvers", `names nobody, so nothing could ever be approved; "owner" is the usual entry`)
	}
	pattern := regexp.MustCompile(`^(owner|initiator|platformAdmins|[0-9]{1,20}|o[un]_[A-Za-z0-9]{1,64}|[a-z]+(@[A-Za-z0-9_-]+)?-[A-Za-z0-9_-]{1,80})$`)
	for i, who := range e.Approvers {
		if !pattern.MatchString(who) {
			c.fault(fmt.Sprintf("permissions.exec.approvers[%d]", i), `wants "owner", "initiator", "platformAdmins" or the id of a person, such as "123456789"; names can be taken over by others`)
		}
	}
}

func (c *checker) fetch(f Fetch) {
	pattern := regexp.MustCompile(`^(\*|(\*\.)?[\pL\pN][\pL\pM\pN-]*(\.[\pL\pN][\pL\pM\pN-]*)*)$`)
	for i, host := range f.Allow {
		if len(host) > 253 || !pattern.MatchString(host) {
			c.fault(fmt.Sprintf("permissions.fetch.allow[%d]", i), `wants the name of a host without scheme, port or path, such as "example.org", "*.example.org" for all below it, or "*"`)
		}
	}
}
