package machine

import (
	"sync"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Words of the host do not come between an answer and the context in which it continues, for example while an operator
// has paused the chat: the answer would never continue.
func TestPostedWordsLetAnAnswerContinue(t *testing.T) {
	switched := uimessage.Message{ID: "a1", Role: uimessage.RoleAssistant, Metadata: uimessage.Metadata{Result: string(journal.ResultSwitched), RunID: "r1"}.Append(nil)}
	state, err := journal.Replay(journal.Snapshot{History: []uimessage.Message{switched}})
	stdtest.Must(t, err)
	o := decision.Options{Adapter: func(string) (decision.Adapter, bool) { return decision.Adapter{Outbox: true}, true }}.WithDefaults()
	c := New(&o, "telegram-chat-1", &sync.Pool{})
	c.Load(state, journal.Meta{}, nil, time.Unix(1, 0))
	p := c.Decide(decision.Input{
		Now: time.Unix(2, 0), NewID: func(time.Time) string { return "x" }, Msg: messages.PostWords{ChatKey: "telegram-chat-1", PostID: "p", Text: "Good morning."},
	})
	next := p.Commit()
	if last, _ := next.State.Turn("a1"); !next.State.IsLast("a1") || !last.Continues() || len(next.State.Pending()) != 1 {
		t.Errorf("the history ends with another message, or %d messages are to be sent", len(next.State.Pending()))
	}
}
