package quoting

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// A recall that the store refuses leaves what is quoted as it was.
func TestTakeBackLeavesTheQuotingBefore(t *testing.T) {
	before := Quoting{read: true, list: []uimessage.Quoted{{MessageID: "1", Text: "a"}, {MessageID: "2", Text: "b"}}}
	next := before
	next.TakeBack("1")
	want := []uimessage.Quoted{{MessageID: "1", Text: "a"}, {MessageID: "2", Text: "b"}}
	if diff := cmp.Diff(want, before.list); diff != "" || len(next.list) != 1 {
		t.Errorf("before (-want +got), after it %d are left:\n%s", len(next.list), diff)
	}
}
