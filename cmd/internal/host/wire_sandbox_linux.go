package host

import (
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/bubblewrap"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/landlock"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/off"
	"github.com/shipmyagent/shipmyagent/config"
)

// sandboxes are those that a setting allows, the best first.
func sandboxes(setting string) []func() checkedSandbox {
	bwrap := func() checkedSandbox { return bubblewrap.New(bubblewrap.Options{}) }
	own := func() checkedSandbox { return landlock.New(landlock.Options{}) }
	switch setting {
	case config.Off:
		return []func() checkedSandbox{func() checkedSandbox { return off.New() }}
	case "bubblewrap":
		return []func() checkedSandbox{bwrap}
	case "landlock":
		return []func() checkedSandbox{own}
	default:
		return []func() checkedSandbox{bwrap, own}
	}
}
