package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox/reexec"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestMain begins like main: sandboxes start this binary again, which would otherwise run all tests instead of a probe.
func TestMain(m *testing.M) {
	reexec.Main()
	testscript.Main(suite{m}, map[string]func(){"sma": func() { os.Exit(checked(run)) }})
}

// suite is all tests, with a folder for the program that some of them build.
type suite struct{ *testing.M }

func (s suite) Run() int {
	dir, err := os.MkdirTemp("", "sma-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary folder
	buildFolder = dir
	return s.M.Run()
}

// TestScripts runs the binary as people do; each script says first what it shows.
func TestScripts(t *testing.T) {
	schema, err := filepath.Abs("../../docs/reference/documents.schema.json")
	stdtest.Must(t, err)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("NO_COLOR", "1")
			env.Setenv(documents, schema)
			env.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE")) // commands end at once
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"code": code, "ready": ready, "term": term, "service": service, "execute": execute, "readyz": readyz},
	})
}
