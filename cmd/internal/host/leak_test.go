package host

import (
	"testing"

	"go.uber.org/goleak"
)

// No test leaves a goroutine behind, but for the actor library's: its throttle of
// dead-letter logs lives a second longer.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/asynkron/protoactor-go/actor.NewDeadLetter.NewThrottle.func4.1"))
}
