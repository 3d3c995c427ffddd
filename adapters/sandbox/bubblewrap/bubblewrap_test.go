//go:build linux

package bubblewrap_test

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox/bubblewrap"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/sandboxtest"
)

func TestMain(m *testing.M) {
	sandboxtest.Main(m, func() sandboxtest.Checker { return bubblewrap.New(bubblewrap.Options{}) })
}

func available(t *testing.T) sandboxtest.Checker {
	t.Helper()
	return sandboxtest.Need(t, bubblewrap.New(bubblewrap.Options{}))
}

func TestSB1EnvironmentIsTheAllowList(t *testing.T)  { sandboxtest.Environment(t, available(t)) }
func TestSB2OnlyWhatIsGranted(t *testing.T)          { sandboxtest.Reach(t, available(t)) }
func TestSB2ReadOnlyStays(t *testing.T)              { sandboxtest.Steady(t, available(t)) }
func TestSB2ReadOnlyReplaced(t *testing.T)           { sandboxtest.Replaced(t, available(t)) }
func TestSB2ReadOnlyReplacing(t *testing.T)          { sandboxtest.Replacing(t, available(t)) }
func TestSB2ProgramsOverlap(t *testing.T)            { sandboxtest.Overlapping(t, available(t)) }
func TestSB3NetworkIsOff(t *testing.T)               { sandboxtest.Network(t, available(t)) }
func TestSB4NothingSurvives(t *testing.T)            { sandboxtest.Ends(t, available(t)) }
func TestSB5LimitsBite(t *testing.T)                 { sandboxtest.Limits(t, available(t)) }
func TestSB7HostProcessesAreOutOfReach(t *testing.T) { sandboxtest.Processes(t, available(t)) }
func TestSB10PromptsFailFast(t *testing.T)           { sandboxtest.Prompts(t, available(t)) }
func TestAP7PinnedBytesAreWhatRuns(t *testing.T)     { sandboxtest.Pins(t, available(t)) }
func TestAP7ChangedAtEachMoment(t *testing.T) {
	available(t)
	sandboxtest.PinsAt(t, func(step func(step, name string)) sandboxtest.Checker {
		return bubblewrap.New(bubblewrap.Options{Step: step})
	})
}
func TestFiles(t *testing.T)    { sandboxtest.Files(t, available(t)) }
func TestFilesOwn(t *testing.T) { sandboxtest.Own(t, available(t)) }
func TestRefused(t *testing.T)  { sandboxtest.Refused(t, available(t)) }
func TestStreams(t *testing.T)  { sandboxtest.Streams(t, available(t)) }

func TestWithoutPowers(t *testing.T) { sandboxtest.AsNobody(t, available(t)) }
