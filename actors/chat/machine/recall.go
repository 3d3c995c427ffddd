package machine

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// recallTurn handles the recall of a message. If no model has read the message, it ends as stopped. Otherwise the recall
// has no effect.
func (c *Chat) recallTurn(msg messages.AcceptIngress, turn journal.Turn) {
	gone, facts := c.withdrawn(msg.EditOf)
	facts = append(facts, journal.IngressSettled{Ingress: c.IngressOf(msg, turn), Fate: journal.FateIgnored, Reason: decision.ReasonRecalled})
	c.Offer(facts...)
	c.quoted.TakeBack(msg.EditOf)
	c.Answer(messages.IngressAccepted{ChatKey: c.Key, RequestID: msg.RequestID, TurnID: turn.ID})
	if gone != "" {
		c.dropped([]journal.Settled{{TurnID: gone}})
	}
}

// withdrawn returns the facts that remove the words of a recalled turn, or nothing if no model-unseen turn has that
// message id.
func (c *Chat) withdrawn(messageID string) (turnID string, facts []journal.Fact) {
	unseen := c.Unseen()
	i := slices.IndexFunc(unseen, func(t journal.Turn) bool { return t.Meta.MessageID == messageID && t.Meta.Album == "" })
	if i < 0 || messageID == "" {
		return "", nil
	}
	t := unseen[i]
	fate := journal.Settled{TurnID: t.ID, Fate: journal.FateStopped, Reason: decision.ReasonRecalled}
	if c.State.Run != nil { // it is queued in the lane and leaves it
		return t.ID, []journal.Fact{journal.TurnsSettled{Fates: []journal.Settled{fate}}}
	}
	// It is already in the history. Its words are removed; it is settled with the run that answers the other open
	// turns, or here if there are no others.
	blank := uimessage.Message{ID: t.ID, Role: uimessage.RoleUser, Metadata: t.Metadata, Parts: []uimessage.Part{uimessage.Text{Text: "[taken back]"}}}
	facts = append(facts, journal.TurnReplaced{Turn: blank})
	if len(unseen) == 1 {
		facts = append(facts, journal.RunFinished{
			RunID: "r_" + c.NewID(), Message: c.emptyMessage(decision.ReasonRecalled, fate), Result: journal.ResultStopped, Reason: decision.ReasonRecalled,
			Fates: []journal.Settled{fate},
		})
	}
	return t.ID, facts
}
