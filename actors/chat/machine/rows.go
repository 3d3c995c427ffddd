package machine

import (
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/parts"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// draftRow returns the row that the text in progress will become. The row is durable before its placeholder is sent,
// so that a crash leaves no orphaned placeholder in the chat.
func (c *Chat) draftRow() journal.RowKey {
	run := c.State.Run
	key := journal.RowKey{MessageID: run.MessageID, N: c.nextRow()}
	if c.State.Row(key) != nil {
		return key
	}
	row := journal.Row{Key: key, RunID: run.ID, RequestID: run.RequestID, Open: true}
	c.Append(journal.EgressQueued{Row: row})
	return key
}

// own returns the part of its message that the run itself added.
func (c *Chat) own(m uimessage.Message) uimessage.Message {
	m.Parts = m.Parts[min(c.State.Run.Base, len(m.Parts)):]
	return m
}

// rowsOf returns the outbox rows of a message: its words and the notice. If people see a draft, it is always
// completed.
func (c *Chat) rowsOf(m uimessage.Message, words, notice string) []journal.Row {
	if !c.Via.Outbox {
		return nil
	}
	run := c.State.Run
	key := journal.RowKey{MessageID: run.MessageID, N: c.nextRow()}
	words = c.paging.First(key, words)
	switch {
	case notice != "" && uimessage.IsBlank(words):
		words = notice
	case notice != "":
		words = strings.TrimSpace(words + "\n\n" + notice)
	}
	if strings.TrimSpace(words) == "" && c.State.Row(key) != nil {
		if words = c.run.draft; words == "" {
			words = journal.Text(m)
		}
		words = strings.TrimSpace(words + " …")
	}
	if strings.TrimSpace(words) == "" {
		return nil
	}
	return []journal.Row{{Key: key, RunID: run.ID, RequestID: run.RequestID, Text: words, ReplyTo: c.replyAnchor()}}
}

// drafted reports whether the next row completes a draft.
func (c *Chat) drafted() bool {
	row := c.State.Row(journal.RowKey{MessageID: c.State.Run.MessageID, N: c.nextRow()})
	return c.Via.Outbox && row != nil && row.Open
}

// lastWords returns the words of the run's last message that are sent to people. With egress by tool these are only
// sent if no tool has sent anything since the newest turn became visible.
func (c *Chat) lastWords(m uimessage.Message, result journal.Result) string {
	switch {
	case result == journal.ResultStopped:
		return "" // the person who stopped it does not need it
	case !c.Via.ToolEgress:
		return journal.Text(m)
	case result == journal.ResultSwitching:
		return "" // the run continues
	case c.State.Run.Spoke && c.gotThrough():
		return ""
	}
	return parts.FinalText(m)
}

// gotThrough reports whether at least one message that calls sent since the newest turn was not parked.
func (c *Chat) gotThrough() bool {
	for _, key := range c.State.Run.Rows {
		if row := c.State.Row(key); key.MessageID == c.State.Run.MessageID && (row == nil || !row.Parked) {
			return true
		}
	}
	return false
}

// wordsBefore returns the words that are sent for a message that a merge closes.
func (c *Chat) wordsBefore(m uimessage.Message) string {
	if c.Via.ToolEgress {
		return ""
	}
	return journal.Text(m)
}

// nextRow returns the number of the next outbox row: that of the visible draft if there is one.
func (c *Chat) nextRow() int {
	run := c.State.Run
	key := journal.RowKey{MessageID: run.MessageID, N: run.Egress}
	if row := c.State.Row(key); row != nil && row.Open {
		return run.Egress
	}
	return run.Egress + 1
}

// replyAnchor returns the message that an answer replies to: in groups the newest turn it answers. A draft and the row
// that completes it use the same one. A run that continues after a decision answers no new turn, but its words still
// belong in the thread in which its message began.
func (c *Chat) replyAnchor() string {
	if t, ok := c.answers(); ok {
		return c.ReplyTo(t)
	}
	if t := c.NewestBefore(c.State.Run.MessageID); c.InThread(t) {
		return c.ReplyTo(t)
	}
	return ""
}

// answers returns the newest turn that the run answers.
func (c *Chat) answers() (journal.Turn, bool) {
	visible := c.State.Run.Visible
	if len(visible) == 0 {
		return journal.Turn{}, false
	}
	return c.State.Turn(visible[len(visible)-1].TurnID)
}
