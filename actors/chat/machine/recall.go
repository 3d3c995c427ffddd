package machine

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// reasonTakenBack is the reason of a message that its author recalled, and of the recall itself.
const reasonTakenBack = "taken_back"

// reasonStopAll is the reason of queued turns that ended because a person stopped all.
const reasonStopAll = "stop all"

// takeBack handles the recall of a message. If no model has read the message, it ends as stopped. Otherwise the recall
// has no effect.
func (c *Chat) takeBack(msg messages.AcceptIngress, turn journal.Turn) {
	gone, facts := c.withdrawn(msg.EditOf)
	facts = append(facts, journal.IngressSettled{Ingress: c.ingressOf(msg, turn), Fate: journal.FateIgnored, Reason: reasonTakenBack})
	c.offer(facts...)
	c.quoted.list = slices.DeleteFunc(c.quoted.list, func(q uimessage.Quoted) bool { return q.MessageID == msg.EditOf })
	c.answer(messages.IngressAccepted{ChatKey: c.key, RequestID: msg.RequestID, TurnID: turn.ID})
	if gone != "" {
		c.dropped([]journal.Settled{{TurnID: gone}})
	}
}

// withdrawn returns the facts that remove the words of a recalled turn, or nothing if no model-unseen turn has that
// message id.
func (c *Chat) withdrawn(messageID string) (turnID string, facts []journal.Fact) {
	unseen := c.unseen()
	i := slices.IndexFunc(unseen, func(t journal.Turn) bool { return t.Meta.MessageID == messageID && t.Meta.Album == "" })
	if i < 0 || messageID == "" {
		return "", nil
	}
	t := unseen[i]
	fate := journal.Settled{TurnID: t.ID, Fate: journal.FateStopped, Reason: reasonTakenBack}
	if c.state.Run != nil { // it is queued in the lane and leaves it
		return t.ID, []journal.Fact{journal.TurnsSettled{Fates: []journal.Settled{fate}}}
	}
	// It is already in the history. Its words are removed; it is settled with the run that answers the other open
	// turns, or here if there are no others.
	blank := uimessage.Message{ID: t.ID, Role: uimessage.RoleUser, Metadata: t.Metadata, Parts: []uimessage.Part{uimessage.Text{Text: "[taken back]"}}}
	facts = append(facts, journal.TurnReplaced{Turn: blank})
	if len(unseen) == 1 {
		facts = append(facts, journal.RunFinished{
			RunID: "r_" + c.newID(), Message: c.nothingSaid(reasonTakenBack, fate), Result: journal.ResultStopped, Reason: reasonTakenBack,
			Fates: []journal.Settled{fate},
		})
	}
	return t.ID, facts
}

// nothingSaid returns the empty message of a run that ended before it began.
func (c *Chat) nothingSaid(reason string, fates ...journal.Settled) uimessage.Message {
	meta := c.plainMeta()
	meta.Result, meta.Reason = string(journal.ResultStopped), reason
	for _, f := range fates {
		meta.Fates = append(meta.Fates, uimessage.FateRecord{ID: f.TurnID, Fate: f.Fate, Reason: f.Reason})
	}
	return uimessage.Message{ID: "a:" + string(c.key) + ":" + c.newID(), Role: uimessage.RoleAssistant, Metadata: meta.Append(nil)}
}

// stopOpen settles the open turns while no run is in progress. They are already in the history and stay there,
// answered by an empty message.
func (c *Chat) stopOpen(requestID string) {
	fact := journal.RunFinished{RunID: "r_" + c.newID(), Result: journal.ResultStopped, Reason: reasonStopAll}
	for _, t := range c.state.Open() {
		fact.Fates = append(fact.Fates, journal.Settled{TurnID: t.ID, Fate: journal.FateStopped, Reason: reasonStopAll})
	}
	fact.Message = c.nothingSaid(reasonStopAll, fact.Fates...)
	c.append(fact)
	c.audit(AuditEntry{Event: "stop", RequestID: requestID, RunID: fact.RunID})
	c.dropped(fact.Fates)
}

// dropped cleans up after queued turns that ended without a run.
func (c *Chat) dropped(fates []journal.Settled) {
	for _, f := range fates {
		c.unfetch(f.TurnID)
		c.settledFrame(f.TurnID)
	}
}
