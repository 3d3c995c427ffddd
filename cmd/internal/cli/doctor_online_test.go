package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/platforms"
	"github.com/shipmyagent/shipmyagent/config"
)

// service starts a server that answers by path, from a table.
func service(t *testing.T, answers map[string]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := answers[r.URL.Path]
		switch {
		case r.Header.Get("Authorization") == "Bearer wrong-canary":
			w.WriteHeader(http.StatusUnauthorized)
		case !ok:
			w.WriteHeader(http.StatusNotFound)
		default:
			_, _ = w.Write([]byte(body))
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestDoctorAsksTheModel(t *testing.T) {
	root := service(t, map[string]string{"/v1/models": `{"data":[{"id":"one"},{"id":"two"}]}`})
	for _, tt := range []struct {
		name, url, key, model string
		mark                  checkup.Mark
		fact                  string
	}{
		{"it is there", root + "/v1", "right", "two", checkup.OK, "takes the key and has two"},
		{"no such model", root + "/v1", "right", "three", checkup.Warn, "does not list three"},
		{"a wrong key", root + "/v1", "wrong-canary", "two", checkup.Refused, "refuses the key (401)"},
		{"no list", root + "/v2", "right", "two", checkup.OK, "has no list of models (404)"},
		{"nobody", "http://127.0.0.1:1", "right-canary", "two", checkup.Fail, "cannot be reached: dial tcp"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := checkup.AskModel(t.Context(), config.LLM{Provider: config.ProviderCustom, BaseURL: tt.url, APIKey: config.NewSecret(tt.key), Model: tt.model})
			if len(got) != 1 || got[0].Mark != tt.mark || !strings.Contains(got[0].Fact, tt.fact) || strings.Contains(findingsText(got), "canary") {
				t.Errorf("found %+v, want %s: …%s", got, tt.mark, tt.fact)
			}
		})
	}
}

func askPlatform(t *testing.T, name string, s config.Settings) []checkup.Finding {
	t.Helper()
	d, ok := platforms.All().Of(name)
	if !ok {
		t.Fatalf("there is no platform %s", name)
	}
	return d.Ask(t.Context(), s)
}

func TestDoctorAsksTelegram(t *testing.T) {
	root := service(t, map[string]string{"/bot1:good/getMe": `{"ok":true,"result":{"username":"ada_bot"}}`})
	bots := config.Telegram{
		Enabled: true, BaseURL: root, BotToken: config.NewSecret("1:good"),
		Accounts: map[string]config.TelegramAccount{"work": {BotToken: config.NewSecret("2:canary")}},
	}
	var s config.Settings
	s.Adapters.Telegram = bots
	asked := askPlatform(t, "telegram", s)
	if code := verdictOf(asked); code != console.CodeCredential {
		t.Errorf("exit code %d, want %d", code, console.CodeCredential)
	}
	got := findingsText(asked)
	for _, want := range []string{"the token is that of @ada_bot", "fail  telegram@work the token is refused (404)"} {
		if !strings.Contains(got, want) {
			t.Errorf("found\n%s\nwithout %q", got, want)
		}
	}
	s.Adapters.Telegram.BaseURL = "http://127.0.0.1:1"
	unreached := findingsText(askPlatform(t, "telegram", s))
	if !strings.Contains(unreached, "cannot be reached: dial tcp") {
		t.Errorf("found\n%s", unreached)
	}
	if strings.Contains(got+unreached, "canary") {
		t.Errorf("a token is told:\n%s%s", got, unreached)
	}
}

func findingsText(found []checkup.Finding) string {
	a := &app{Console: &console.Console{Env: func(string) (string, bool) { return "", false }}}
	return a.findingsText(found)
}
