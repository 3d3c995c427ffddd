package main

import (
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
)

// TestModelScripts runs the binary against services with habits of their own: one that is
// silent, one that is a web page, one whose answers are cut, and one that answers.
func TestModelScripts(t *testing.T) {
	answer := modeltest.Events(modeltest.Delta(`{"content":"From the other."}`, ""), modeltest.Delta(`{}`, "stop"), "[DONE]")
	servers := map[string]*modeltest.RawServer{
		"SILENT": modeltest.NewRawServer(modeltest.Raw{Hold: true}),
		"PAGE":   modeltest.NewRawServer(modeltest.Raw{Type: "text/html", Body: "<!doctype html><title>Welcome</title>"}),
		"HALF":   modeltest.NewRawServer(modeltest.Events(modeltest.Delta(`{"content":"Half an answer"}`, ""), modeltest.Delta(`{}`, "length"), "[DONE]")),
		"OTHER":  modeltest.NewRawServer(answer),
		"BREAKS": breaking(),
	}
	for _, s := range servers {
		t.Cleanup(s.Close)
	}
	t.Cleanup(func() { // the scripts run beside each other, and end before this
		if n := len(servers["SILENT"].Requests()); n != 1 {
			t.Errorf("the silent model was asked %d times", n)
		}
	})
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/models",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("NO_COLOR", "1")
			for name, s := range servers {
				env.Setenv(name, s.URL)
			}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"code": code, "ready": ready, "term": term, "try": try, "said": said},
	})
}

// breaking is a model whose answers break off twice when people have read words of them,
// and which later thinks and says nothing.
func breaking() *modeltest.RawServer {
	half := modeltest.Events(modeltest.Delta(`{"content":"Half an answer"}`, ""))
	half.Linger = time.Second
	whole := modeltest.Events(modeltest.Delta(`{"content":"The whole answer."}`, ""), modeltest.Delta(`{}`, "stop"), "[DONE]")
	thoughts := modeltest.Events(modeltest.Delta(`{"reasoning_content":"Hm."}`, ""), modeltest.Delta(`{}`, "stop"), "[DONE]")
	return modeltest.NewRawServer(half, whole, half, whole, thoughts)
}

// try runs a program whatever its exit code.
func try(ts *testscript.TestScript, _ bool, args []string) {
	_ = ts.Exec(args[0], args[1:]...) // its output is what counts
}

// said looks for a text in what the last program wrote, to either output.
func said(ts *testscript.TestScript, _ bool, args []string) {
	if out := ts.ReadFile("stdout") + ts.ReadFile("stderr"); !strings.Contains(out, args[0]) {
		ts.Fatalf("%q is not in\n%s", args[0], out)
	}
}
