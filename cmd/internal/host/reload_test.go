package host

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/config"
)

// A secret that was changed needs a restart, wherever it stands; one that was not is
// not named.
func TestChangedSecretsNeedARestart(t *testing.T) {
	of := func(text string) config.Settings {
		var s config.Settings
		secret := config.NewSecret(text)
		s.LLM.APIKey, s.LLM.Fallbacks = secret, []config.Fallback{{APIKey: config.NewSecret("same")}, {APIKey: secret}}
		s.Speech.Transcribe.APIKey, s.Speech.Speak.APIKey = secret, secret
		telegram := &s.Adapters.Telegram
		telegram.BotToken, telegram.Webhook.Secret = secret, secret
		telegram.Accounts = map[string]config.TelegramAccount{"work": {BotToken: secret}, "home": {BotToken: config.NewSecret("same")}}
		s.Adapters.Feishu.AppSecret, s.Adapters.Feishu.EncryptKey, s.Adapters.Feishu.VerificationToken = secret, secret, secret
		s.Adapters.Web.Token, s.Adapters.API.Token = secret, secret
		return s
	}
	want := []string{
		"adapters.api.token", "adapters.feishu.appSecret", "adapters.feishu.encryptKey", "adapters.feishu.verificationToken",
		"adapters.telegram.accounts.work.botToken", "adapters.telegram.botToken", "adapters.telegram.webhook.secret", "adapters.web.token",
		"llm.apiKey", "llm.fallbacks[1].apiKey", "speech.speak.apiKey", "speech.transcribe.apiKey",
	}
	got := changedSecrets(of("before"), of("after"))
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := changedSecrets(of("before"), of("before")); len(got) > 0 {
		t.Errorf("nothing has changed, and %q need a restart", got)
	}
	taken := of("before")
	taken.LLM.APIKey = config.Secret{}
	if diff := cmp.Diff([]string{"llm.apiKey"}, changedSecrets(of("before"), taken)); diff != "" {
		t.Errorf("a secret that was taken out (-want +got):\n%s", diff)
	}
}
