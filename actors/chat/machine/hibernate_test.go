package machine

import (
	"reflect"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// A chat that hibernates keeps what a chat keeps that is loaded again, and how long its last request was.
func TestHibernation(t *testing.T) {
	c := New(&decision.Options{}, "telegram:private:1", nil)
	c.ChatType, c.Title = "group", "Tea"
	c.Receipts = map[journal.RowKey][]messages.Receipt{{}: {{}}}
	c.Marked = map[string]string{"turn": "message"}
	c.trim, c.flooded = messages.Trim{Drop: 2}, time.Unix(1, 0)
	c.compaction.tries, c.compaction.stale = []int64{1, 2}, 3
	c.State = &journal.State{}
	c.Begin(decision.Input{})
	c.system.Offers([]string{"shell"})
	c.End()

	want := c.Left()
	want.trim = c.trim
	if got := c.Hibernated()(); !reflect.DeepEqual(got, want) {
		t.Errorf("the chat is\n%+v, want\n%+v", got, want)
	}
}
