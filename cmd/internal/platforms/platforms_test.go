package platforms

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/config"
)

// The keys of access are those that a comparison of settings names.
func TestKeysOfAccess(t *testing.T) {
	load := func(access, addressed string, quoted int) *config.Loaded {
		dir := t.TempDir()
		text := fmt.Sprintf(`{"llm": {"apiKey": "k"}, "adapters": {
			"telegram": {"botToken": "1:abc", "access": %[1]q, "accounts": {"work": {"botToken": "2:abc", "access": %[1]q}}},
			"feishu": {"appId": "cli_x", "appSecret": "s", "access": %[1]q, "groups": {"oc_1": {"addressed": %[2]q, "groupContext": %[3]d}}}}}`, access, addressed, quoted)
		if err := os.WriteFile(filepath.Join(dir, "ship.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		loaded, err := config.Load(config.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		return loaded
	}
	changed, err := load("owner", "mention", 1).Changed(load("open", "all", 2))
	if err != nil {
		t.Fatal(err)
	}
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
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys and the services that follow them (-want +got):\n%s", diff)
	}
}
