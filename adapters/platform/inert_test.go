package platform_test

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

func TestInert(t *testing.T) {
	for name, want := range map[string]string{
		"Bob O": "Bob O", "小明": "小明", "": "",
		"[Your bank](https://evil.example)\n# _x_": `\[Your bank\]\(https\:\/\/evil\.example\) \# \_x\_`,
	} {
		if got := platform.Inert(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
