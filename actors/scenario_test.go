package actors_test

import (
	"flag"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/shipmyagent/shipmyagent/actors/scenariotest"
)

// The wanted parts of a scenario, in the order in which its file has them. There are frames only if somebody watched.
var wanted = []string{"history", "sent", "counts", "requests", "frames"}

var update = flag.Bool("update", false, "rewrite the wanted parts of the scenarios")

// Every file of testdata/scenarios is a conversation: prose that says what it shows, a script, and the wanted results.
// See scenario_script_test.go for the words of a script.
func TestScenario(t *testing.T) {
	scenariotest.Play(t, "testdata/scenarios/*.txtar", 25, wanted, *update, playScenario)
}

func playScenario(t *testing.T, script string) map[string]string {
	t.Helper()
	var got map[string]string
	synctest.Test(t, func(t *testing.T) {
		s := newScenario(t, newStore(t))
		s.play(script)
		got = s.result()
	})
	return got
}

func lines(s string) []string { return strings.Split(strings.TrimSpace(s), "\n") }
