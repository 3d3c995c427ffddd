package host

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox/reexec"
)

// No test leaves a goroutine behind, except for the actor library's throttle of dead-letter logs, which ends a second
// later. Commands start in the test binary itself.
func TestMain(m *testing.M) {
	reexec.Main()
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/asynkron/protoactor-go/actor.NewDeadLetter.NewThrottle.func4.1"))
}
