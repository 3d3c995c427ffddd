package grant

import (
	"bufio"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestAP1Cases checks the cases in the folder APPROVAL_CASES, or in testdata.
func TestAP1Cases(t *testing.T) {
	policy := shippedPolicy(t)
	file, err := os.Open(filepath.Join(cmp.Or(os.Getenv("APPROVAL_CASES"), "testdata"), "shell-cases.jsonl"))
	stdtest.Must(t, err)
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	n := 0
	for lines.Scan() {
		var c struct {
			ID, Command, Expect, Why string
			Rule                     string `json:"allow_rule"`
		}
		stdtest.Must(t, json.Unmarshal(lines.Bytes(), &c))
		n++
		if got := Decide(c.Command, c.Rule, policy); string(got) != c.Expect {
			t.Errorf("%s: %q under %q: got %s, want %s (%s)", c.ID, c.Command, c.Rule, got, c.Expect, c.Why)
		}
	}
	if err := lines.Err(); err != nil || n == 0 {
		t.Errorf("read %d cases: %v", n, err)
	}
}

func shippedPolicy(tb testing.TB) *Policy {
	tb.Helper()
	p := Shipped()
	if p == nil {
		tb.Fatal("policy.json cannot be read")
	}
	return p
}
