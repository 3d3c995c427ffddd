package reply

import (
	"bufio"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestAP3Cases checks the cases in the folder APPROVAL_CASES, or in testdata.
func TestAP3Cases(t *testing.T) {
	file, err := os.Open(filepath.Join(cmp.Or(os.Getenv("APPROVAL_CASES"), "testdata"), "reply-cases.jsonl"))
	stdtest.Must(t, err)
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	n := 0
	for lines.Scan() {
		var c struct {
			ID, Reply string
			Pending   []string
			Expect    Reply
		}
		stdtest.Must(t, json.Unmarshal(lines.Bytes(), &c))
		n++
		if diff := gocmp.Diff(c.Expect, Parse(c.Reply, c.Pending, "ship_bot"), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %q to %q (-want +got):\n%s", c.ID, c.Reply, c.Pending, diff)
		}
	}
	if err := lines.Err(); err != nil || n == 0 {
		t.Errorf("read %d cases: %v", n, err)
	}
}
