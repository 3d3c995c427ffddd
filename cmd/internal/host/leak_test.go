package host

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox/reexec"
)

// No test leaves a goroutine behind, but for the actor library's: its throttle of
// dead-letter logs lives a second longer.
//
// Commands begin in this very binary.
func TestMain(m *testing.M) {
	reexec.Main()
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/asynkron/protoactor-go/actor.NewDeadLetter.NewThrottle.func4.1"))
}
