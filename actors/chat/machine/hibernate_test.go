package machine

import (
	"reflect"
	"slices"
	"strings"
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

// For every field of a chat it has been decided whether a chat that hibernates keeps it.
func TestHibernationKnowsAllFields(t *testing.T) {
	kept := strings.Fields("Options Key spares ChatType Title Receipts Marked paging quoted files system memory trim cheaper flooded compaction")
	derived := strings.Fields("Base session Addr Platform Via outbox") // New makes these
	loaded := strings.Fields("Store State KeptTries KeptTokens cache size")
	empty := strings.Fields("RunID RunChild Watching Handed Delayed Waits Closing requests run asks first since holding moved forgets drainer")
	passing := strings.Fields("In Plan planned owns picturesAged rests restsAt lookedAt ended grew")
	known := slices.Concat(kept, derived, loaded, empty, passing)
	for _, of := range []reflect.Type{reflect.TypeFor[Chat](), reflect.TypeFor[session](), reflect.TypeFor[decision.Base]()} {
		for f := range of.Fields() {
			if !slices.Contains(known, f.Name) {
				t.Errorf("%s.%s: say in [Chat.Hibernated] and here whether it is kept", of, f.Name)
			}
		}
	}
}
