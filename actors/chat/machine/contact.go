package machine

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// saidID is the id of the message that a call of another chat creates here. Repeating the call gives the same id.
func (c *Chat) saidID(msg messages.QueueEgress) string {
	sum := sha256.Sum256([]byte(msg.CallID))
	return "a:" + string(c.key) + ":x-" + hex.EncodeToString(sum[:8])
}

// knowsSaid reports whether the message of a call of another chat already exists here.
func (c *Chat) knowsSaid(msg messages.QueueEgress) bool {
	id := c.saidID(msg)
	return c.state.Has(id) || slices.ContainsFunc(c.state.Said, func(t journal.Turn) bool { return t.ID == id })
}

// sayFor adds the message of a call of another chat. It is sent to the people of this chat and becomes part of the
// history, so that the next run sees it. It does not start a run.
func (c *Chat) sayFor(msg messages.QueueEgress, row journal.Row) {
	var facts []journal.Fact
	if c.via.Outbox {
		facts = append(facts, journal.EgressQueued{Row: row})
	}
	if words := strings.TrimSpace(msg.Text); words != "" {
		meta := c.plainMeta()
		meta.Source, meta.Model, meta.Demo = uimessage.SourceContact, "", false
		facts = append(facts, journal.WordsSaid{Message: uimessage.Message{
			ID: c.saidID(msg), Role: uimessage.RoleAssistant, Parts: []uimessage.Part{uimessage.Text{Text: words}}, Metadata: meta.Append(nil),
		}})
	}
	before := len(c.state.History)
	c.wake()
	c.offer(facts...)
	if !c.via.Outbox {
		c.answer(messages.EgressAnswer{Delivered: true, Parts: 1})
	} else {
		c.deliverRows([]journal.Row{row})
		c.waitFor(row.Key)
	}
	c.showSaid(before)
}

// showSaid shows watchers the messages that calls of other chats added to the history, from an index on.
func (c *Chat) showSaid(from int) {
	for _, t := range c.state.History[min(from, len(c.state.History)):] {
		if t.Meta.Source == uimessage.SourceContact {
			c.frame(messages.ChatProgressed{Kind: "start", MessageID: t.ID, Chunks: uistream.Replay(t.Message), Replay: true})
			c.endFrame(t.ID, string(journal.ResultDone), nil, true)
		}
	}
}
