package config

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/config/internal/keys"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// A changed secret needs a restart, wherever it is set. An unchanged secret is not listed.
func TestChangedSecretsNeedARestart(t *testing.T) {
	changed := func(a, b Settings) []string {
		t.Helper()
		loaded := func(s Settings) *Loaded {
			return &Loaded{Settings: s, loader: &loader{Reader: &keys.Reader{}}}
		}
		changed, err := loaded(a).Changed(loaded(b))
		stdtest.Must(t, err)
		return changed
	}
	of := func(text string) Settings {
		var s Settings
		secret := NewSecret(text)
		s.LLM.APIKey, s.LLM.Fallbacks = secret, []Fallback{{APIKey: NewSecret("same")}, {APIKey: secret}}
		s.Speech.Transcribe.APIKey, s.Speech.Speak.APIKey = secret, secret
		telegram := &s.Adapters.Telegram
		telegram.BotToken, telegram.Webhook.Secret = secret, secret
		telegram.Accounts = map[string]TelegramAccount{"work": {BotToken: secret}, "home": {BotToken: NewSecret("same")}}
		s.Adapters.Feishu.AppSecret, s.Adapters.Feishu.EncryptKey, s.Adapters.Feishu.VerificationToken = secret, secret, secret
		s.Adapters.Web.Token, s.Adapters.API.Token = secret, secret
		return s
	}
	want := []string{
		"adapters.api.token", "adapters.feishu.appSecret", "adapters.feishu.encryptKey", "adapters.feishu.verificationToken",
		"adapters.telegram.accounts.work.botToken", "adapters.telegram.botToken", "adapters.telegram.webhook.secret", "adapters.web.token",
		"llm.apiKey", "llm.fallbacks[1].apiKey", "speech.speak.apiKey", "speech.transcribe.apiKey",
	}
	got := changed(of("before"), of("after"))
	stdtest.Diff(t, "", want, got)
	if got := changed(of("before"), of("before")); len(got) > 0 {
		t.Errorf("nothing has changed, and %q need a restart", got)
	}
	taken := of("before")
	taken.LLM.APIKey = Secret{}
	stdtest.Diff(t, "a secret that was taken out", []string{"llm.apiKey"}, changed(of("before"), taken))
}
