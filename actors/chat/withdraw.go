package chat

import (
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
)

// reasonTakenBack is why a message that its author took back ended, and what the order
// to do so was about.
const reasonTakenBack = "taken_back"

// takeBack is somebody's withdrawal of a message. One that no model has read ends as
// stopped and is never read; of one that a model has read nobody is told anything, as
// nothing can be unread.
func (c *chat) takeBack(ac actor.Context, msg messages.AcceptIngress, turn persistence.Turn) {
	gone, facts := c.withdrawn(msg.EditOf)
	facts = append(facts, persistence.IngressSettled{Ingress: c.ingressOf(msg, turn), Fate: persistence.FateIgnored, Reason: reasonTakenBack})
	if c.offer(ac, facts...) != nil {
		c.refuse(ac, msg)
		return
	}
	c.quoted.list = slices.DeleteFunc(c.quoted.list, func(q uimessage.Quoted) bool { return q.MessageID == msg.EditOf })
	c.answer(ac, messages.IngressAccepted{ChatKey: c.key, RequestID: msg.RequestID, TurnID: turn.ID})
	if gone != "" {
		c.unfetch(gone)
		c.settledFrame(ac, gone)
		if c.holding.IsZero() {
			c.next(ac)
		}
	}
	c.restLater()
}

// withdrawn are the facts by which no model reads the words of a turn any more; none
// if there is no such turn that waits.
func (c *chat) withdrawn(messageID string) (turnID string, facts []persistence.Fact) {
	unseen := c.unseen()
	i := slices.IndexFunc(unseen, func(t persistence.Turn) bool { return t.Meta.MessageID == messageID && t.Meta.Album == "" })
	if i < 0 || messageID == "" {
		return "", nil
	}
	t := unseen[i]
	fate := persistence.Settled{TurnID: t.ID, Fate: persistence.FateStopped, Reason: reasonTakenBack}
	if c.state.Run != nil { // it waits in the lane, and leaves it
		return t.ID, []persistence.Fact{persistence.TurnsSettled{Fates: []persistence.Settled{fate}}}
	}
	// It is in the history already: its words go, and its fate is that of the run which
	// others wait for with it, or of one that does nothing.
	blank := uimessage.Message{ID: t.ID, Role: uimessage.RoleUser, Metadata: t.Metadata, Parts: []uimessage.Part{uimessage.Text{Text: "[taken back]"}}}
	facts = append(facts, persistence.TurnReplaced{Turn: blank})
	if len(unseen) == 1 {
		facts = append(facts, persistence.RunFinished{
			RunID: "r_" + newID(time.Now()), Message: c.nothingSaid(fate), Result: persistence.ResultStopped, Reason: reasonTakenBack,
			Fates: []persistence.Settled{fate},
		})
	}
	return t.ID, facts
}

// nothingSaid is the empty message of a run that ended before it began.
func (c *chat) nothingSaid(fate persistence.Settled) uimessage.Message {
	meta := c.plainMeta()
	meta.Result, meta.Reason = string(persistence.ResultStopped), fate.Reason
	meta.Fates = []uimessage.FateRecord{{ID: fate.TurnID, Fate: fate.Fate, Reason: fate.Reason}}
	return uimessage.Message{ID: "a:" + string(c.key) + ":" + newID(time.Now()), Role: uimessage.RoleAssistant, Metadata: meta.Append(nil)}
}
