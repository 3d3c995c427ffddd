package actorsystem

import (
	"testing"

	"go.uber.org/goleak"
)

// No test leaves a goroutine behind, except for the actor library's throttle of dead-letter logs, which ends a second
// later.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/asynkron/protoactor-go/actor.NewDeadLetter.NewThrottle.func4.1"))
}
