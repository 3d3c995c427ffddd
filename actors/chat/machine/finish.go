package machine

import (
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/chat/runentry"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// finish ends the run. The assistant message, the fates of its turns and its outbox rows become durable in one fact.
func (c *Chat) finish(result journal.Result, reason string) {
	run := c.state.Run
	m := c.run.reducer.Snapshot()
	m.ID, m.Role = run.MessageID, uimessage.RoleAssistant
	m.Parts = closeParts(m.Parts, result, max(c.run.kept, len(run.Parts)))
	fates := c.fates(result, reason)
	base, _ := c.state.Turn(m.ID)
	notice := c.notice(result, reason, c.own(m))
	meta := c.assistantMeta(string(result), reason, fates)
	if !c.via.Outbox { // with an outbox the notice is a row
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
	if c.RecordsRuns {
		c.effect(RunEnded{runentry.Of(c.state.History, run, result, reason, c.now())})
	}
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

// maxUnfolded is how many records the journal of a busy chat may reach before it is checkpointed.
const maxUnfolded = 64

// fates returns how the run's turns ended.
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

// own returns the part of its message that the run itself added.
func (c *Chat) own(m uimessage.Message) uimessage.Message {
	m.Parts = m.Parts[min(c.state.Run.Base, len(m.Parts)):]
	return m
}

// plainMeta returns the metadata that all assistant turns have.
func (c *Chat) plainMeta() uimessage.Metadata {
	return uimessage.Metadata{
		TS: c.now().UnixMilli(), ChatKey: string(c.key), Kind: uimessage.KindNormal, Source: uimessage.SourceEgress,
		Model: c.Model, Demo: c.Demo, Seq: c.state.Seq, Channel: c.addr.Platform, ChatID: c.addr.Chat,
	}
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

// closeParts makes a message final: no part is streaming, and every call that ran has an outcome. Parts from index
// kept on are not journaled, so none of their calls has begun.
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
		return t, false // its input never arrived
	case t.State == uimessage.ToolApprovalResponded && !t.Approval.Approved.Value:
		t.State = uimessage.ToolOutputDenied
		return t, true
	}
	if t = interrupted(t); !journaled {
		t.ErrorText = uimessage.Some(textNeverBegun)
	}
	return t, true
}

// rowsOf returns the outbox rows of a message: its words and the notice. If people see a draft, it is always
// completed.
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

// lastRows returns the outbox rows at the end of a run; the last row asks for approvals. Requests never complete a
// draft that people already see, because an edited message keeps its old position among the messages sent since.
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

// drafted reports whether the next row completes a draft.
func (c *Chat) drafted() bool {
	row := c.state.Row(journal.RowKey{MessageID: c.state.Run.MessageID, N: c.nextRow()})
	return c.via.Outbox && row != nil && row.Open
}

// lastWords returns the words of the run's last message that are sent to people. With egress by tool these are only
// sent if no tool has sent anything since the newest turn became visible.
func (c *Chat) lastWords(m uimessage.Message, result journal.Result) string {
	switch {
	case result == journal.ResultStopped:
		return "" // the person who stopped it does not need it
	case !c.via.ToolEgress:
		return journal.Text(m)
	case result == journal.ResultSwitching:
		return "" // the run continues
	case c.state.Run.Spoke && c.gotThrough():
		return ""
	}
	return finalText(m)
}

// gotThrough reports whether at least one message that calls sent since the newest turn was not parked.
func (c *Chat) gotThrough() bool {
	for _, key := range c.state.Run.Rows {
		if row := c.state.Row(key); key.MessageID == c.state.Run.MessageID && (row == nil || !row.Parked) {
			return true
		}
	}
	return false
}

// wordsBefore returns the words that are sent for a message that a merge closes.
func (c *Chat) wordsBefore(m uimessage.Message) string {
	if c.via.ToolEgress {
		return ""
	}
	return journal.Text(m)
}

// nextRow returns the number of the next outbox row: that of the visible draft if there is one.
func (c *Chat) nextRow() int {
	run := c.state.Run
	key := journal.RowKey{MessageID: run.MessageID, N: run.Egress}
	if row := c.state.Row(key); row != nil && row.Open {
		return run.Egress
	}
	return run.Egress + 1
}

// replyAnchor returns the message that an answer replies to: in groups the newest turn it answers. A draft and the row
// that completes it use the same one.
func (c *Chat) replyAnchor() string {
	if t, ok := c.answers(); ok {
		return c.replyTo(t)
	}
	return ""
}

// answers returns the newest turn that the run answers.
func (c *Chat) answers() (journal.Turn, bool) {
	visible := c.state.Run.Visible
	if len(visible) == 0 {
		return journal.Turn{}, false
	}
	return c.state.Turn(visible[len(visible)-1].TurnID)
}

// finalText returns the words after the last call, or all words if there are none after it.
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
