package sandboxes

import (
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/bubblewrap"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/landlock"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/off"
	"github.com/shipmyagent/shipmyagent/config"
)

// choices are those that a setting allows, the best first.
func choices(setting string) []func() checked {
	bwrap := func() checked { return bubblewrap.New(bubblewrap.Options{}) }
	own := func() checked { return landlock.New(landlock.Options{}) }
	switch setting {
	case config.Off:
		return []func() checked{func() checked { return off.New() }}
	case "bubblewrap":
		return []func() checked{bwrap}
	case "landlock":
		return []func() checked{own}
	default:
		return []func() checked{bwrap, own}
	}
}
