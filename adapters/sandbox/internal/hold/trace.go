//go:build linux

package hold

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// hold lets a call continue and stops its thread before the call returns. The thread continues only if everything is
// still in place: what it opened or executed is then the pinned file, or an unrelated one.
func (g *Guard) hold(n *notice, name string) {
	runtime.LockOSThread() // never unlocked, because tracing is per thread
	tid := int(n.Pid)
	group := groupOf(tid)
	err := seize(tid)
	if err == nil && !g.valid(n) {
		_ = unix.PtraceDetach(tid) // it had ended before
		return
	}
	if err != nil {
		if !errors.Is(err, unix.ESRCH) {
			g.fail(n, unix.EPERM) // another process traces it, or tracing is not permitted
		}
		return
	}
	// It sleeps until it is answered, so every stop happens at the end of the call.
	err = unix.PtraceInterrupt(tid)
	g.step(StepAnswered, name)
	if err == nil {
		g.goOn(n)
	}
	pid, signal := stopped(tid, group)
	if pid == 0 {
		return // it has ended
	}
	if g.intact() {
		detach(pid, signal)
		return
	}
	_ = unix.Kill(pid, unix.SIGKILL) // first of all, because it must not continue
	g.lose()
	reap(pid)
}

// seize makes the calling thread the tracer of another one, which continues to run. The other thread also stops after
// it has executed a program.
func seize(tid int) error {
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(tid), 0, unix.PTRACE_O_TRACEEXEC, 0, 0)
	if errno != 0 {
		return os.NewSyscallError("ptrace", errno)
	}
	return nil
}

// detach lets a stopped thread continue untraced, with its pending signal.
func detach(tid int, signal unix.Signal) {
	_, _, _ = unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_DETACH, uintptr(tid), 0, uintptr(signal), 0, 0) // it may be gone
}

// stopped waits until a thread stops, and returns its id, which on exec becomes that of the process. It returns 0 if
// the thread has ended.
func stopped(tid, group int) (int, unix.Signal) {
	how := unix.WALL | unix.WNOTHREAD
	ids := []int{tid}
	var tick <-chan time.Time
	if tid != group {
		ids, how = []int{tid, group}, how|unix.WNOHANG
		t := time.NewTicker(time.Millisecond)
		defer t.Stop()
		tick = t.C
	}
	for {
		gone := 0
		for _, id := range ids {
			var ws unix.WaitStatus
			got, err := unix.Wait4(id, &ws, how, nil)
			switch {
			case errors.Is(err, unix.EINTR) || err == nil && got == 0:
			case err != nil || ws.Exited() || ws.Signaled():
				gone++
			case int(ws)>>16 != 0: // a stop by the kernel itself
				return id, 0
			default:
				return id, ws.StopSignal()
			}
		}
		if gone == len(ids) {
			return 0, 0
		}
		if tick != nil {
			<-tick
		}
	}
}

// reap waits for the end of a killed thread, which only its tracer can do.
func reap(pid int) {
	for {
		var ws unix.WaitStatus
		_, err := unix.Wait4(pid, &ws, unix.WALL|unix.WNOTHREAD, nil)
		if err != nil && !errors.Is(err, unix.EINTR) || err == nil && (ws.Exited() || ws.Signaled()) {
			return
		}
	}
}

// groupOf is the process of a thread.
func groupOf(tid int) int {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", tid))
	if err != nil {
		return tid
	}
	for line := range bytes.Lines(data) {
		if value, ok := bytes.CutPrefix(line, []byte("Tgid:")); ok {
			if group, err := strconv.Atoi(string(bytes.TrimSpace(value))); err == nil {
				return group
			}
		}
	}
	return tid
}
