package machine

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// reasonTask is the reason recorded for messages that come from a task and not from a run.
const reasonTask = "task"

// postWords adds words of the host to the chat. In an idle chat they become an assistant message. Otherwise they are
// only sent; in a chat without an outbox the answer is "busy".
func (c *Chat) postWords(msg messages.PostWords) {
	id := reasonTask + ":" + msg.PostID
	done := messages.WordsPosted{ChatKey: c.Key, PostID: msg.PostID}
	if c.State.Known(id) {
		c.Answer(done)
		return
	}
	if msg.Chinese != "" {
		msg.Text = c.Localized(notices.Text{msg.Text, msg.Chinese})
	}
	rest := c.State.Rests() && !c.Closing
	if !rest && !c.Via.Outbox {
		done.Reason = "busy"
		c.Answer(done)
		return
	}
	settled := journal.IngressSettled{
		Ingress: journal.Ingress{ID: id, Seq: c.State.Seq + 1, RequestID: msg.RequestID}, Fate: journal.FateAnswered, Reason: reasonTask,
	}
	row := journal.Row{Key: journal.RowKey{MessageID: "h:" + id, N: 1}, RequestID: msg.RequestID, Text: msg.Text}
	turn := uimessage.Message{ID: "a:" + string(c.Key) + ":" + c.NewID(), Role: uimessage.RoleAssistant, Parts: []uimessage.Part{uimessage.Text{Text: msg.Text}}}
	if !rest {
		settled.Rows = c.postRows(row)
	}
	facts := []journal.Fact{settled}
	if rest {
		row.Key.MessageID = turn.ID
		meta := c.PlainMeta()
		meta.Source, meta.RequestID, meta.Seq, meta.Result = uimessage.SourceTask, msg.RequestID, settled.Ingress.Seq, string(journal.ResultDone)
		meta.RunID, meta.Model, meta.Demo = "r_"+c.NewID(), "", false
		turn.Metadata = meta.Append(nil)
		facts = append(facts, journal.RunFinished{
			RunID: meta.RunID, Message: turn, Result: journal.ResultDone, Reason: reasonTask, Rows: c.postRows(row),
		})
	}
	if strings.TrimSpace(msg.Text) == "" { // empty words are only recorded
		facts = facts[:1]
	}
	c.Wake()
	c.Offer(facts...)
	c.Answer(done)
	c.Audit(decision.AuditEntry{Event: "egress", RequestID: msg.RequestID, Reason: reasonTask})
	if c.State.Row(row.Key) != nil {
		c.DeliverRows([]journal.Row{row})
	}
	if rest {
		c.Frame(messages.ChatProgressed{Kind: "start", MessageID: turn.ID, Chunks: uistream.Replay(turn), Replay: true})
		c.EndFrame(turn.ID, string(journal.ResultDone), nil, true)
	}
}

// postRows returns the outbox row for words to people, or nothing in a chat without an outbox.
func (c *Chat) postRows(row journal.Row) []journal.Row {
	if !c.Via.Outbox || strings.TrimSpace(row.Text) == "" {
		return nil
	}
	return []journal.Row{row}
}

// saidID is the id of the message that a call of another chat creates here. Repeating the call gives the same id.
func (c *Chat) saidID(msg messages.QueueEgress) string {
	sum := sha256.Sum256([]byte(msg.CallID))
	return "a:" + string(c.Key) + ":x-" + hex.EncodeToString(sum[:8])
}

// hasSaid reports whether the message of a call of another chat already exists here.
func (c *Chat) hasSaid(msg messages.QueueEgress) bool {
	id := c.saidID(msg)
	return c.State.Has(id) || slices.ContainsFunc(c.State.Said, func(t journal.Turn) bool { return t.ID == id })
}

// sayFor adds the message of a call of another chat. It is sent to the people of this chat and becomes part of the
// history, so that the next run sees it. It does not start a run.
func (c *Chat) sayFor(msg messages.QueueEgress, row journal.Row) {
	var facts []journal.Fact
	if c.Via.Outbox {
		facts = append(facts, journal.EgressQueued{Row: row})
	}
	if words := strings.TrimSpace(msg.Text); words != "" {
		meta := c.PlainMeta()
		meta.Source, meta.Model, meta.Demo = uimessage.SourceContact, "", false
		facts = append(facts, journal.WordsSaid{Message: uimessage.Message{
			ID: c.saidID(msg), Role: uimessage.RoleAssistant, Parts: []uimessage.Part{uimessage.Text{Text: words}}, Metadata: meta.Append(nil),
		}})
	}
	before := len(c.State.History)
	c.Wake()
	c.Offer(facts...)
	if !c.Via.Outbox {
		c.Answer(messages.EgressAnswer{Delivered: true, Parts: 1})
	} else {
		c.DeliverRows([]journal.Row{row})
		c.waitFor(row.Key)
	}
	c.showSaid(before)
}

// showSaid shows watchers the messages that calls of other chats added to the history, from an index on.
func (c *Chat) showSaid(from int) {
	for _, t := range c.State.History[min(from, len(c.State.History)):] {
		if t.Meta.Source == uimessage.SourceContact {
			c.Frame(messages.ChatProgressed{Kind: "start", MessageID: t.ID, Chunks: uistream.Replay(t.Message), Replay: true})
			c.EndFrame(t.ID, string(journal.ResultDone), nil, true)
		}
	}
}
