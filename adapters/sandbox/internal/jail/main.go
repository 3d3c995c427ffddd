//go:build linux

package jail

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox/internal/box"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/internal/hold"
)

// The exit codes of shells for programs that cannot be started.
const (
	codeNotRunnable = 126
	codeNotFound    = 127
)

// The files that the process gets in addition to the standard streams.
const (
	configFD = 3 + iota
	statusFD
	pinsFD // if there are pins
)

// Main must be called first by every program that uses the package. In the intermediate process it does not return.
func Main() {
	if len(os.Args) > 0 && os.Args[0] == Name {
		os.Exit(run())
	}
	if len(os.Args) > 3 && os.Args[1] == Starter {
		os.Exit(startPinned(os.Args[2], os.Args[3:]))
	}
}

func run() int {
	runtime.LockOSThread() // so that no other goroutine gets the main thread, which represents the process to others
	if box.KeepFiles(configFD) != nil {
		return codeNotRunnable
	}
	in := bufio.NewReader(os.NewFile(configFD, "config"))
	out := json.NewEncoder(os.NewFile(statusFD, "status"))
	var c config
	line, err := in.ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &c) != nil {
		return codeNotRunnable // the host has ended
	}
	if c.Plan != nil {
		err = build(c)
	}
	if err != nil {
		_ = out.Encode(status{Error: err.Error()}) // the host may have ended
		return codeNotRunnable
	}
	if out.Encode(status{Ready: true}) != nil {
		return codeNotRunnable
	}
	if _, err := in.ReadString('\n'); err != nil {
		return codeNotRunnable // the host gave up or has ended
	}
	if err := keepFileLimit(); err != nil {
		return refuse(c.Argv[0], err)
	}
	if c.Plan == nil {
		return takeOver(c)
	}
	code, signal := start(c)
	if out.Encode(status{Ended: true, Code: code, Signal: signal}) != nil {
		return codeNotRunnable
	}
	return 0
}

// keepFileLimit keeps the limit of open files for the program. Otherwise the Go runtime would restore the limit with
// which this process was started.
func keepFileLimit() error {
	var now syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &now); err != nil {
		return os.NewSyscallError("getrlimit", err)
	}
	return os.NewSyscallError("setrlimit", syscall.Setrlimit(syscall.RLIMIT_NOFILE, &now))
}

// refuse writes to the program's own stderr why the program cannot run.
func refuse(name string, err error) int {
	_, _ = fmt.Fprintf(os.Stderr, "sma: cannot run %s: %v\n", name, err) // nowhere else to report it
	if errors.Is(err, os.ErrNotExist) {
		return codeNotFound
	}
	return codeNotRunnable
}

// takeOver replaces this process by the program.
func takeOver(c config) int {
	if err := os.Chdir(c.Dir); err != nil {
		return refuse(c.Argv[0], err)
	}
	path, err := find(c.Argv[0], c.Env)
	if err == nil {
		err = syscall.Exec(path, c.Argv, c.Env) //nolint:gosec // running it is what this is for
	}
	return refuse(c.Argv[0], err)
}

// start runs the program from a thread that has dropped its privileges. The process itself keeps them, so that the
// program cannot trace it.
func start(c config) (code int, signal string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked
		if err := confine(c); err != nil {
			code = refuse(c.Argv[0], err)
			return
		}
		code, signal = supervise(c)
	}()
	<-done
	return code, signal
}

// supervise runs the program and reaps all children until the program has ended.
func supervise(c config) (code int, signal string) {
	if err := hold.SetApart(c.Network); err != nil {
		return refuse(c.Argv[0], err), ""
	}
	path, err := find(c.Argv[0], c.Env)
	if len(c.Plan.Pins) > 0 {
		if err := hold.Install(pinsFD); err != nil {
			return refuse(c.Argv[0], err), ""
		}
	}
	if err != nil {
		return refuse(c.Argv[0], err), ""
	}
	pid, err := syscall.ForkExec(path, c.Argv, &syscall.ProcAttr{ //nolint:gosec // running it is what this is for
		Dir: c.Dir, Env: c.Env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return refuse(c.Argv[0], &os.PathError{Op: "exec", Path: path, Err: err}), ""
	}
	for {
		var ws syscall.WaitStatus
		got, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR) || err == nil && got != pid:
		case err != nil:
			return -1, ""
		case ws.Signaled():
			return -1, unix.SignalName(ws.Signal())
		default:
			return ws.ExitStatus(), ""
		}
	}
}

// find is the path of a program, according to the PATH of its environment.
func find(name string, env []string) (string, error) {
	if strings.ContainsRune(name, '/') {
		return name, nil
	}
	path := "/usr/local/bin:/usr/bin:/bin"
	for _, v := range env {
		if value, ok := strings.CutPrefix(v, "PATH="); ok {
			path = value
		}
	}
	for dir := range strings.SplitSeq(path, ":") {
		at := filepath.Join(dir, name)
		if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() && unix.Access(at, unix.X_OK) == nil {
			return at, nil
		}
	}
	return "", &os.PathError{Op: "find", Path: name, Err: os.ErrNotExist}
}
