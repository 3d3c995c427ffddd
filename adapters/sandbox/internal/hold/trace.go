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

// hold lets a call go on and stops its thread before it returns from it. Only
// if everything is still in place the thread goes on: what it opened or became
// is then what was pinned, or has nothing to do with it.
func (g *Guard) hold(n *notice, name string) {
	runtime.LockOSThread() // never unlocked: the kernel traces by thread
	tid := int(n.Pid)
	group := groupOf(tid)
	err := unix.PtraceSeize(tid)
	if err == nil && !g.valid(n) {
		_ = unix.PtraceDetach(tid) // it was gone before
		return
	}
	if err != nil {
		if !errors.Is(err, unix.ESRCH) {
			g.fail(n, unix.EPERM) // another one traces it, or nobody may
		}
		return
	}
	// It is asleep until it is answered, and stops when it would leave the kernel.
	err = unix.PtraceInterrupt(tid)
	g.step(StepAnswered, name)
	if err == nil {
		g.goOn(n)
	}
	pid, stopped := g.stopped(tid, group)
	if !stopped {
		return // gone
	}
	if g.intact() {
		_ = unix.PtraceDetach(pid) // it may be gone
		return
	}
	_ = unix.Kill(pid, unix.SIGKILL) // before anything else, as it must not go on
	g.lose()
	reap(pid)
}

// stopped waits until a thread stops, and says by which number: one that
// executes takes its process's.
func (g *Guard) stopped(tid, group int) (int, bool) {
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
			case int(ws)>>16 == unix.PTRACE_EVENT_STOP:
				return id, true
			default: // a signal on its way
				_ = unix.PtraceCont(id, int(ws.StopSignal())) // it may be gone
			}
		}
		if gone == len(ids) {
			return 0, false
		}
		if tick != nil {
			<-tick
		}
	}
}

// reap waits for the end of a thread that was killed: nobody else can.
func reap(pid int) {
	for {
		var ws unix.WaitStatus
		_, err := unix.Wait4(pid, &ws, unix.WALL|unix.WNOTHREAD, nil)
		if err != nil && !errors.Is(err, unix.EINTR) || err == nil && (ws.Exited() || ws.Signaled()) {
			return
		}
	}
}

// groupOf is the process that a thread belongs to.
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
