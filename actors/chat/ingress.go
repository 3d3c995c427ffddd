package chat

import (
	"context"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/prompt"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// accept makes one ingress durable and answers; only then does anything follow.
func (c *chat) accept(ac actor.Context, msg messages.AcceptIngress) {
	turn := journal.NewTurn(msg.Turn)
	if c.state.Known(msg.IngressID) {
		c.answer(ac, messages.IngressAccepted{
			ChatKey: c.key, RequestID: msg.RequestID, TurnID: turn.ID, Duplicate: true, Answer: c.directly(msg, c.text(noticeObeyed(), turn)),
		})
		return
	}
	if c.decidedElsewhere(ac, msg, turn) || c.waitForReceipts(ac, msg, turn) {
		return
	}
	if c.wake(ac) != nil {
		c.refuse(ac, msg)
		return
	}
	turn.Meta.Seq, turn.Meta.Depth = c.state.Seq+1, c.depth(msg.Bot)
	if c.state.Has(turn.ID) { // given twice: what is there was read, and stays as it is
		turn.ID += "~" + newID(time.Now())
	}
	if c.state.IngressStumbles(msg.IngressID) >= maxStumbles {
		c.park(ac, msg, turn)
		return
	}
	c.seen([]journal.Turn{turn})
	c.audit(AuditEntry{Event: "ingress", RequestID: msg.RequestID, Result: string(msg.Verdict), Reason: msg.Reason})
	switch msg.Verdict {
	case messages.VerdictOpen:
		switch {
		case c.state.Known(messages.TakenBackID(msg.IngressID)):
			c.settleAtOnce(ac, msg, turn, journal.FateStopped, reasonTakenBack, "") // that came first
		case turn.Meta.Depth > maxDepth:
			c.declineBot(ac, msg, turn)
		case !c.decideInWords(ac, msg, turn) && !c.turnPage(ac, msg, turn):
			c.acceptTurn(ac, msg, turn)
		}
	case messages.VerdictIgnored:
		if c.decideUnaddressed(ac, msg, turn) || c.joinAlbum(ac, msg, turn) {
			return
		}
		c.settleAtOnce(ac, msg, turn, journal.FateIgnored, msg.Reason, "")
	case messages.VerdictRefused:
		c.settleAtOnce(ac, msg, turn, journal.FateDeclined, msg.Reason, msg.Notice)
	case messages.VerdictTakenBack:
		c.takeBack(ac, msg, turn)
	case messages.VerdictCommand:
		if !c.decideInWords(ac, msg, turn) {
			c.hostCommand(ac, msg, turn)
		}
	}
}

func (c *chat) answer(ac actor.Context, msg any) {
	if ac.Sender() != nil {
		ac.Respond(msg)
	}
}

// settleAtOnce ends an ingress that becomes no turn, perhaps with words to the chat.
func (c *chat) settleAtOnce(ac actor.Context, msg messages.AcceptIngress, turn journal.Turn, fate journal.Fate, reason, say string) {
	fact := journal.IngressSettled{Ingress: c.ingressOf(msg, turn), Fate: fate, Reason: reason}
	fact.Rows = c.hostRow(msg, turn, say)
	c.settleBy(ac, msg, turn, fact, say)
}

// settleShowing answers an ingress with words that show requests whole.
func (c *chat) settleShowing(ac actor.Context, msg messages.AcceptIngress, turn journal.Turn, say string, shown []journal.Asked) {
	fact := journal.IngressSettled{Ingress: c.ingressOf(msg, turn), Fate: journal.FateAnswered, Reason: "approval"}
	fact.Rows = c.hostRow(msg, turn, say)
	for i := range fact.Rows {
		fact.Rows[i].Shows = idsOf(shown)
	}
	if len(fact.Rows) == 0 && len(shown) > 0 {
		fact.Shows = idsOf(shown)
	}
	c.settleBy(ac, msg, turn, fact, say)
}

// settleBy ends an ingress with a fact, and words to people.
func (c *chat) settleBy(ac actor.Context, msg messages.AcceptIngress, turn journal.Turn, fact journal.IngressSettled, say string) {
	if c.offer(ac, fact) != nil {
		c.refuse(ac, msg)
		return
	}
	accepted := messages.IngressAccepted{ChatKey: c.key, RequestID: msg.RequestID, Answer: c.directly(msg, say)}
	if fact.Fate == journal.FateDeclined {
		accepted.Declined = fact.Reason
	}
	c.answer(ac, accepted)
	c.overhear(fact.Ingress, turn, fact.Fate)
	c.deliverRows(ac, fact.Rows)
	c.settledFrame(ac, turn.ID)
	c.restLater()
}

// ingressOf is what the ledger keeps; the words of people who did not speak to
// us are not ours to keep.
func (c *chat) ingressOf(msg messages.AcceptIngress, turn journal.Turn) journal.Ingress {
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

// inThread: a turn is in a thread that is no chat of its own, where only what answers
// it comes.
func (c *chat) inThread(turn journal.Turn) bool {
	addr, ok := c.key.Address()
	return ok && addr.Topic == 0 && turn.Meta.MessageThreadID != ""
}

// replyTo: in groups an answer points at what it answers.
func (c *chat) replyTo(turn journal.Turn) string {
	if (turn.Meta.ChatType == "private" || turn.Meta.ChatType == "p2p") && !c.inThread(turn) {
		return ""
	}
	return turn.Meta.MessageID
}

// acceptTurn makes a user turn durable: in the history when nothing else is
// pending, otherwise in the journal.
func (c *chat) acceptTurn(ac actor.Context, msg messages.AcceptIngress, turn journal.Turn) {
	if msg.EditOf != "" && c.replaceWaiting(ac, msg, turn) || c.joinAlbum(ac, msg, turn) {
		return
	}
	turn.Meta, turn.Parts = c.withQuotes(turn.Meta), c.shownOnce(turn.Parts)
	if len(c.unseen()) >= c.MaxQueued {
		c.laneFull(ac, msg, turn)
		return
	}
	turn.Metadata = turn.Meta.Append(nil)
	err := c.keepTurn(ac, turn)
	if err != nil {
		c.refuse(ac, msg)
		return
	}
	c.accepted(ac, msg, turn)
}

// accepted says that a turn is durable and goes on with it.
func (c *chat) accepted(ac actor.Context, msg messages.AcceptIngress, turn journal.Turn) {
	c.quoted.list = nil // it quotes them
	c.answer(ac, messages.IngressAccepted{ChatKey: c.key, RequestID: msg.RequestID, TurnID: turn.ID})
	c.mark(ac, turn, messages.MarkSeen)
	if c.since.IsZero() {
		c.since = time.Now()
	}
	if c.state.Run == nil && c.Debounce > 0 && !c.closing {
		c.hold()
		return
	}
	if c.run != nil && c.Mode == ModeInterrupt {
		c.interrupt(ac, "interrupted by a newer message", msg.RequestID)
		return
	}
	c.next(ac)
}

// keepTurn takes the short way when nothing else is pending.
func (c *chat) keepTurn(ac actor.Context, turn journal.Turn) error {
	if !c.state.Clean() {
		return c.offer(ac, journal.TurnAccepted{Turn: turn.Message})
	}
	err := c.store.AppendHistory(context.Background(), turn.Message)
	if undone(err) {
		err = errUndone{err}
	}
	if err != nil {
		c.storeFailed(ac, err)
		return err
	}
	c.state.AppendOpen(turn)
	return nil
}

// replaceWaiting replaces a turn that no model has seen yet by its edit.
func (c *chat) replaceWaiting(ac actor.Context, msg messages.AcceptIngress, turn journal.Turn) bool {
	for _, old := range c.unseen() {
		if old.Meta.MessageID != msg.EditOf || old.Meta.UserID != turn.Meta.UserID || old.Meta.Album != "" {
			continue
		}
		in := c.ingressOf(msg, turn)
		meta := old.Meta
		meta.EditOf, meta.TS = msg.EditOf, turn.Meta.TS
		edited := uimessage.Message{ID: old.ID, Role: uimessage.RoleUser, Parts: turn.Parts, Metadata: meta.Append(nil)}
		if c.offer(ac, journal.TurnReplaced{Turn: edited, Ingress: &in}) != nil {
			c.refuse(ac, msg)
			return true
		}
		c.answer(ac, messages.IngressAccepted{ChatKey: c.key, RequestID: msg.RequestID, TurnID: old.ID})
		c.unfetch(old.ID)
		if c.holding.IsZero() {
			c.next(ac)
		}
		return true
	}
	return false
}

// hostCommand obeys a person's order to the host. The command itself is answered
// by the host and never reaches the model.
func (c *chat) hostCommand(ac actor.Context, msg messages.AcceptIngress, turn journal.Turn) {
	if msg.Command == "stop" {
		was := c.stop(ac, "stopped by "+turn.Meta.UserID, msg.RequestID, msg.Args == "all")
		if c.state == nil {
			c.refuse(ac, msg)
			return
		}
		notice := noticeNothingToStop()
		if was {
			notice = noticeStopped()
		}
		turn.Meta.Seq = c.state.Seq + 1
		c.settleAtOnce(ac, msg, turn, journal.FateAnswered, "stop", c.text(notice, turn))
		return
	}
	if c.sendOutput(ac, msg, turn) || c.forgetCommand(ac, msg, turn) {
		return
	}
	if c.overOpenRequests(msg, turn) {
		c.settleAtOnce(ac, msg, turn, journal.FateAnswered, "command", c.text(noticeOverRequests(), turn))
		return
	}
	say := c.text(noticeUnknownCommand(), turn)
	var folding Compaction
	if msg.Command == "compact" {
		folding = c.compactNow(ac)
	}
	chinese := c.writtenInChinese(c.newestTurn()) // before the words are archived
	contexts := c.contextCommand(ac, msg, turn)
	if c.state == nil {
		c.refuse(ac, msg)
		return
	}
	if msg.Notice != "" {
		say = msg.Notice // the platform has obeyed already, for example a pairing code
	} else if c.Commands != nil {
		cmd := c.commandOf(msg, turn)
		cmd.Compaction, cmd.Contexts, cmd.Chinese = folding, contexts, chinese
		cmd.Offer = func(asks ...messages.Ask) { msg.Asks = append(msg.Asks, asks...) }
		if words, ok := c.Commands(cmd); ok {
			say = words
		}
	}
	c.settleAtOnce(ac, msg, turn, journal.FateAnswered, "command", say)
}

func (c *chat) counts() journal.Counts { return c.state.Counts() }

// stopRun is the order to stop that web, CLI and API give.
func (c *chat) stopRun(ac actor.Context, msg messages.StopRun) {
	was := c.stop(ac, "stopped by "+msg.By, msg.RequestID, msg.All)
	if c.state == nil {
		c.refuse(ac, msg)
		return
	}
	ac.Respond(messages.RunStopped{ChatKey: c.key, Was: was})
}

// stop obeys an order to stop, and reports whether there was something to. Nothing may
// run, and turns wait all the same: for their files, or for people to say all.
func (c *chat) stop(ac actor.Context, by, requestID string, all bool) bool {
	switch {
	case c.run != nil:
		c.stopWith(ac, by, requestID, all)
	case all && c.state.OpenTurns() > 0:
		c.stopOpen(ac, requestID)
	default:
		return false
	}
	return true
}

// interrupt stops the run under way, durably; waiting turns start the next.
func (c *chat) interrupt(ac actor.Context, by, requestID string) {
	c.stopWith(ac, by, requestID, false)
}

func (c *chat) stopWith(ac actor.Context, by, requestID string, all bool) {
	run := c.state.Run
	if c.append(ac, journal.StopRequested{RunID: run.ID, By: by, RequestID: requestID}) != nil {
		return
	}
	c.audit(AuditEntry{Event: "stop", RequestID: requestID, RunID: run.ID})
	if all && len(c.state.Lane) > 0 {
		var fates []journal.Settled
		for _, t := range c.state.Lane {
			fates = append(fates, journal.Settled{TurnID: t.ID, Fate: journal.FateStopped, Reason: reasonStopAll})
		}
		if c.append(ac, journal.TurnsSettled{Fates: fates}) != nil {
			return
		}
		c.dropped(ac, fates)
	}
	c.finish(ac, journal.ResultStopped, "stopped")
}

// view answers with the chat as a reader sees it.
func (c *chat) view(ac actor.Context) {
	counts := c.counts()
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
	ac.Respond(v)
}

// rewind cuts the history behind a message, into an archive.
func (c *chat) rewind(ac actor.Context, msg messages.RewindChat) {
	if !c.settledAll() { // what waits has no fate yet, and would lose its place to get one
		ac.Respond(messages.ChatRewound{ChatKey: c.key, Reason: "busy"})
		return
	}
	cut := 0
	for i, t := range c.state.History {
		if t.ID == msg.Keep {
			cut = i + 1
		}
	}
	if msg.Keep != "" && cut == 0 {
		ac.Respond(messages.ChatRewound{ChatKey: c.key, Reason: "not_found"})
		return
	}
	err := c.withdraw(ac, reasonRewound)
	if err == nil {
		err = c.cut(ac, cut)
	}
	if err != nil {
		ac.Respond(messages.ChatRewound{ChatKey: c.key, Reason: fmt.Sprintf("the history could not be rewritten: %v", err)})
		return
	}
	ac.Respond(messages.ChatRewound{ChatKey: c.key})
}

// cut archives the history from a place on. What it leaves without an answer is not
// answered again; who asks it again hands it over as a new ingress.
func (c *chat) cut(ac actor.Context, from int) error {
	if from == len(c.state.History) {
		return nil
	}
	if err := c.fold(ac); err != nil {
		return err
	}
	now := time.Now()
	rewrite := c.state.Rewound(c.key, from, now, "a:"+string(c.key)+":"+newID(now))
	rewrite.Meta.Pinned = c.needed(contentsOf(c.state.History[:from]))
	if err := c.store.Rewrite(context.Background(), rewrite); err != nil {
		c.storeFailed(ac, err)
		return err
	}
	c.state.Cut(from, rewrite.Insert...)
	c.state.Pinned = rewrite.Meta.Pinned
	c.cache, c.trim = &prompt.Cache{}, messages.Trim{}
	c.compaction.size, c.compaction.stale, c.state.Tokens = estimate{}, 0, journal.TokenCounts{}
	c.prefixBroken("rewind")
	return nil
}
