package machine

import (
	"context"
	"iter"
	"log/slog"

	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Languages that people may choose for a chat.
const (
	LanguageEnglish = "en"
	LanguageChinese = "zh"
)

// language returns the language that people chose for the chat, or empty if none was chosen.
func (c *Chat) language() string {
	if c.Language == nil {
		return ""
	}
	return c.Language(c.key)
}

// canSay reports whether an answer of the host reaches the sender of a message.
func (c *Chat) canSay(msg messages.AcceptIngress) bool {
	return c.via.Outbox || msg.Verdict == messages.VerdictCommand || c.takesWords()
}

// directly returns words of the host that go back with the receipt, because the chat has no outbox to deliver them.
func (c *Chat) directly(msg messages.AcceptIngress, say string) string {
	if c.via.Outbox || !c.canSay(msg) {
		return ""
	}
	return say
}

// decidedWords confirms decisions to people who are not shown the outcome in another way.
func (c *Chat) decidedWords(decided []journal.ApprovalDecided, turn journal.Turn) string {
	for _, d := range decided {
		if d.Answer == journal.AnswerApproved {
			return c.text(notices.Approved(), turn)
		}
	}
	return c.text(notices.Denied(), turn)
}

// commandOf returns a person's command with the data that its answer may need.
func (c *Chat) commandOf(msg messages.AcceptIngress, turn journal.Turn) Command {
	cmd := Command{
		ChatKey: c.key, Name: msg.Command, Args: msg.Args, Turns: len(c.state.History), Running: c.run != nil, Waiting: len(c.state.Lane),
		Counts: c.state.Counts(), ChatType: turn.Meta.ChatType, Admin: msg.Admin, By: askerOf(turn),
		Language: c.language(), Chinese: c.writtenInChinese(newest(c.state.History)),
	}
	switch msg.Command {
	case "status":
		cmd.Tokens = c.compaction.size.Tokens(c.state.History, c.system())
	case "why":
		if id := turn.Meta.ReplyTo; id != "" {
			cmd.Why = c.lastEntry(func(e journal.LedgerEntry) bool { return e.Dir == journal.DirIn && e.MessageID == id })
		}
		if cmd.Why == nil {
			cmd.Why = c.lastEntry(isUnanswered)
		}
	}
	return cmd
}

// ledger yields the entries of the ledger, oldest first, also those that are still in the journal.
func (c *Chat) ledger() iter.Seq[journal.LedgerEntry] {
	return func(yield func(journal.LedgerEntry) bool) {
		for e, err := range c.store.Ledger(context.Background()) {
			if err != nil {
				c.log(slog.LevelWarn, "the ledger cannot be read", "error", err)
				break
			}
			if !yield(e) {
				return
			}
		}
		for _, e := range c.state.UnfoldedLedger() {
			if !yield(e) {
				return
			}
		}
	}
}

// lastEntry returns the last entry of the ledger for which the condition is true, or nil.
func (c *Chat) lastEntry(is func(e journal.LedgerEntry) bool) (last *journal.LedgerEntry) {
	for e := range c.ledger() {
		if is(e) {
			last = &e
		}
	}
	return last
}

// isUnanswered reports whether a message of the chat did not simply get an answer.
func isUnanswered(e journal.LedgerEntry) bool {
	switch e.Fate {
	case journal.FateIgnored, journal.FateDeclined, journal.FateMerged, journal.FateStopped, journal.FateExpired:
		return e.Dir == journal.DirIn
	case journal.FateAnswered:
	}
	return false
}
