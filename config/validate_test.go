package config

import (
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestDefaultIsValid(t *testing.T) {
	if faults := faults(t, Default()); len(faults) > 0 {
		t.Error(faults)
	}
}

func TestAllFaultsAreFound(t *testing.T) {
	s := Default()
	s.Log.Level = "loud"
	s.Timezone = "Nowhere/Land"
	s.Limits.ActiveChats = -1
	s.LLM.Fallbacks = []Fallback{{Provider: "custom"}}
	s.Permissions.Exec.Approvers = nil
	var got []string
	for _, f := range faults(t, s) {
		got = append(got, f.Key)
	}
	want := []string{"timezone", "limits.activeChats", "log.level", "llm.fallbacks[0].model", "llm.fallbacks[0].baseUrl", "llm.fallbacks", "permissions.exec.approvers"}
	stdtest.Diff(t, "faults", want, got)
}

// TestListenMatrix: without a token the listener must be on loopback.
func TestListenMatrix(t *testing.T) {
	for _, tt := range []struct {
		listen         string
		loopback, open bool
	}{
		{"127.0.0.1:3000", true, true},
		{"127.8.9.1:0", true, true},
		{"[::1]:3000", true, true},
		{"[::ffff:127.0.0.1]:3000", true, true},
		{"LocalHost:3000", true, true},
		{"0.0.0.0:3000", false, true},
		{":3000", false, true},
		{"[::]:3000", false, true},
		{"192.168.0.7:3000", false, true},
		{"localhost.example.com:3000", false, true},
		{"127.0.0.1.example.com:3000", false, true},
		{"127.0.0.1", false, false},
		{"127.0.0.1:http", false, false},
		{"127.0.0.1:65536", false, false},
		{"127.0.0.1/x:80", false, false},
		{"", false, false},
	} {
		t.Run(tt.listen, func(t *testing.T) {
			if got := IsLoopback(tt.listen); got != tt.loopback && tt.open {
				t.Errorf("IsLoopback = %v, want %v", got, tt.loopback)
			}
			s := Default()
			s.LLM = LLM{Provider: ProviderCustom, BaseURL: "http://127.0.0.1:1", Model: "m", FirstByteS: 1, IdleTimeoutS: 1, MaxConcurrency: 1}
			s.Adapters.Web.Listen = tt.listen
			if faults := faults(t, s); (len(faults) == 0) != tt.loopback {
				t.Errorf("without a token: %v", faults)
			}
			s.Adapters.Web.Token = NewSecret("0123456789abcdef")
			if faults := faults(t, s); (len(faults) == 0) != tt.open {
				t.Errorf("with a token: %v", faults)
			}
		})
	}
}

func TestDemoStaysLocal(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Adapters)
		want   string
	}{
		{"telegram", func(a *Adapters) { a.Telegram.Enabled, a.Telegram.BotToken = true, NewSecret("1:a") }, "adapters.telegram.enabled"},
		{"feishu", func(a *Adapters) {
			a.Feishu.Enabled, a.Feishu.AppID, a.Feishu.AppSecret = true, "a", NewSecret("s")
		}, "adapters.feishu.enabled"},
		{"api", func(a *Adapters) { a.API.Enabled, a.API.Token = true, NewSecret("t") }, "adapters.api.enabled"},
		{"open web", func(a *Adapters) { a.Web.Listen, a.Web.Token = "0.0.0.0:1", NewSecret("t") }, "adapters.web.listen"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := Default()
			tt.change(&s.Adapters)
			faults := faults(t, s)
			if len(faults) != 1 || faults[0].Key != tt.want || !strings.Contains(faults[0].Message, "demo model") {
				t.Errorf("faults = %v, want one of %s on the demo model", faults, tt.want)
			}
		})
	}
}

func TestTokenBudget(t *testing.T) {
	for _, tt := range []struct {
		name   string
		budget TokenBudget
		window int
		want   int
	}{
		{"number", 5000, 100000, 5000},
		{"auto", 0, 100000, 60000},
		{"auto, window unknown", 0, 0, 12000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.budget.Of(tt.window); got != tt.want {
				t.Errorf("Of(%d) = %d, want %d", tt.window, got, tt.want)
			}
		})
	}
}

func TestSameAddress(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"127.0.0.1:1", "127.0.0.1:1", true},
		{"127.0.0.1:1", "127.0.0.1:2", false},
		{"127.0.0.1:0", "127.0.0.1:0", false},
		{"0.0.0.0:1", "127.0.0.1:1", true},
		{"127.0.0.1:1", ":1", true},
		{"127.0.0.1:1", "10.0.0.1:1", false},
	} {
		if got := sameAddress(tt.a, tt.b); got != tt.want {
			t.Errorf("sameAddress(%s, %s) = %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestNearest(t *testing.T) {
	words := []string{"model", "models", "baseUrl", "apiKey", "maxConcurrency"}
	for word, want := range map[string]string{
		"modell": "model", "Model": "model", "base_url": "baseUrl", "apikey": "apiKey", "maxConcurency": "maxConcurrency",
		"x": "", "temperature": "", strings.Repeat("model", 50): "",
	} {
		if got := Nearest(word, words); got != want {
			t.Errorf("Nearest(%.20s) = %q, want %q", word, got, want)
		}
	}
}

// TestWebhook: a webhook needs an address that Telegram can call, and a port of its own.
func TestWebhook(t *testing.T) {
	for _, tt := range []struct {
		name string
		set  func(*Settings, *Hook)
		want string // the key of the only fault; empty: none
	}{
		{"none", func(*Settings, *Hook) {}, ""},
		{"usual", func(_ *Settings, h *Hook) { h.URL = "https://bot.example.com/telegram" }, ""},
		{"not https", func(_ *Settings, h *Hook) { h.URL = "http://bot.example.com/telegram" }, "adapters.telegram.webhook.url"},
		{"with a name", func(_ *Settings, h *Hook) { h.URL = "https://a:b@bot.example.com/" }, "adapters.telegram.webhook.url"},
		{"no host", func(_ *Settings, h *Hook) { h.URL = "https:///telegram" }, "adapters.telegram.webhook.url"},
		{"listen", func(_ *Settings, h *Hook) { h.Listen = "8443" }, "adapters.telegram.webhook.listen"},
		{"the port of the web chat", func(_ *Settings, h *Hook) { h.URL, h.Listen = "https://b.example", "127.0.0.1:3000" }, "adapters.telegram.webhook.listen"},
		{"the port of the metrics", func(_ *Settings, h *Hook) { h.URL, h.Listen = "https://b.example", "127.0.0.1:9464" }, "adapters.telegram.webhook.listen"},
		{"the web chat's port while that is off", func(s *Settings, h *Hook) {
			s.Adapters.Web.Enabled, h.URL, h.Listen = false, "https://b.example", "127.0.0.1:3000"
		}, ""},
		{"proxy", func(s *Settings, _ *Hook) { s.Adapters.Telegram.Proxy = "socks5://127.0.0.1:1080" }, ""},
		{"proxy without a scheme", func(s *Settings, _ *Hook) { s.Adapters.Telegram.Proxy = "127.0.0.1:1080" }, "adapters.telegram.proxy"},
		{"proxy of another kind", func(s *Settings, _ *Hook) { s.Adapters.Telegram.Proxy = "ftp://127.0.0.1" }, "adapters.telegram.proxy"},
		{"proxy with a password", func(s *Settings, _ *Hook) { s.Adapters.Telegram.Proxy = "http://a:b@127.0.0.1" }, "adapters.telegram.proxy"},
		{"secret", func(_ *Settings, h *Hook) { h.Secret = NewSecret("not+allowed") }, "adapters.telegram.webhook.secret"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := Default()
			tt.set(&s, &s.Adapters.Telegram.Webhook)
			got := ""
			for _, f := range faults(t, s) {
				got += f.Key
			}
			if got != tt.want {
				t.Errorf("faults at %q, want %q", got, tt.want)
			}
		})
	}
}
