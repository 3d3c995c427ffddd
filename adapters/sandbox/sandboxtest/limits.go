//go:build linux

package sandboxtest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// Bounded reports what is limited for a program as a whole.
type Bounded interface {
	Bounds() (memory, processes bool)
}

// Limits is SB5: programs cannot exceed their limits.
func Limits(t *testing.T, s sandbox.Sandbox) {
	t.Helper()
	bounded, ok := s.(Bounded)
	if !ok {
		t.Fatalf("%s does not say what it bounds", s.Name())
	}
	memory, processes := bounded.Bounds()
	t.Logf("bounded as a whole: memory %v, processes %v", memory, processes)
	w := newWorld(t)
	t.Run("wall", func(t *testing.T) {
		spec := w.shell("sleep 1000")
		spec.Limits.Wall = 200 * time.Millisecond
		wantLimit(t, run(t, s, spec), sandbox.LimitWall)
	})
	t.Run("cpu", func(t *testing.T) {
		spec := w.shell("while :; do :; done")
		spec.Limits.CPU = time.Second
		wantLimit(t, run(t, s, spec), sandbox.LimitCPU)
	})
	t.Run("memory", func(t *testing.T) {
		// Not zeros, for which the kernel needs no memory. 16 bytes, doubled 30 times, are 16 GiB.
		spec := w.shell("s=0123456789abcdef; i=0; while [ $i -lt 30 ]; do s=$s$s; i=$((i+1)); done; echo ${#s}")
		spec.Limits.Memory = 256 << 20
		r := run(t, s, spec)
		if memory {
			wantLimit(t, r, sandbox.LimitMemory)
		} else if r.exit.Code == 0 {
			t.Errorf("16 GiB were had: %+v", r.exit)
		}
	})
	t.Run("private folder", func(t *testing.T) {
		spec := w.shell("dd if=/dev/zero of=/tmp/a bs=1M count=1000 2>/dev/null || dd if=/dev/zero of=/dev/shm/a bs=1M count=1000 2>/dev/null")
		spec.Limits.Memory = 256 << 20
		if r := run(t, s, spec); r.exit.Code == 0 {
			t.Errorf("1 GB of files in memory were had: %+v", r.exit)
		}
	})
	t.Run("file", func(t *testing.T) {
		spec := w.shell("exec dd if=/dev/zero of=big bs=1M count=10000")
		spec.Limits.FileSize = 8 << 20
		wantLimit(t, run(t, s, spec), sandbox.LimitFileSize)
		if info, err := os.Stat(filepath.Join(w.work, "big")); err != nil || info.Size() > 8<<20 {
			t.Errorf("the file: %v, %v; want at most 8 MiB", info, err)
		}
	})
	t.Run("open files", func(t *testing.T) {
		spec := w.shell("ulimit -n; ulimit -n 100 2>/dev/null && echo more; exec 63</dev/null 64</dev/null || true")
		spec.Limits.OpenFiles = 40
		if r := run(t, s, spec); !strings.HasPrefix(r.out, "40\n") || strings.Contains(r.out, "more") {
			t.Errorf("open files: %q, want 40 and no more", r.out)
		}
	})
	t.Run("processes", func(t *testing.T) {
		if !processes {
			t.Skip("root without a control group cannot bound processes")
		}
		forkBomb(t, s, w)
	})
}

func wantLimit(t *testing.T, r result, limit string) {
	t.Helper()
	if r.failed != nil || r.exit.Limit != limit || r.exit.Code == 0 {
		t.Errorf("it ended with %+v, %v, want limit %q\n%s%s", r.exit, r.failed, limit, r.out, r.err)
	}
}

// bomb would overload a machine: each of its processes starts a session, which the kernel gives as much CPU time as
// the host, and spins.
func bomb(marker string) string {
	return "(while :; do setsid sh -c 'while :; do :; done # " + marker + "' & (sleep 1000." + marker + " &); done) 2>/dev/null; echo full; while :; do :; done"
}

// forkBomb counts the processes of a bomb, and in a soak test measures its effect on the host.
func forkBomb(t *testing.T, s sandbox.Sandbox, w world) {
	t.Helper()
	const most, own = 40, 32 // sandboxes themselves need some on top
	marker := fmt.Sprintf("%d4711", os.Getpid())
	spec := w.shell(bomb(marker))
	spec.Limits.Processes = most
	for i := range times(5, 1) {
		var quiet, quietWakes []time.Duration
		if soak() {
			quiet, quietWakes = beats(t, 200), wakes(500)
		}
		p := begun(t, t.Context(), s, spec)
		seen := len(withMarker(t, marker))
		if soak() {
			loud, loudWakes := beats(t, 200), wakes(500)
			t.Logf("round %d: the host's p99 without and with the bomb: forcing a small file %v, %v; waking up %v, %v", i, p99(quiet), p99(loud), p99(quietWakes), p99(loudWakes))
		}
		p.Kill()
		if _, err := p.Wait(); err != nil {
			t.Error(err)
		}
		if seen > most+own || seen < most/2 {
			t.Errorf("%d processes, want %d to %d", seen, most/2, most+own)
		}
		if left := withMarker(t, marker); len(left) > 0 {
			t.Errorf("%d processes of the bomb are left", len(left))
		}
		t.Logf("at most %d processes of %d", seen, most)
	}
}

// wakes measures how much too late the host wakes up.
func wakes(n int) []time.Duration {
	out := make([]time.Duration, 0, n)
	for range n {
		start := time.Now()
		wait := time.NewTimer(time.Millisecond)
		<-wait.C
		out = append(out, time.Since(start)-time.Millisecond)
	}
	return out
}

// beats measures a small piece of work on the host.
func beats(t *testing.T, n int) []time.Duration {
	t.Helper()
	f, err := os.Create(filepath.Join(Outside(t), "beat")) //nolint:gosec // a test's
	stdtest.Must(t, err)
	defer func() { _ = f.Close() }()
	out := make([]time.Duration, 0, n)
	for i := range n {
		start := time.Now()
		if _, err := f.WriteString(strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
		stdtest.Must(t, unix.Fdatasync(int(f.Fd())))
		out = append(out, time.Since(start))
	}
	return out
}

func p99(d []time.Duration) time.Duration {
	d = slices.Sorted(slices.Values(d))
	return d[len(d)*99/100]
}
