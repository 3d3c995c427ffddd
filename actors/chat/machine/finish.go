package machine

import (
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// finish ends the run: the assistant message, the fates it settles and what it
// owes to people become durable in one fact.
func (c *Chat) finish(result journal.Result, reason string) {
	run := c.state.Run
	m := c.run.reducer.Snapshot()
	m.ID, m.Role = run.MessageID, uimessage.RoleAssistant
	m.Parts = closeParts(m.Parts, result, max(c.run.kept, len(run.Parts)))
	fates := c.fates(result, reason)
	base, _ := c.state.Turn(m.ID)
	notice := c.notice(result, reason, c.own(m))
	meta := c.assistantMeta(string(result), reason, fates)
	if !c.via.Outbox { // elsewhere it is a message of its own
		meta = meta.WithNotice(notice)
	}
	turn := c.closeTurn(m, c.orderSwitch(meta), result)
	m = turn.Message
	asked := opened(base, turn)
	fact := journal.RunFinished{RunID: run.ID, Message: m, Result: result, Reason: reason, Fates: fates}
	fact.Rows = c.lastRows(c.own(m), result, notice, asked)
	before := len(c.state.History)
	c.append(append([]journal.Fact{fact}, c.refer(asked)...)...)
	c.tellAsked(asked)
	c.showAsked(asked, run.Step)
	c.tellUnknown(m.Parts)
	c.count(CountRunFinished, string(result))
	c.measure(CountRunSeconds, c.ago(c.run.began).Seconds())
	c.measure(CountRunSteps, float64(c.run.steps))
	c.audit(AuditEntry{Event: "run", RequestID: run.RequestID, RunID: run.ID, Result: string(result), Reason: reason, Step: run.Step})
	c.recordRun(run, result, reason)
	if result == journal.ResultSwitching {
		c.handOver(m.ID, fates)
	} else {
		c.eventFrame("done", run.Step, "")
	}
	if notice != "" && !c.via.Outbox {
		said := []uistream.Chunk{uistream.Error{ErrorText: notice}}
		if result == journal.ResultDone { // the answer is only incomplete
			said = uistream.Notice(notice)
		}
		c.chunkFrame(m.ID, said)
	}
	if result != journal.ResultSwitching {
		settled := c.takeMoved(fates)
		c.endFrame(m.ID, string(result), settled, true)
		c.showSaid(before)
		c.unmark(settled)
	}
	c.deliverRows(fact.Rows)
	c.dropRun()
	c.ended = true
}

// maxUnfolded is how long the journal of a chat gets that never rests.
const maxUnfolded = 64

// fates are how the run's turns ended.
func (c *Chat) fates(result journal.Result, reason string) []journal.Settled {
	var fates []journal.Settled
	for _, v := range c.state.Run.Visible {
		f := journal.Settled{TurnID: v.TurnID, Fate: journal.FateAnswered, RunID: c.state.Run.ID, Reason: reason}
		switch {
		case c.aside(v.TurnID):
			f.Fate, f.Reason = journal.FateDeclined, journal.ReasonParked
		case result == journal.ResultStopped:
			f.Fate = journal.FateStopped
		case v.Step > 1:
			f.Fate, f.Step = journal.FateMerged, v.Step
		}
		fates = append(fates, f)
	}
	return fates
}

// own is what the run itself added to its message.
func (c *Chat) own(m uimessage.Message) uimessage.Message {
	m.Parts = m.Parts[min(c.state.Run.Base, len(m.Parts)):]
	return m
}

// plainMeta is the metadata that all assistant turns have.
func (c *Chat) plainMeta() uimessage.Metadata {
	meta := uimessage.Metadata{
		TS: c.now().UnixMilli(), ChatKey: string(c.key), Kind: uimessage.KindNormal, Source: uimessage.SourceEgress,
		Model: c.Model, Demo: c.Demo, Seq: c.state.Seq,
	}
	if addr, ok := c.key.Address(); ok {
		meta.Channel, meta.ChatID = addr.Platform, addr.Chat
	}
	return meta
}

func (c *Chat) assistantMeta(result, reason string, fates []journal.Settled) uimessage.Metadata {
	run, meta := c.state.Run, c.plainMeta()
	meta.RequestID, meta.RunID, meta.Result, meta.Reason = run.RequestID, run.ID, result, reason
	for _, f := range fates {
		meta.Fates = append(meta.Fates, uimessage.FateRecord{ID: f.TurnID, Fate: f.Fate, RunID: f.RunID, Step: int64(f.Step), Reason: f.Reason})
	}
	if result != "" && c.run.usage.TotalTokens > 0 {
		u := c.run.usage
		meta.Usage = &u
	}
	return meta
}

// closeParts makes a message final: nothing streams any more and every call that
// did run has an outcome. Parts from kept on are not journaled, so that no call among
// them has begun.
func closeParts(parts []uimessage.Part, result journal.Result, kept int) []uimessage.Part {
	out := make([]uimessage.Part, 0, len(parts))
	for i, p := range parts {
		switch p := p.(type) {
		case uimessage.Text:
			if p.State == uimessage.TextStreaming {
				p.State = uimessage.TextDone
			}
			out = append(out, p)
		case uimessage.Reasoning:
			if p.State == uimessage.TextStreaming {
				p.State = uimessage.TextDone
			}
			out = append(out, p)
		case uimessage.Tool:
			if closed, ok := closeTool(p, result, i < kept); ok {
				out = append(out, closed)
			}
		default:
			out = append(out, p)
		}
	}
	return out
}

func closeTool(t uimessage.Tool, result journal.Result, journaled bool) (uimessage.Tool, bool) {
	switch {
	case t.State.Settled(), result == journal.ResultWaiting, t.State == uimessage.ToolApprovalRequested:
		return t, true
	case t.State == uimessage.ToolInputStreaming:
		return t, false // its input never came
	case t.State == uimessage.ToolApprovalResponded && !t.Approval.Approved.Value:
		t.State = uimessage.ToolOutputDenied
		return t, true
	}
	if t = interrupted(t); !journaled {
		t.ErrorText = uimessage.Some(textNeverBegun)
	}
	return t, true
}

// rowsOf is what a message owes to people: a notice, or its words. With egress
// by tool its words go out only if nothing was sent by tool since the newest turn
// became visible. A draft that people see is always brought to an end.
func (c *Chat) rowsOf(m uimessage.Message, words, notice string) []journal.Row {
	if !c.via.Outbox {
		return nil
	}
	run := c.state.Run
	key := journal.RowKey{MessageID: run.MessageID, N: c.nextRow()}
	words = c.paged(key, words)
	switch {
	case notice != "" && uimessage.IsBlank(words):
		words = notice
	case notice != "":
		words = strings.TrimSpace(words + "\n\n" + notice)
	}
	if strings.TrimSpace(words) == "" && c.state.Row(key) != nil {
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

// lastRows are what the end of a run owes to people, with what asks them in the last
// row. Requests never become the end of a draft that people see: a message that was
// changed has no place among what was said after it was sent.
func (c *Chat) lastRows(m uimessage.Message, result journal.Result, notice string, asked []journal.Asked) []journal.Row {
	words, asks := c.lastWords(m, result), c.requestWords(asked)
	if asks == "" || !c.drafted() {
		rows := c.rowsOf(m, words, notice+asks)
		c.withAsks(rows, asked)
		return rows
	}
	rows, run := c.rowsOf(m, words, notice), c.state.Run
	rows = append(rows, journal.Row{
		Key: journal.RowKey{MessageID: run.MessageID, N: c.nextRow() + 1}, RunID: run.ID, RequestID: run.RequestID, Text: asks, ReplyTo: c.replyAnchor(),
	})
	c.withAsks(rows, asked)
	return rows
}

// drafted reports whether the next row is the end of a draft.
func (c *Chat) drafted() bool {
	row := c.state.Row(journal.RowKey{MessageID: c.state.Run.MessageID, N: c.nextRow()})
	return c.via.Outbox && row != nil && row.Open
}

// lastWords are what the run's last message says to people by itself.
func (c *Chat) lastWords(m uimessage.Message, result journal.Result) string {
	switch {
	case result == journal.ResultStopped:
		return "" // who stopped it does not want to hear it
	case !c.via.ToolEgress:
		return journal.Text(m)
	case result == journal.ResultSwitching:
		return "" // it goes on
	case c.state.Run.Spoke && c.gotThrough():
		return ""
	}
	return finalText(m)
}

// gotThrough: not everything that calls sent since the newest turn was parked.
func (c *Chat) gotThrough() bool {
	for _, key := range c.state.Run.Rows {
		if row := c.state.Row(key); key.MessageID == c.state.Run.MessageID && (row == nil || !row.Parked) {
			return true
		}
	}
	return false
}

// wordsBefore are what a message that is closed by a merge says to people.
func (c *Chat) wordsBefore(m uimessage.Message) string {
	if c.via.ToolEgress {
		return ""
	}
	return journal.Text(m)
}

// nextRow is the number of the next egress: that of the draft people see, if
// there is one.
func (c *Chat) nextRow() int {
	run := c.state.Run
	key := journal.RowKey{MessageID: run.MessageID, N: run.Egress}
	if row := c.state.Row(key); row != nil && row.Open {
		return run.Egress
	}
	return run.Egress + 1
}

// replyAnchor: in groups an answer points at the newest turn it answers, and so does the
// text under way whose place it takes.
func (c *Chat) replyAnchor() string {
	if t, ok := c.answers(); ok {
		return c.replyTo(t)
	}
	return ""
}

// answers is the newest turn that the run answers.
func (c *Chat) answers() (journal.Turn, bool) {
	visible := c.state.Run.Visible
	if len(visible) == 0 {
		return journal.Turn{}, false
	}
	return c.state.Turn(visible[len(visible)-1].TurnID)
}

// finalText are the words behind the last call, or all words if there are none.
func finalText(m uimessage.Message) string {
	last := 0
	for i, p := range m.Parts {
		if _, ok := p.(uimessage.Tool); ok {
			last = i
		}
	}
	tail := m
	tail.Parts = m.Parts[last:]
	if words := journal.Text(tail); strings.TrimSpace(words) != "" {
		return words
	}
	return journal.Text(m)
}
