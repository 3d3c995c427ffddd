package machine

import (
	"context"
	"log/slog"
	"slices"

	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// The languages that people may choose for a chat.
const (
	LanguageEnglish = "en"
	LanguageChinese = "zh"
)

// language is what people chose for the chat; empty: nothing.
func (c *Chat) language() string {
	if c.Language == nil {
		return ""
	}
	return c.Language(c.key)
}

// canSay: an answer of the host to this message reaches its sender.
func (c *Chat) canSay(msg messages.AcceptIngress) bool {
	return c.via.Outbox || msg.Verdict == messages.VerdictCommand || c.takesWords()
}

// directly is what goes back with the receipt: the words of the host, where no outbox
// takes them to people.
func (c *Chat) directly(msg messages.AcceptIngress, say string) string {
	if c.via.Outbox || !c.canSay(msg) {
		return ""
	}
	return say
}

// decidedWords say what became of decisions, for readers who are not shown it otherwise.
func (c *Chat) decidedWords(decided []journal.ApprovalDecided, turn journal.Turn) string {
	for _, d := range decided {
		if d.Answer == journal.AnswerApproved {
			return c.text(notices.Approved(), turn)
		}
	}
	return c.text(notices.Denied(), turn)
}

// commandOf is a person's order with what an answer may need.
func (c *Chat) commandOf(msg messages.AcceptIngress, turn journal.Turn) Command {
	cmd := Command{
		ChatKey: c.key, Name: msg.Command, Args: msg.Args, Turns: len(c.state.History), Running: c.run != nil, Waiting: len(c.state.Lane),
		Counts: c.counts(), ChatType: turn.Meta.ChatType, Admin: msg.Admin,
		By:       messages.Asker{Platform: turn.Meta.Channel, ID: turn.Meta.UserID, Name: turn.Meta.Username},
		Language: c.language(), Chinese: c.writtenInChinese(c.newestTurn()),
	}
	switch msg.Command {
	case "status":
		cmd.Tokens = c.compaction.size.tokens(c.state.History, c.system())
	case "why":
		if cmd.Why = c.recordOf(turn.Meta.ReplyTo); cmd.Why == nil {
			cmd.Why = c.unanswered()
		}
	}
	return cmd
}

// recordOf is what the ledger says of a message of people; nil: nothing.
func (c *Chat) recordOf(messageID string) *journal.LedgerEntry {
	if messageID == "" {
		return nil
	}
	var found *journal.LedgerEntry
	note := func(e journal.LedgerEntry) {
		if e.Dir == journal.DirIn && e.MessageID == messageID {
			found = &e
		}
	}
	for e, err := range c.store.Ledger(context.Background()) {
		if err != nil {
			c.log(slog.LevelWarn, "the ledger cannot be read", "error", err)
			break
		}
		note(e)
	}
	for _, e := range c.state.UnfoldedLedger() {
		note(e)
	}
	return found
}

// unanswered is the last message here that did not simply get an answer.
func (c *Chat) unanswered() *journal.LedgerEntry {
	if e, ok := lastUnanswered(c.state.UnfoldedLedger()); ok {
		return &e
	}
	var last *journal.LedgerEntry
	for e, err := range c.store.Ledger(context.Background()) {
		if err != nil {
			c.log(slog.LevelWarn, "the ledger cannot be read", "error", err)
			break
		}
		if isUnanswered(e) {
			last = &e
		}
	}
	return last
}

func lastUnanswered(entries []journal.LedgerEntry) (journal.LedgerEntry, bool) {
	for _, e := range slices.Backward(entries) {
		if isUnanswered(e) {
			return e, true
		}
	}
	return journal.LedgerEntry{}, false
}

func isUnanswered(e journal.LedgerEntry) bool {
	switch e.Fate {
	case journal.FateIgnored, journal.FateDeclined, journal.FateMerged, journal.FateStopped, journal.FateExpired:
		return e.Dir == journal.DirIn
	case journal.FateAnswered:
	}
	return false
}
