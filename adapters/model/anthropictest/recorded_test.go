package anthropictest

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
)

// The service accepted these requests, which the tests of the official SDK have recorded (MIT
// licence, see testdata/recorded), so the rules must accept them.
func TestRecordedRequestsAreAccepted(t *testing.T) { modeltest.Recorded(t, StrictBody) }
