//go:build linux

package hold

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestNamesBehindProcesses(t *testing.T) {
	tests := map[string]bool{
		"/proc/self/cwd/run.sh": true, "/proc/1/root" + "/a/run.sh": true, "/proc/self/fd/3/run.sh": true, "/dev/fd/3/run.sh": true, "/proc/thread-self/cwd/a/b": true,
		"/proc/self/fd/3": false, "/dev/fd/63": false, "/proc/self/maps": false, "/proc/self/cwd": false, "/a/cwd/run.sh": false, "/proc/meminfo": false,
		"/a/../proc/self/cwd/run.sh": true,
	}
	for name, want := range tests {
		if got := beyondProcess(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func jump(f unix.SockFilter, yes bool) int {
	if yes {
		return int(f.Jt)
	}
	return int(f.Jf)
}

// act returns what the filter does with a call. It runs the filter as the kernel does.
func act(t *testing.T, arch, nr uint32) uint32 {
	t.Helper()
	prog := program(pinned)
	var a uint32
	for pc := 0; pc < len(prog); pc++ {
		switch f := prog[pc]; f.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			a = map[uint32]uint32{0: nr, 4: arch}[f.K]
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			pc += jump(f, a == f.K)
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			pc += jump(f, a >= f.K)
		case unix.BPF_RET | unix.BPF_K:
			return f.K
		default:
			t.Fatalf("instruction %d is unknown: %+v", pc, f)
		}
	}
	t.Fatal("the filter has no end")
	return 0
}

func TestFilterShowsEveryCallWithAName(t *testing.T) {
	for _, tab := range tables() {
		for _, c := range tab.calls {
			if got := act(t, tab.arch, c.nr); got != unix.SECCOMP_RET_USER_NOTIF {
				t.Errorf("arch %x, call %d: %x, want that it is shown", tab.arch, c.nr, got)
			}
			if found, ok := find(tab.arch, int32(c.nr)); !ok || found != c { //nolint:gosec // a small number
				t.Errorf("arch %x, call %d: found %+v, %v", tab.arch, c.nr, found, ok)
			}
		}
		for _, nr := range tab.none {
			if got := act(t, tab.arch, nr); got != retNone {
				t.Errorf("arch %x, call %d: %x, want ENOSYS", tab.arch, nr, got)
			}
		}
		for _, nr := range tab.never {
			if got := act(t, tab.arch, nr); got != retNever {
				t.Errorf("arch %x, call %d: %x, want EPERM", tab.arch, nr, got)
			}
		}
		if tab.limit > 0 {
			if got := act(t, tab.arch, tab.limit+2); got != retNone {
				t.Errorf("arch %x, another interface: %x, want ENOSYS", tab.arch, got)
			}
		}
	}
	if len(tables()) > 0 {
		if got := act(t, tables()[0].arch, unix.SYS_GETPID); got != unix.SECCOMP_RET_ALLOW {
			t.Errorf("a call without a name: %x, want that it is allowed", got)
		}
		if got := act(t, 1, unix.SYS_GETPID); got != retNone {
			t.Errorf("another architecture: %x, want ENOSYS", got)
		}
	}
}

func TestNamesAreReadFromMemory(t *testing.T) {
	long := strings.Repeat("x", unix.PathMax+10)
	for _, want := range []string{"", "run.sh", strings.Repeat("a/", 2000)} {
		buf := append([]byte(want), 0)
		got, err := readName(os.Getpid(), address(buf))
		runtime.KeepAlive(buf)
		if err != nil || got != want {
			t.Errorf("read %d bytes, %v; want %d", len(got), err, len(want))
		}
	}
	buf := append([]byte(long), 0)
	if _, err := readName(os.Getpid(), address(buf)); !errors.Is(err, unix.ENAMETOOLONG) {
		t.Errorf("a name without end: %v", err)
	}
	runtime.KeepAlive(buf)
	if _, err := readName(os.Getpid(), 8); !errors.Is(err, unix.EFAULT) {
		t.Errorf("no memory: %v", err)
	}
}

// The process that starts the program may fail, end or say nothing. In each case nothing runs.
func TestMeetNobody(t *testing.T) {
	tests := []struct {
		name string
		say  func(inside *os.File)
		want string
	}{
		{"it ended", func(inside *os.File) { _ = inside.Close() }, "ended"},
		{"it failed", func(inside *os.File) { _, _ = inside.WriteString("fno filter") }, "no filter"},
		{"it has no listener", func(inside *os.File) { _, _ = inside.WriteString("r") }, "identify itself"},
	}
	for _, tt := range tests {
		host, inside, err := Pair()
		stdtest.Must(t, err)
		tt.say(inside)
		if g, err := Meet(t.Context(), host, Watch{}); g != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		_ = inside.Close() // it may be closed
	}
	host, inside, err := Pair()
	stdtest.Must(t, err)
	defer func() { _ = inside.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if g, err := Meet(ctx, host, Watch{}); g != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("nobody comes: %v, want that it was cancelled", err)
	}
}

// A pin counts only if it is in the memory of the sandbox's root process, with the right bytes.
func TestPlacesOfPins(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"good": "good", "long": "good and more", "other": "evil"} {
		stdtest.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	stdtest.Must(t, errors.Join(os.Symlink("good", filepath.Join(dir, "link")), os.Mkdir(filepath.Join(dir, "folder"), 0o700)))
	root, err := os.OpenFile(dir, unix.O_PATH|unix.O_DIRECTORY, 0)
	stdtest.Must(t, err)
	changed := false
	g := &Guard{root: root, names: map[string]bool{}, watch: Watch{Changed: func() bool { return changed }}}
	defer func() {
		for _, p := range g.places {
			_ = p.file.Close()
		}
		_ = root.Close()
	}()
	for name, want := range map[string]bool{"/good": true, "/long": false, "/other": false, "/link": false, "/folder": false, "/absent": false} {
		if err := g.place(Pin{Path: name, Data: []byte("good")}); (err == nil) != want || err != nil && !errors.Is(err, ErrLost) {
			t.Errorf("%s: %v, want it to count: %v", name, err, want)
		}
	}
	if !g.intact() {
		t.Error("nothing was changed")
	}
	changed = true
	if g.intact() {
		t.Error("a change on record was not seen")
	}
	changed = false
	stdtest.Must(t, os.Rename(filepath.Join(dir, "other"), filepath.Join(dir, "good")))
	if g.intact() {
		t.Error("a name that leads to another file was not seen")
	}
}

// address returns where bytes are in memory.
func address(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(&b[0]))) } //nolint:gosec // it is read by the number alone
