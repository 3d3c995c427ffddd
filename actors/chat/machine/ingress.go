package machine

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/files"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/requests"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// accept makes one ingress durable and answers it. Nothing else happens before that.
func (c *Chat) accept(msg messages.AcceptIngress) {
	turn := journal.NewTurn(msg.Turn)
	if c.State.Known(msg.IngressID) {
		c.Answer(messages.IngressAccepted{
			ChatKey: c.Key, RequestID: msg.RequestID, TurnID: turn.ID, Duplicate: true, Answer: c.Directly(msg, c.Text(notices.Obeyed(), turn)),
		})
		return
	}
	if c.requests.DecidedElsewhere(msg, turn) || c.requests.WaitForReceipts(msg, turn) {
		return
	}
	c.Wake()
	turn.Meta.Seq, turn.Meta.Depth = c.State.Seq+1, c.depth(msg.Bot)
	if c.State.Has(turn.ID) { // The id is taken: keep the stored turn, which the model has seen, and rename this one.
		turn.ID += "~" + c.NewID()
	}
	if c.State.IngressCrashes(msg.IngressID) >= maxCrashes {
		c.park(msg, turn)
		return
	}
	c.Seen([]journal.Turn{turn})
	c.Audit(decision.AuditEntry{Event: "ingress", RequestID: msg.RequestID, Result: string(msg.Verdict), Reason: msg.Reason})
	switch msg.Verdict {
	case messages.VerdictOpen:
		switch {
		case c.State.Known(messages.RecallID(turn.Meta.MessageID)):
			c.Settle(msg, turn, journal.FateStopped, decision.ReasonRecalled, "") // the recall arrived first
		case msg.EditOf != "" && c.unchanged(turn):
			c.Settle(msg, turn, journal.FateIgnored, "unchanged", "")
		case turn.Meta.Depth > maxDepth:
			c.declineBot(msg, turn)
		case !c.requests.DecideInWords(msg, turn) && !c.paging.Turn(msg, turn):
			c.acceptTurn(msg, turn)
		}
	case messages.VerdictIgnored:
		if c.unaddressed(msg, turn) || c.files.JoinAlbum(msg, turn) {
			return
		}
		c.Settle(msg, turn, journal.FateIgnored, msg.Reason, "")
		c.quoted.Overhear(c.IngressOf(msg, turn), turn)
	case messages.VerdictRefused:
		c.Settle(msg, turn, journal.FateDeclined, msg.Reason, msg.Notice)
	case messages.VerdictRecalled:
		c.recallTurn(msg, turn)
	case messages.VerdictCommand:
		if !c.requests.DecideInWords(msg, turn) {
			c.hostCommand(msg, turn)
		}
	}
}

// unaddressed handles a group message that is not addressed to the bot while a request is open. A plain command counts
// as addressed.
func (c *Chat) unaddressed(msg messages.AcceptIngress, turn journal.Turn) bool {
	switch {
	case !c.requests.MayConcern(msg):
		return false
	case msg.Command == "":
		return c.requests.DecideUnaddressed(msg, turn)
	case slices.Contains([]string{"allow", "activation", "start"}, msg.Command):
		return false // the platform's own command, which is obeyed only when addressed
	}
	msg.Verdict = messages.VerdictCommand
	if !c.requests.DecideInWords(msg, turn) {
		c.hostCommand(msg, turn)
	}
	return true
}

// acceptTurn makes a user turn durable: in the history if nothing is pending, otherwise in the journal.
func (c *Chat) acceptTurn(msg messages.AcceptIngress, turn journal.Turn) {
	if msg.EditOf != "" && c.replaceWaiting(msg, turn) || c.files.JoinAlbum(msg, turn) {
		return
	}
	turn.Meta, turn.Parts = c.quoted.WithQuotes(turn.Meta), c.files.ShownOnce(turn.Parts)
	if len(c.Unseen()) >= c.MaxQueued {
		c.laneFull(msg, turn)
		return
	}
	turn.Metadata = turn.Meta.Append(nil)
	if c.State.Clean() {
		c.Open(turn)
	} else {
		c.Offer(journal.TurnAccepted{Turn: turn.Message})
	}
	c.requests.SayUndecided(msg, turn)
	c.accepted(msg, turn)
}

// unchanged reports whether an edit says what the newest known version of its message says. Services report such edits,
// and platforms recognize only those of the messages that they remember.
func (c *Chat) unchanged(edit journal.Turn) bool {
	for _, t := range slices.Backward(slices.Concat(c.State.History, c.State.Lane)) {
		if t.Role == uimessage.RoleUser && t.Meta.MessageID == edit.Meta.MessageID && t.Meta.UserID == edit.Meta.UserID {
			return files.Same(t.Parts, edit.Parts)
		}
	}
	return false
}

// replaceWaiting replaces a turn that no model has seen with its edited version.
func (c *Chat) replaceWaiting(msg messages.AcceptIngress, turn journal.Turn) bool {
	for _, old := range c.Unseen() {
		if old.Meta.MessageID != msg.EditOf || old.Meta.UserID != turn.Meta.UserID || old.Meta.Album != "" {
			continue
		}
		in := c.IngressOf(msg, turn)
		meta := old.Meta
		meta.EditOf, meta.TS = msg.EditOf, turn.Meta.TS
		edited := uimessage.Message{ID: old.ID, Role: uimessage.RoleUser, Parts: turn.Parts, Metadata: meta.Append(nil)}
		c.Offer(journal.TurnReplaced{Turn: edited, Ingress: &in})
		c.Answer(messages.IngressAccepted{ChatKey: c.Key, RequestID: msg.RequestID, TurnID: old.ID})
		c.files.Unfetch(old.ID)
		return true
	}
	return false
}

// hostCommand handles a person's command. The host answers it, and the model never sees it. A command that somebody
// else wrote is not carried out.
func (c *Chat) hostCommand(msg messages.AcceptIngress, turn journal.Turn) {
	if msg.Forwarded {
		c.Settle(msg, turn, journal.FateAnswered, "command", c.Text(notices.ForwardedCommand(), turn))
		return
	}
	if msg.Command == "stop" {
		c.stopCommand(msg, turn)
		return
	}
	if c.paging.SendOutput(msg, turn) || c.forgetCommand(msg, turn) {
		return
	}
	if slices.Contains([]string{"new", "load", "compact"}, msg.Command) && c.requests.OverOpenRequests(decision.AskerOf(turn)) {
		c.Settle(msg, turn, journal.FateAnswered, "command", c.Text(notices.OverRequests(c.At()), turn))
		return
	}
	var compaction decision.Compaction
	if msg.Command == "compact" {
		compaction = c.compactNow()
	}
	chinese := c.WrittenInChinese(decision.Newest(c.State.History)) // must be read before the messages are archived
	contexts := c.contextCommand(msg, turn)
	outcome, unable := c.modelCommand(msg, turn)
	switch {
	case msg.Notice != "": // the platform has already carried it out, for example a pairing code
		c.Settle(msg, turn, journal.FateAnswered, "command", msg.Notice)
	case c.Obeys:
		cmd := c.commandOf(msg, turn)
		cmd.Compaction, cmd.Contexts, cmd.Chinese = compaction, contexts, chinese
		cmd.Model.Outcome, cmd.Model.Unable = outcome, unable
		c.Effect(decision.RunCommand{Command: cmd, Msg: msg, Sender: c.In.Sender})
	default:
		c.Settle(msg, turn, journal.FateAnswered, "command", c.Text(notices.UnknownCommand(c.At()), turn))
	}
}

// onCommanded answers a command after the host has carried it out.
func (c *Chat) onCommanded(done decision.Commanded) {
	msg, turn := done.Msg, journal.NewTurn(done.Msg.Turn)
	turn.Meta.Seq, turn.Meta.Depth = c.State.Seq+1, c.depth(msg.Bot)
	msg.Asks = append(slices.Clip(msg.Asks), done.Asks...)
	say := done.Words
	if !done.Known {
		say = c.Text(notices.UnknownCommand(c.At()), turn)
	}
	c.Settle(msg, turn, journal.FateAnswered, "command", say)
}

// View returns a chat as a reader sees it, as far as its facts tell.
func View(key messages.ChatKey, s *journal.State) messages.ViewReply {
	v := messages.ViewReply{
		ChatKey: key, Messages: s.MessagesForPeople(), Running: s.Run != nil, Accepted: s.Seq, Open: int64(s.OpenTurns()), Pending: int64(len(s.Pending())),
		Fates: map[string]int64{}, Model: s.Model, Effort: s.Effort,
	}
	for fate, n := range s.Fates() {
		v.Fates[string(fate)] = n
	}
	for _, t := range s.Lane {
		v.Waiting = append(v.Waiting, t.Message)
	}
	return v
}

// view answers with the chat as a reader sees it.
func (c *Chat) view() {
	v := View(c.Key, c.State)
	v.Running, v.Pending = c.run != nil, v.Pending+int64(c.requests.Owed())
	if c.run != nil && c.run.reducer != nil {
		if m := c.run.reducer.Snapshot(); len(m.Parts) > 0 {
			v.Messages = append(c.settled(v.Messages), m)
		}
	}
	c.Answer(v)
}

// rewind archives the history after a message.
func (c *Chat) rewind(msg messages.RewindChat) {
	if !c.State.Rests() { // pending turns have no fate yet and must keep their place
		c.Answer(messages.ChatRewound{ChatKey: c.Key, Reason: "busy"})
		return
	}
	cut := 0
	for i, t := range c.State.History {
		if t.ID == msg.Keep {
			cut = i + 1
		}
	}
	if msg.Keep != "" && cut == 0 {
		c.Answer(messages.ChatRewound{ChatKey: c.Key, Reason: "not_found"})
		return
	}
	c.Wake() // what a chat without the mark has counts as durable
	c.requests.End(c.State.OpenRequests(), journal.AnswerWithdrawn, requests.ReasonRewound, nil)
	c.cut(cut)
	c.Plan.IfRefused = rewindRefused{}
	c.Answer(messages.ChatRewound{ChatKey: c.Key})
}

// rewindRefused reports that the store refused the shorter history.
type rewindRefused struct{}

// cut archives the history from an index on. Turns that this leaves without an answer are not answered again; to ask
// them again, submit them as a new ingress.
func (c *Chat) cut(from int) {
	if from == len(c.State.History) {
		return
	}
	c.Checkpoint()
	rewrite := c.State.Rewound(c.Key, from, c.Now(), "a:"+string(c.Key)+":"+c.NewID())
	rewrite.Meta.Pinned = c.system.Needed(decision.ContentsOf(c.State.History[:from]))
	rewrite.Meta.Tries = c.KeptTries
	c.Rewrite(rewrite)
	c.newBegin("rewind")
}
