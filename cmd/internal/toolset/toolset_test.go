package toolset_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/tool/tooltest"
	"github.com/shipmyagent/shipmyagent/cmd/internal/toolset"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestToolSetKnowsWhatIsGone(t *testing.T) {
	own := tooltest.New("read_file", nil)
	set, err := toolset.New(own, tooltest.New("files:a.b", nil), tooltest.New("files:a/b", nil))
	stdtest.Must(t, err)
	wire := set.WireName("files:a.b")
	stdtest.Must(t, set.Replace(own))
	if got := set.WireName("files:a.b"); got != wire {
		t.Errorf("the wire name of a tool that is gone changed from %s to %s", wire, got)
	}
	if got := set.Name(wire); got != "files:a.b" {
		t.Errorf("Name(%s) = %s", wire, got)
	}
	if _, there := set.Find("files:a.b"); there {
		t.Error("a tool that is gone is found")
	}
	if err := set.Validate("files:a.b", json.RawMessage(`{}`)); err == nil || !strings.Contains(err.Error(), "not offered any more") {
		t.Errorf("Validate = %v", err)
	}
	if err := set.Replace(own, tooltest.New("read_file", nil)); err == nil {
		t.Error("two tools of one name are in a set")
	}
	stdtest.Must(t, set.Replace(own, tooltest.New("files:a.b", nil)))
	if got := set.Name(set.WireName("files:a.b")); got != "files:a.b" || set.Validate("files:a.b", json.RawMessage(`{}`)) != nil {
		t.Errorf("a tool that is back is %s", got)
	}
}
