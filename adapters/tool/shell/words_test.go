package shell_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/shell"
)

// Commands that would take long to check do not hold the host up.
func TestLongCommandsAreReadSoon(t *testing.T) {
	w := newWorld(t)
	script := w.write("x.sh", "echo hi\n", 0o755)
	for name, input := range map[string]obj{
		"programs that start programs": {"command": strings.Repeat("env ", 3000) + "bash x.sh"},
		"in words":                     {"argv": append(slices.Repeat([]string{"nice"}, 250), "bash", "x.sh")},
		"shells in shells":             {"command": "find . " + strings.Repeat("-exec bash -c 'nice bash -c \"x y\"' ", 400) + "bash x.sh"},
		"many shells":                  {"command": "find . " + strings.Repeat("bash a", 1500) + " ; bash x.sh"},
	} {
		t.Run(name, func(t *testing.T) {
			input["why"] = "a test"
			done := make(chan tool.Explanation, 1)
			go func() { done <- w.explain(call(shell.ExecName, input)) }()
			select {
			case e := <-done:
				if !strings.Contains(e.Risk, filepath.Base(script)) {
					t.Errorf("risk %q, want it to name the script that runs", e.Risk)
				}
			case <-time.After(patience):
				t.Fatal("it is still being read")
			}
		})
	}
}

// A short text that a shell would expand to very many words is refused.
func TestTooManyWordsAreRefused(t *testing.T) {
	w := newWorld(t)
	c := call(shell.ExecName, obj{"command": "echo " + strings.Repeat("{1..4000} ", 1500), "why": "a test"})
	explainer, ok := w.tools[shell.ExecName].(tool.Explainer)
	if !ok {
		t.Fatal("no explainer")
	}
	if _, err := explainer.Explain(c); err == nil || !strings.Contains(err.Error(), "too many files") {
		t.Errorf("explained: %v, want it refused", err)
	}
}
