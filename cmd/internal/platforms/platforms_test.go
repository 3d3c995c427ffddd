package platforms

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// The keys of access are those that a comparison of settings names.
func TestKeysOfAccess(t *testing.T) {
	load := func(access, addressed string, quoted int) *config.Loaded {
		dir := t.TempDir()
		text := fmt.Sprintf(`{"llm": {"apiKey": "k"}, "adapters": {
			"telegram": {"botToken": "1:abc", "access": %[1]q, "accounts": {"work": {"botToken": "2:abc", "access": %[1]q}}},
			"feishu": {"appId": "cli_x", "appSecret": "s", "access": %[1]q, "groups": {"oc_1": {"addressed": %[2]q, "groupContext": %[3]d}}}}}`, access, addressed, quoted)
		stdtest.Must(t, os.WriteFile(filepath.Join(dir, "ship.json"), []byte(text), 0o600))
		loaded, err := config.Load(config.Options{Dir: dir})
		stdtest.Must(t, err)
		return loaded
	}
	changed, err := load("owner", "mention", 1).Changed(load("open", "all", 2))
	stdtest.Must(t, err)
	got := map[string]string{}
	for _, key := range changed {
		for _, service := range []string{"telegram", "feishu"} {
			if isRule(service, key) {
				got[key] += service
			}
		}
		if _, ok := got[key]; !ok {
			got[key] = ""
		}
	}
	want := map[string]string{
		"adapters.telegram.access": "telegram", "adapters.telegram.accounts.work.access": "telegram",
		"adapters.feishu.access": "feishu", "adapters.feishu.groups.oc_1.addressed": "feishu", "adapters.feishu.groups.oc_1.groupContext": "",
	}
	stdtest.Diff(t, "keys and the services that follow them", want, got)
}

// ruled is a bot that keeps the rules it was given.
type ruled struct {
	platform.Platform

	name  string
	rules platform.AccessRules
}

func (r *ruled) Name() string { return r.name }

func (r *ruled) SetRules(rules platform.AccessRules) error {
	r.rules = rules
	return nil
}

// A bot follows the rules of its own account. If that is removed, it does not follow those of the first one.
func TestFollow(t *testing.T) {
	bot := &ruled{name: "telegram@work", rules: platform.AccessRules{Access: "owner"}}
	changed := []string{"adapters.telegram.access", "adapters.telegram.accounts.work"}
	next := config.Adapters{Telegram: config.Telegram{Access: "open"}}
	if rest, err := All().Follow(bot, &next, slices.Clone(changed)); err != nil || bot.rules.Access != "owner" || len(rest) != 2 {
		t.Errorf("without its account: %+v, still changed %v, %v", bot.rules, rest, err)
	}
	next.Telegram.Accounts = map[string]config.TelegramAccount{"work": {Access: "paired"}}
	if rest, err := All().Follow(bot, &next, slices.Clone(changed)); err != nil || bot.rules.Access != "paired" || len(rest) != 1 {
		t.Errorf("with a changed account: %+v, still changed %v, %v", bot.rules, rest, err)
	}
}
