package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox/reexec"
)

// TestMain begins like main: sandboxes come back into this very binary, and without
// that they would run all of the tests in the place of a probe.
func TestMain(m *testing.M) {
	reexec.Main()
	testscript.Main(m, map[string]func(){"sma": func() { os.Exit(run()) }})
}

// TestScripts runs the binary as people do; each script says first what it shows.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("NO_COLOR", "1")
			env.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE")) // commands end at once
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"code": code, "ready": ready, "term": term},
	})
}
