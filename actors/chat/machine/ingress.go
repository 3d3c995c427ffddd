package machine

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// accept makes one ingress durable and answers it. Nothing else happens before that.
func (c *Chat) accept(msg messages.AcceptIngress) {
	turn := journal.NewTurn(msg.Turn)
	if c.state.Known(msg.IngressID) {
		c.answer(messages.IngressAccepted{
			ChatKey: c.key, RequestID: msg.RequestID, TurnID: turn.ID, Duplicate: true, Answer: c.directly(msg, c.text(notices.Obeyed(), turn)),
		})
		return
	}
	if c.decidedElsewhere(msg, turn) || c.waitForReceipts(msg, turn) {
		return
	}
	c.wake()
	turn.Meta.Seq, turn.Meta.Depth = c.state.Seq+1, c.depth(msg.Bot)
	if c.state.Has(turn.ID) { // The id is taken: keep the stored turn, which the model has seen, and rename this one.
		turn.ID += "~" + c.newID()
	}
	if c.state.IngressStumbles(msg.IngressID) >= maxStumbles {
		c.park(msg, turn)
		return
	}
	c.seen([]journal.Turn{turn})
	c.audit(AuditEntry{Event: "ingress", RequestID: msg.RequestID, Result: string(msg.Verdict), Reason: msg.Reason})
	switch msg.Verdict {
	case messages.VerdictOpen:
		switch {
		case c.state.Known(messages.TakenBackID(msg.IngressID)):
			c.settleAtOnce(msg, turn, journal.FateStopped, reasonTakenBack, "") // the recall arrived first
		case turn.Meta.Depth > maxDepth:
			c.declineBot(msg, turn)
		case !c.decideInWords(msg, turn) && !c.turnPage(msg, turn):
			c.acceptTurn(msg, turn)
		}
	case messages.VerdictIgnored:
		if c.decideUnaddressed(msg, turn) || c.joinAlbum(msg, turn) {
			return
		}
		c.settleAtOnce(msg, turn, journal.FateIgnored, msg.Reason, "")
	case messages.VerdictRefused:
		c.settleAtOnce(msg, turn, journal.FateDeclined, msg.Reason, msg.Notice)
	case messages.VerdictTakenBack:
		c.takeBack(msg, turn)
	case messages.VerdictCommand:
		if !c.decideInWords(msg, turn) {
			c.hostCommand(msg, turn)
		}
	}
}

// settleAtOnce settles an ingress that does not become a turn, optionally with words to the chat.
func (c *Chat) settleAtOnce(msg messages.AcceptIngress, turn journal.Turn, fate journal.Fate, reason, say string) {
	c.settleWith(msg, turn, fate, reason, journal.Row{Text: say})
}

// settleWith settles an ingress that does not become a turn, with the words of a row, the files and the requests that
// it shows.
func (c *Chat) settleWith(msg messages.AcceptIngress, turn journal.Turn, fate journal.Fate, reason string, row journal.Row) {
	fact := journal.IngressSettled{Ingress: c.ingressOf(msg, turn), Fate: fate, Reason: reason, Rows: c.hostRow(msg, turn, row.Text)}
	for i := range fact.Rows {
		fact.Rows[i].Attachments, fact.Rows[i].Shows = row.Attachments, row.Shows
	}
	if len(fact.Rows) == 0 && len(row.Shows) > 0 {
		fact.Shows = row.Shows
	}
	c.offer(fact)
	accepted := messages.IngressAccepted{ChatKey: c.key, RequestID: msg.RequestID, Answer: c.directly(msg, row.Text)}
	if fate == journal.FateDeclined {
		accepted.Declined = reason
	}
	c.answer(accepted)
	c.overhear(fact.Ingress, turn, fate)
	c.deliverRows(fact.Rows)
	c.settledFrame(turn.ID)
}

// ingressOf returns what the ledger keeps of an ingress. The words of people who did not address the bot are only kept
// if they may be quoted.
func (c *Chat) ingressOf(msg messages.AcceptIngress, turn journal.Turn) journal.Ingress {
	in := journal.Ingress{
		ID: msg.IngressID, Seq: turn.Meta.Seq, MessageID: turn.Meta.MessageID,
		UserID: turn.Meta.UserID, Username: turn.Meta.Username, RequestID: msg.RequestID, Depth: turn.Meta.Depth,
	}
	if msg.Verdict == messages.VerdictCommand {
		in.Text = "/" + msg.Command
	} else {
		in.Text = c.quotable(msg)
	}
	return in
}

// inThread reports whether a turn is in a thread that is not a chat of its own. There the bot only sends its replies.
func (c *Chat) inThread(turn journal.Turn) bool {
	return c.addr.Platform != "" && c.addr.Topic == 0 && turn.Meta.MessageThreadID != ""
}

// replyTo returns the message that an answer replies to. In private chats it is empty, except in threads.
func (c *Chat) replyTo(turn journal.Turn) string {
	if (turn.Meta.ChatType == "private" || turn.Meta.ChatType == "p2p") && !c.inThread(turn) {
		return ""
	}
	return turn.Meta.MessageID
}

// acceptTurn makes a user turn durable: in the history if nothing is pending, otherwise in the journal.
func (c *Chat) acceptTurn(msg messages.AcceptIngress, turn journal.Turn) {
	if msg.EditOf != "" && c.replaceWaiting(msg, turn) || c.joinAlbum(msg, turn) {
		return
	}
	turn.Meta, turn.Parts = c.withQuotes(turn.Meta), c.shownOnce(turn.Parts)
	if len(c.unseen()) >= c.MaxQueued {
		c.laneFull(msg, turn)
		return
	}
	turn.Metadata = turn.Meta.Append(nil)
	if c.state.Clean() {
		c.open(turn)
	} else {
		c.offer(journal.TurnAccepted{Turn: turn.Message})
	}
	c.sayUndecided(msg, turn)
	c.accepted(msg, turn)
}

// accepted confirms that a turn is durable and continues with it.
func (c *Chat) accepted(msg messages.AcceptIngress, turn journal.Turn) {
	c.quoted.list = nil // the turn quotes them
	c.answer(messages.IngressAccepted{ChatKey: c.key, RequestID: msg.RequestID, TurnID: turn.ID})
	c.mark(turn, messages.MarkSeen)
	if c.since.IsZero() {
		c.since = c.now()
	}
	if c.state.Run == nil && c.Debounce > 0 && !c.closing {
		c.hold()
		return
	}
	if c.run != nil && c.Mode == ModeInterrupt {
		c.stopWith("interrupted by a newer message", msg.RequestID, false) // the queued turns start the next run
	}
}

// replaceWaiting replaces a turn that no model has seen with its edited version.
func (c *Chat) replaceWaiting(msg messages.AcceptIngress, turn journal.Turn) bool {
	for _, old := range c.unseen() {
		if old.Meta.MessageID != msg.EditOf || old.Meta.UserID != turn.Meta.UserID || old.Meta.Album != "" {
			continue
		}
		in := c.ingressOf(msg, turn)
		meta := old.Meta
		meta.EditOf, meta.TS = msg.EditOf, turn.Meta.TS
		edited := uimessage.Message{ID: old.ID, Role: uimessage.RoleUser, Parts: turn.Parts, Metadata: meta.Append(nil)}
		c.offer(journal.TurnReplaced{Turn: edited, Ingress: &in})
		c.answer(messages.IngressAccepted{ChatKey: c.key, RequestID: msg.RequestID, TurnID: old.ID})
		c.unfetch(old.ID)
		return true
	}
	return false
}

// hostCommand handles a person's command. The host answers it, and the model never sees it.
func (c *Chat) hostCommand(msg messages.AcceptIngress, turn journal.Turn) {
	if msg.Command == "stop" {
		was := c.stop("stopped by "+turn.Meta.UserID, msg.RequestID, msg.Args == "all")
		notice := notices.NothingToStop()
		if was {
			notice = notices.Stopped()
		}
		turn.Meta.Seq = c.state.Seq + 1
		c.settleAtOnce(msg, turn, journal.FateAnswered, "stop", c.text(notice, turn))
		return
	}
	if c.sendOutput(msg, turn) || c.forgetCommand(msg, turn) {
		return
	}
	if c.overOpenRequests(msg, turn) {
		c.settleAtOnce(msg, turn, journal.FateAnswered, "command", c.text(notices.OverRequests(), turn))
		return
	}
	var compaction Compaction
	if msg.Command == "compact" {
		compaction = c.compactNow()
	}
	chinese := c.writtenInChinese(newest(c.state.History)) // must be read before the messages are archived
	contexts := c.contextCommand(msg, turn)
	switch {
	case msg.Notice != "": // the platform has already carried it out, for example a pairing code
		c.settleAtOnce(msg, turn, journal.FateAnswered, "command", msg.Notice)
	case c.Obeys:
		cmd := c.commandOf(msg, turn)
		cmd.Compaction, cmd.Contexts, cmd.Chinese = compaction, contexts, chinese
		c.effect(RunCommand{cmd, msg, c.in.Sender})
	default:
		c.settleAtOnce(msg, turn, journal.FateAnswered, "command", c.text(notices.UnknownCommand(), turn))
	}
}

// onCommanded answers a command after the host has carried it out.
func (c *Chat) onCommanded(done Commanded) {
	msg, turn := done.Msg, journal.NewTurn(done.Msg.Turn)
	turn.Meta.Seq, turn.Meta.Depth = c.state.Seq+1, c.depth(msg.Bot)
	msg.Asks = append(slices.Clip(msg.Asks), done.Asks...)
	say := done.Words
	if !done.Known {
		say = c.text(notices.UnknownCommand(), turn)
	}
	c.settleAtOnce(msg, turn, journal.FateAnswered, "command", say)
}

// stopRun handles stop commands from the web, the CLI and the API.
func (c *Chat) stopRun(msg messages.StopRun) {
	was := c.stop("stopped by "+msg.By, msg.RequestID, msg.All)
	c.answer(messages.RunStopped{ChatKey: c.key, Was: was})
}

// stop handles a command to stop and reports whether there was anything to stop. Without a run there may still be
// queued turns, for example turns that wait for their files.
func (c *Chat) stop(by, requestID string, all bool) bool {
	switch {
	case c.run != nil:
		c.stopWith(by, requestID, all)
	case all && c.state.OpenTurns() > 0:
		c.stopOpen(requestID)
	default:
		return false
	}
	return true
}

// stopWith durably stops the run in progress, and on request settles the turns that wait for the next one.
func (c *Chat) stopWith(by, requestID string, all bool) {
	run := c.state.Run
	c.append(journal.StopRequested{RunID: run.ID, By: by, RequestID: requestID})
	c.audit(AuditEntry{Event: "stop", RequestID: requestID, RunID: run.ID})
	if all && len(c.state.Lane) > 0 {
		var fates []journal.Settled
		for _, t := range c.state.Lane {
			fates = append(fates, journal.Settled{TurnID: t.ID, Fate: journal.FateStopped, Reason: reasonStopAll})
		}
		c.append(journal.TurnsSettled{Fates: fates})
		c.dropped(fates)
	}
	c.finish(journal.ResultStopped, "stopped")
}

// view answers with the chat as a reader sees it.
func (c *Chat) view() {
	counts := c.state.Counts()
	v := messages.ViewReply{
		ChatKey: c.key, Messages: c.state.MessagesForPeople(), Running: c.run != nil,
		Accepted: counts.Accepted, Open: int64(c.state.OpenTurns()), Pending: int64(len(c.state.Pending()) + c.owed()), Fates: map[string]int64{},
	}
	for fate, n := range counts.Fates {
		v.Fates[string(fate)] = n
	}
	for _, t := range c.state.Lane {
		v.Waiting = append(v.Waiting, t.Message)
	}
	if c.run != nil && c.run.reducer != nil {
		if m := c.run.reducer.Snapshot(); len(m.Parts) > 0 {
			v.Messages = append(c.settled(v.Messages), m)
		}
	}
	c.answer(v)
}

// rewind archives the history after a message.
func (c *Chat) rewind(msg messages.RewindChat) {
	if !c.settledAll() { // pending turns have no fate yet and must keep their place
		c.answer(messages.ChatRewound{ChatKey: c.key, Reason: "busy"})
		return
	}
	cut := 0
	for i, t := range c.state.History {
		if t.ID == msg.Keep {
			cut = i + 1
		}
	}
	if msg.Keep != "" && cut == 0 {
		c.answer(messages.ChatRewound{ChatKey: c.key, Reason: "not_found"})
		return
	}
	c.endRequests(c.state.OpenRequests(), journal.AnswerWithdrawn, reasonRewound, nil)
	c.cut(cut)
	c.p.IfRefused = rewindRefused{}
	c.answer(messages.ChatRewound{ChatKey: c.key})
}

// rewindRefused reports that the store refused the shorter history.
type rewindRefused struct{}

// cut archives the history from an index on. Turns that this leaves without an answer are not answered again; to ask
// them again, submit them as a new ingress.
func (c *Chat) cut(from int) {
	if from == len(c.state.History) {
		return
	}
	c.checkpoint()
	rewrite := c.state.Rewound(c.key, from, c.now(), "a:"+string(c.key)+":"+c.newID())
	rewrite.Meta.Pinned = c.needed(contentsOf(c.state.History[:from]))
	rewrite.Meta.Tries = c.compaction.keptTries
	c.rewrite(rewrite)
	c.newBegin("rewind")
}
