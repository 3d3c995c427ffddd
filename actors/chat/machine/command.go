package machine

import (
	"context"
	"log/slog"
	"slices"

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
		Counts: c.counts(), ChatType: turn.Meta.ChatType, Admin: msg.Admin,
		By:       messages.Asker{Platform: turn.Meta.Channel, ID: turn.Meta.UserID, Name: turn.Meta.Username},
		Language: c.language(), Chinese: c.writtenInChinese(c.newestTurn()),
	}
	switch msg.Command {
	case "status":
		cmd.Tokens = c.compaction.size.Tokens(c.state.History, c.system())
	case "why":
		if cmd.Why = c.recordOf(turn.Meta.ReplyTo); cmd.Why == nil {
			cmd.Why = c.unanswered()
		}
	}
	return cmd
}

// recordOf returns the last ledger entry of an incoming message, or nil if there is none.
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

// unanswered returns the last message of the chat that did not simply get an answer, or nil.
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
