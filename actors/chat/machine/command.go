package machine

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// commandOf returns a person's command with the data that its answer may need.
func (c *Chat) commandOf(msg messages.AcceptIngress, turn journal.Turn) decision.Command {
	cmd := decision.Command{
		ChatKey: c.Key, Name: msg.Command, Args: msg.Args, At: c.At(), Turns: len(c.State.History), Running: c.run != nil, Waiting: len(c.State.Lane),
		Counts: c.State.Counts(), ChatType: turn.Meta.ChatType, By: decision.AskerOf(turn),
		Model:    decision.ModelAnswer{ModelChoice: c.ChosenModel(), Effort: c.ChosenEffort()},
		Language: c.ChosenLanguage(), Chinese: c.WrittenInChinese(decision.Newest(c.State.History)),
	}
	switch msg.Command {
	case "status":
		cmd.Requests = len(c.State.OpenRequests()) + len(c.State.OpenReferred())
		cmd.Tokens = c.compaction.size.Tokens(c.State.History, c.system.Text())
		for _, t := range slices.Backward(c.State.History) {
			if t.Meta.Usage != nil {
				cmd.Usage = *t.Meta.Usage
				break
			}
		}
	case "why":
		cmd.Why = c.why(turn.Meta.ReplyTo)
	}
	return cmd
}

// explained is how many of the newest entries of the ledger people can ask about.
const explained = 10_000

// why returns what the ledger says of a message, or of the newest message that did not simply get an answer. It is nil
// if there is neither among the newest entries.
func (c *Chat) why(id string) (unanswered *journal.LedgerEntry) {
	n, answered := 0, map[string]bool{}
	for e := range c.Ledger {
		if id != "" && e.Dir == journal.DirIn && e.MessageID == id {
			return &e
		}
		if unanswered == nil && isUnanswered(e) && !answered[e.MessageID] {
			unanswered = &e
		}
		if e.Fate == journal.FateAnswered && e.MessageID != "" {
			answered[e.MessageID] = true // also if it was declined first, and its sender let in later
		}
		if n++; n == explained || id == "" && unanswered != nil {
			break
		}
	}
	return unanswered
}

// isUnanswered reports whether a message of the chat did not simply get an answer. Notices of the platform are not messages of people.
func isUnanswered(e journal.LedgerEntry) bool {
	switch e.Fate {
	case journal.FateIgnored, journal.FateDeclined, journal.FateMerged, journal.FateStopped:
		return e.Dir == journal.DirIn && e.Reason != "service"
	case journal.FateAnswered:
	}
	return false
}
