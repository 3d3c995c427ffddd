//go:build linux

package sandboxtest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// attackName is the first argument of a test binary that attacks its host.
const attackName = "sandboxtest-attack"

// grantedMarker is a variable of a program that may use the network.
const grantedMarker = "SANDBOXTEST_NETWORK"

// attack tries to reach a process of the host by its id, and to get privileges. It prints what succeeded.
func attack(target string) int {
	pid, err := strconv.Atoi(target)
	if err != nil {
		return 2
	}
	tries := []struct {
		name string
		try  func() error
	}{
		{"signal 0", func() error { return unix.Kill(pid, 0) }},
		{"SIGKILL", func() error { return unix.Kill(pid, unix.SIGKILL) }},
		{"a group's SIGKILL", func() error { return unix.Kill(-pid, unix.SIGKILL) }},
		{"pidfd", func() error { _, err := unix.PidfdOpen(pid, 0); return err }},
		{"ptrace", func() error { return unix.PtraceAttach(pid) }},
		{"ptrace of the first process", func() error { return attachFirst() }},
		{"memory", func() error { _, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid)); return err }},
		{"the parent's root", func() error { _, err := os.ReadDir("/proc/1/root" + "/root"); return err }},
		{"a limit", func() error { return unix.Prlimit(pid, unix.RLIMIT_NOFILE, &unix.Rlimit{}, nil) }},
		{"a priority", func() error { return unix.Setpriority(unix.PRIO_PROCESS, pid, 19) }},
		{"a user namespace", func() error { return unix.Unshare(unix.CLONE_NEWUSER) }},
		{"a mount namespace", func() error { return unix.Unshare(unix.CLONE_NEWNS) }},
		{"a mount", func() error { return unix.Mount("tmpfs", "/tmp", "tmpfs", 0, "") }},
		{"an unmount", func() error { return unix.Unmount("/proc/sys", unix.MNT_DETACH) }},
		{"a device", func() error { return unix.Mknod("/tmp/disk", unix.S_IFBLK|0o600, int(unix.Mkdev(8, 0))) }},
		{"a root", func() error { return unix.Chroot("/tmp") }},
		{"the clock", func() error { return unix.Settimeofday(&unix.Timeval{Sec: time.Now().Unix()}) }},
		{"the host's name", func() error { return unix.Sethostname([]byte("x")) }},
		{"a raw socket", func() error { _, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW, 1); return err }},
		{"shared memory", func() error { return sharedMemory() }},
		{"the kernel's keys", func() error { _, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true); return err }},
		{"a socket of a virtual machine", func() error { return apart(unix.SYS_SOCKET, unix.AF_VSOCK, unix.SOCK_STREAM, 0) }},
		{"io_uring", func() error { return apart(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&[256]byte{})), 0) }},
	}
	for _, a := range tries {
		if err := a.try(); err == nil {
			_, _ = os.Stdout.WriteString(a.name + "\n") // the test reads it
		}
	}
	return 0
}

// apart makes a system call that must fail without the network.
func apart(nr, a, b, c uintptr) error {
	if os.Getenv(grantedMarker) != "" {
		return unix.EPERM
	}
	if _, _, errno := unix.Syscall(nr, a, b, c); errno != 0 {
		return errno
	}
	return nil
}

// attachFirst checks the first process of the namespace. That process may have no more privileges than this one;
// attaching matters only if it has another mount namespace.
func attachFirst() error {
	mine, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		return err
	}
	first, err := os.Readlink("/proc/1/ns/mnt")
	if err != nil {
		return err
	}
	if mine == first {
		return unix.EPERM
	}
	return nil
}

// sharedMemory checks for shared memory segments of the host.
func sharedMemory() error {
	data, err := os.ReadFile("/proc/sysvipc/shm")
	if err != nil {
		return err
	}
	if bytes.Count(data, []byte("\n")) > 1 {
		return nil
	}
	return unix.ENOENT
}

// Processes is SB7: the host's processes are neither visible nor reachable.
func Processes(t *testing.T, s sandbox.Sandbox) {
	t.Helper()
	victim := exec.CommandContext(t.Context(), "sleep", "1000")
	victim.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdtest.Must(t, victim.Start())
	defer func() { _ = victim.Process.Kill(); _ = victim.Wait() }()
	w := newWorld(t)
	executable, err := os.Executable()
	stdtest.Must(t, err)
	for _, network := range []bool{false, true} {
		spec := w.shell("")
		spec.Argv = []string{executable, attackName, strconv.Itoa(victim.Process.Pid)}
		spec.Readable = []string{executable}
		if spec.Network = network; network {
			spec.Env = append(slices.Clone(spec.Env), grantedMarker+"=1")
		}
		if out := must(t, s, spec); out != "" {
			t.Errorf("network %v: these worked:\n%s", network, out)
		}
		if r := run(t, s, w.shell("kill -9 -1; sleep 0; echo alive")); r.failed != nil {
			t.Errorf("killing everything: %+v, %v", r.exit, r.failed)
		}
	}
	if err := victim.Process.Signal(unix.Signal(0)); err != nil {
		t.Errorf("the host's process is gone: %v", err)
	}
	seen := strings.Fields(must(t, s, w.shell("cd /proc && ls -d [0-9]*")))
	if len(seen) > 4 {
		t.Errorf("processes seen: %q, want only its own", seen)
	}
}

// Prompts is SB10: programs that ask for input fail at once.
func Prompts(t *testing.T, s sandbox.Sandbox) {
	t.Helper()
	w := newWorld(t)
	start := time.Now()
	out := must(t, s, w.shell(`cat; read -r line || echo "no input"
(read -r line </dev/tty) 2>/dev/null || echo "no terminal"
[ -t 0 ] || [ -t 1 ] || [ -t 2 ] || echo "nothing is a terminal"
stty -F /dev/tty >/dev/null 2>&1 || echo "no settings"`))
	t.Logf("answered after %v", time.Since(start).Round(time.Millisecond))
	if want := "no input\nno terminal\nnothing is a terminal\nno settings\n"; out != want {
		t.Errorf("output = %q, want %q", out, want)
	}
}
