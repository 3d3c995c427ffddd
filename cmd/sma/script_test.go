package main

import (
	"encoding/json"
	"errors"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// code runs a command and demands its exit code: code 2 sma verson.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code <number> <command> [args]")
	}
	want, err := strconv.Atoi(args[0])
	if err != nil {
		ts.Fatalf("%q is no exit code", args[0])
	}
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// ready waits until the host of a project takes messages: ready <dir> [flags].
func ready(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: ready <dir> [flags]")
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(20 * time.Second)
	for ts.Exec("sma", append([]string{"status", "--probe", "--dir"}, args...)...) != nil {
		select {
		case <-tick.C:
		case <-late:
			ts.Fatalf("no host is ready in %s", args[0])
		}
	}
}

// term asks the host of a project to stop, as a service manager does: term <dir> [flags].
func term(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: term <dir> [flags]")
	}
	ts.Check(ts.Exec("sma", append([]string{"status", "--json", "--dir"}, args...)...))
	var status struct{ PID int }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &status))
	ts.Check(syscall.Kill(status.PID, syscall.SIGTERM))
}
