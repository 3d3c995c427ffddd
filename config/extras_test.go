package config

import (
	"slices"
	"testing"
)

// A header or parameter that names a variable of the operator needs agreement like a key, and is
// hidden like a key.
func TestExtrasReachLikeKeys(t *testing.T) {
	dir := project(t, `{"llm": {"provider": "custom", "model": "m", "baseUrl": "https://other.example/v1",
		"headers": {"X-Auth": "Bearer ${OPENAI_API_KEY}", "X-Team": "red"}, "query": {"key": "${A_KEY}", "api-version": "2024-10-21-preview"}}}`, "")
	loaded, err := Load(Options{Dir: dir, Env: environment(map[string]string{"OPENAI_API_KEY": "sk-canary-1", "A_KEY": "canary-2"})})
	if err != nil {
		t.Fatal(err)
	}
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
