package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// A header or parameter that names a variable of the operator needs agreement like a key, and is
// hidden like a key.
func TestExtrasReachLikeKeys(t *testing.T) {
	dir := project(t, `{"llm": {"provider": "custom", "model": "m", "baseUrl": "https://other.example/v1",
		"headers": {"X-Auth": "Bearer ${OPENAI_API_KEY}", "X-Team": "red"}, "query": {"key": "${A_KEY}", "api-version": "2024-10-21-preview"}}}`, "")
	loaded, err := Load(Options{Dir: dir, Env: environment(map[string]string{"OPENAI_API_KEY": "sk-canary-1", "A_KEY": "canary-2"})})
	stdtest.Must(t, err)
	var reached []string
	for _, r := range loaded.Reaches(nil) {
		reached = append(reached, r.Kind+" "+r.Key+" "+r.Text)
	}
	for _, want := range []string{"address llm.baseUrl https://other.example/v1", "variable llm.headers.X-Auth OPENAI_API_KEY", "variable llm.query.key A_KEY"} {
		if !slices.Contains(reached, want) {
			t.Errorf("%q is not among %q", want, reached)
		}
	}
	var secrets []string
	for _, s := range loaded.Settings.Secrets() {
		secrets = append(secrets, s.Reveal())
	}
	slices.Sort(secrets)
	if want := []string{"canary-2", "sk-canary-1"}; !slices.Equal(secrets, want) {
		t.Errorf("secrets are %q, want %q", secrets, want)
	}
}

func TestSecretsAreAllThatAreSet(t *testing.T) {
	s := Default()
	if got := s.Secrets(); len(got) != 0 {
		t.Errorf("%d secrets by default", len(got))
	}
	s.LLM.APIKey, s.Adapters.Telegram.Webhook.Secret = NewSecret("one"), NewSecret("two")
	s.LLM.Fallbacks = []Fallback{{APIKey: NewSecret("one")}, {APIKey: NewSecret("three")}}
	var got []string
	for _, secret := range s.Secrets() {
		got = append(got, secret.Reveal())
	}
	if want := "one three two"; strings.Join(got, " ") != want {
		t.Errorf("secrets %q, want %q", got, want)
	}
}
