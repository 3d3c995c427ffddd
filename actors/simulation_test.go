package actors_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/shipmyagent/shipmyagent/actors/simtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
)

// simDisk is the file store on a disk that knows what is durable.
type simDisk struct {
	disk  *filestoretest.Disk
	store persistence.Store
	left  int // operations until one fails
	fail  error
	kind  filestoretest.Kind // that fails; empty: any that changes something
}

func newSimDisk() *simDisk { return &simDisk{disk: filestoretest.NewDisk()} }

func (d *simDisk) Open() (persistence.Store, error) {
	d.disk.Fail(d.plan)
	s, err := filestoretest.Open(d.disk, filestore.Options{Logger: slog.New(slog.DiscardHandler)})
	d.store = s
	return s, err
}

func (d *simDisk) Crash(power bool, choose func(int) int) {
	old := d.disk
	d.Heal()
	if power {
		d.disk = old.Crash(choose)
	} else {
		d.disk = old.Kill()
	}
	old.PowerOff()
	_ = d.store.Close() // it can write no more
}

// Fault implements [simtest.Disk]: one of the next operations of the disk fails.
func (d *simDisk) Fault(choose func(int) int) (string, bool) {
	d.left = 1 + choose(12)
	switch choose(5) {
	case 0:
		d.kind, d.fail = "", syscall.ENOSPC
		return "disk: no space", true
	case 1:
		d.kind, d.fail = filestoretest.OpWrite, &filestoretest.Short{N: choose(40), Err: syscall.ENOSPC}
		return "disk: short write", true
	case 2:
		d.kind, d.fail = filestoretest.OpDatasync, syscall.EIO
		return "disk: failed fsync", true
	case 3:
		d.kind, d.fail = filestoretest.OpOpen, syscall.EMFILE
		return "disk: no descriptors", true
	default:
		d.kind, d.fail = "", syscall.EIO
		return "disk: EIO", true
	}
}

func (d *simDisk) plan(op filestoretest.Op) error {
	if d.left == 0 || d.kind != "" && op.Kind != d.kind || d.kind == "" && !op.Changes() {
		return nil
	}
	if d.left--; d.left > 0 {
		return nil
	}
	return d.fail
}

func (d *simDisk) Heal() { d.left = 0 }

func simulate(t *testing.T, seed uint64, faults int, trace io.Writer) (r simtest.Result) {
	t.Helper()
	cryptotest.SetGlobalRandom(t, seed)
	synctest.Test(t, func(*testing.T) {
		r = simtest.Run(simtest.Options{Seed: seed, Faults: faults, Trace: trace, Disk: newSimDisk()})
	})
	return r
}

// number returns the value of an environment variable.
func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// perSeed is how many faults a seed of the simulation has.
const perSeed = 150

// Faults of every kind, in every order that seeds give, and no promise broken;
// in the end everything is at rest.
//
//	SIM_SEED=7 go test ./actors -run 'TestSimulation$'     plays one seed; SIM_TRACE names a file for its trace
//	SOAK=1 go test ./actors -run 'TestSimulation$' -v      100,000 faults
func TestSimulation(t *testing.T) {
	if seed := number(t, "SIM_SEED", 0); seed > 0 {
		simulateOne(t, uint64(seed))
		return
	}
	want, first := 2000, uint64(1)
	if os.Getenv("SOAK") != "" {
		want, first = number(t, "SIM_FAULTS", 100_000), uint64(number(t, "SIM_FIRST", 1001))
	}
	kinds := map[string]int{}
	var sum simtest.Result
	total, began := 0, time.Now()
	for seed := first; total < want; seed++ {
		r := simulate(t, seed, perSeed, nil)
		if r.Err != "" {
			t.Errorf("seed %d: %s\n%s", seed, r.Err, r.Tail)
			if os.Getenv("SIM_ON") == "" {
				return
			}
		}
		for kind, n := range r.Faults {
			kinds[kind] += n
		}
		total += r.Total()
		sum.Steps, sum.Lives, sum.Turns, sum.Shown = sum.Steps+r.Steps, sum.Lives+r.Lives, sum.Turns+r.Turns, sum.Shown+r.Shown
	}
	t.Logf("%d faults, %d lives, %d ingresses, %d messages shown, %d steps in %.1f s", total, sum.Lives, sum.Turns, sum.Shown, sum.Steps, time.Since(began).Seconds())
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		t.Logf("%7d %s", kinds[kind], kind)
	}
}

// simulateOne plays one seed for a closer look.
func simulateOne(t *testing.T, seed uint64) {
	t.Helper()
	r := simulate(t, seed, number(t, "SIM_FAULTS", perSeed), traceFile(t))
	t.Logf("%v in %d steps, %d lives", r.Faults, r.Steps, r.Lives)
	if r.Err != "" {
		t.Errorf("seed %d: %s\n%s", seed, r.Err, r.Tail)
	}
}

// traceFile returns the file for the trace of one seed, or nil if none is named.
func traceFile(t *testing.T) io.Writer {
	t.Helper()
	if name := os.Getenv("SIM_TRACE"); name != "" {
		f, err := os.Create(name)
		stdtest.Must(t, err)
		t.Cleanup(func() {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
		return f
	}
	return nil
}

// Seeds that once broke a promise are kept. What a seed leads to changes with the code; the comment says what it led
// to.
func TestSimulationKeptSeeds(t *testing.T) {
	files, err := filepath.Glob("testdata/simulation/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d seeds, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil || len(archive.Files) != 1 || archive.Files[0].Name != "seed" {
				t.Fatalf("no seed: %v", err)
			}
			var seed uint64
			var faults int
			if _, err := fmt.Sscanf(string(archive.Files[0].Data), "%d %d", &seed, &faults); err != nil {
				t.Fatal(err)
			}
			if r := simulate(t, seed, faults, nil); r.Err != "" {
				t.Errorf("seed %d: %s\n%s", seed, r.Err, r.Tail)
			}
		})
	}
}

// A seed always gives the same trace, byte for byte, so that a fault can be reproduced.
func TestSimulationSameSeedSameTrace(t *testing.T) {
	for seed := uint64(1); seed <= 3; seed++ {
		var traces [2]bytes.Buffer
		for i := range traces {
			simulate(t, seed, 50, &traces[i])
		}
		if a, b := traces[0].Bytes(), traces[1].Bytes(); !bytes.Equal(a, b) {
			t.Errorf("seed %d: traces differ %s", seed, firstDifference(a, b))
		}
	}
}

// firstDifference shows where two traces begin to differ.
func firstDifference(a, b []byte) string {
	one, two := strings.Split(string(a), "\n"), strings.Split(string(b), "\n")
	for i := range min(len(one), len(two)) {
		if one[i] != two[i] {
			return fmt.Sprintf("in line %d:\n%s\n%s\nafter\n%s", i, one[i], two[i], strings.Join(one[max(0, i-10):i], "\n"))
		}
	}
	return fmt.Sprintf("in length: %d and %d lines", len(one), len(two))
}
