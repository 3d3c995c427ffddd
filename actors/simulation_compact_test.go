package actors_test

import (
	"maps"
	"slices"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/simtest"
)

// Messages, several calls a step, questions to people that are answered in time, late
// or never, stops, crashes, power cuts and compactions of every kind, in any order that a
// seed gives. After every step: what was accepted is in the history or in an archive
// that a summary names, byte for byte and once; nothing open is compacted; every request
// is valid and begins with the one before, but for what is counted.
//
//	SIM_SEED=7 go test ./actors -run TestCO2Interleavings     plays one seed; SIM_TRACE names a file for its trace
//	SOAK=1 go test ./actors -run TestCO2Interleavings -v      1,000 seeds
func TestCO2InterleavingsWithCompactions(t *testing.T) {
	first, last := uint64(1), uint64(60)
	if soaking() {
		last = 1000
	}
	if seed := number(t, "SIM_SEED", 0); seed > 0 {
		first, last = uint64(seed), uint64(seed)
	}
	stories, faults, turns, began := map[string]int{}, 0, 0, time.Now()
	for seed := first; seed <= last; seed++ {
		r := simulateFolding(t, seed, number(t, "SIM_FAULTS", 60))
		if r.Err != "" {
			t.Errorf("seed %d: %s\n%s", seed, r.Err, r.Tail)
			if number(t, "SIM_ON", 0) == 0 {
				return
			}
		}
		for kind, n := range r.Stories {
			stories[kind] += n
		}
		faults, turns = faults+r.Total(), turns+r.Turns
	}
	t.Logf("soak: row=CO2 interleavings=%d ingresses=%d faults=%d lost=0 in %.0f s", last-first+1, turns, faults, time.Since(began).Seconds())
	for _, kind := range slices.Sorted(maps.Keys(stories)) {
		t.Logf("%7d %s", stories[kind], kind)
	}
	if first == last {
		return
	}
	stories["request decided"] = stories["request approved"] + stories["request denied"]
	for _, kind := range []string{"compacted", "aged", "merged", "stopped", "request decided", "request approved late", "request denied late", "request expired", "prefix kept", "prefix broken: compaction"} {
		if stories[kind] == 0 {
			t.Errorf("no story has: %s", kind)
		}
	}
}

func simulateFolding(t *testing.T, seed uint64, faults int) (r simtest.Result) {
	t.Helper()
	cryptotest.SetGlobalRandom(t, seed)
	trace := traceFile(t)
	synctest.Test(t, func(*testing.T) {
		r = simtest.Run(simtest.Options{Seed: seed, Faults: faults, Trace: trace, Disk: newSimDisk(), Compacts: true})
	})
	return r
}
