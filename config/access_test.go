package config

import (
	"fmt"
	"testing"
)

// TestAccessAndGroupsMeanTheSame: every account and platform accepts the same values for who may
// talk to the bot, and every Telegram bot the same values for what it answers in groups.
func TestAccessAndGroupsMeanTheSame(t *testing.T) {
	telegram := `{"llm": {"model": "m", "apiKey": "k"}, "adapters": {"telegram": {"botToken": "1:a", %s}}}`
	account := `{"llm": {"model": "m", "apiKey": "k"}, "adapters": {"telegram": {"botToken": "1:a", "accounts": {"work": {"botToken": "2:b", %s}}}}}`
	feishu := `{"llm": {"model": "m", "apiKey": "k"}, "adapters": {"feishu": {"appId": "cli_a", "appSecret": "s", %s}}}`
	group := `{"llm": {"model": "m", "apiKey": "k"}, "adapters": {"feishu": {"appId": "cli_a", "appSecret": "s", "groups": {"oc_1": {%s}}}}}`
	for _, tt := range []struct {
		name, ship, key string
		words           []string
	}{
		{"telegram", telegram, "access", []string{"owner", "paired", "open"}},
		{"telegram account", account, "access", []string{"owner", "paired", "open"}},
		{"feishu", feishu, "access", []string{"owner", "paired", "open"}},
		{"feishu group", group, "access", []string{"owner", "paired", "open"}},
		{"telegram", telegram, "groups", []string{"mention", "reply", "commands", "all"}},
		{"telegram account", account, "groups", []string{"mention", "reply", "commands", "all"}},
		{"feishu group", group, "addressed", []string{"mention", "all", "always"}},
	} {
		for _, word := range append(tt.words, "everyone") {
			t.Run(tt.name+" "+tt.key+" "+word, func(t *testing.T) {
				dir := t.TempDir()
				write(t, dir+"/"+FileName, fmt.Sprintf(tt.ship, fmt.Sprintf("%q: %q", tt.key, word)), 0o600)
				if _, err := Load(Options{Dir: dir}); (err != nil) != (word == "everyone") {
					t.Errorf("got %v", err)
				}
			})
		}
	}
}
