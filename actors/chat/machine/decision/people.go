package decision

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Several is the id of the author of a summary of what several people wrote.
const Several = "*"

// OnePerson reports whether this person wrote all user turns of the chat, and those that its summary replaces.
func (b *Base) OnePerson(id string) bool {
	return id != "" && !b.Group() && wroteAll(id, b.State.History)
}

func wroteAll(id string, turns []journal.Turn) bool {
	return !slices.ContainsFunc(turns, func(t journal.Turn) bool { return wrote(t) && t.Meta.UserID != id })
}

// wrote reports whether people wrote a turn, or what it sums up, and it is known who.
func wrote(t journal.Turn) bool {
	return t.Meta.UserID != "" && (t.Role == uimessage.RoleUser || t.Meta.Kind == uimessage.KindSummary)
}

// AuthorOf is [Several] if several people wrote in turns of a chat that is no group, and otherwise empty.
func (b *Base) AuthorOf(turns []journal.Turn) string {
	i := slices.IndexFunc(turns, wrote)
	if i < 0 || b.Group() || wroteAll(turns[i].Meta.UserID, turns) && turns[i].Meta.UserID != Several {
		return ""
	}
	return Several
}

// ContentsOf returns the messages of turns.
func ContentsOf(turns []journal.Turn) []uimessage.Message {
	out := make([]uimessage.Message, len(turns))
	for i, t := range turns {
		out[i] = t.Message
	}
	return out
}

// IsOwn reports whether only the operator's own people can use a platform.
func IsOwn(platform string) bool {
	return platform == "web" || platform == "cli" || platform == "control"
}

// Ledger yields the entries of the ledger, newest first, also those that are still in the journal. Whoever asks should
// stop early, because ledgers grow for good.
func (b *Base) Ledger(yield func(journal.LedgerEntry) bool) {
	for _, e := range slices.Backward(b.State.UncheckpointedLedger()) {
		if !yield(e) {
			return
		}
	}
	for e, err := range b.Store.Ledger(context.Background()) {
		if err != nil {
			b.Log(slog.LevelWarn, "the ledger cannot be read", "error", err)
			return
		}
		if !yield(e) {
			return
		}
	}
}

// Unseen returns the turns that no model has seen.
func (b *Base) Unseen() []journal.Turn {
	if b.State.Run != nil {
		return b.State.Lane
	}
	return b.State.Open()
}

// Group reports whether several people may write in the chat.
func (b *Base) Group() bool { return messages.IsGroup(b.ChatType, b.Addr.Chat) }

// Self returns the name by which people mention the bot in texts, or empty if it has no such name.
func (b *Base) Self() string {
	if b.Via.Self == nil {
		return ""
	}
	return b.Via.Self()
}

// At returns what follows the name of a command in words for people of the chat. In a group it is the name of the bot,
// without which a command is not for it.
func (b *Base) At() string {
	self := b.Self()
	if self == "" || !b.Group() {
		return ""
	}
	return "@" + self
}

// AskerOf returns who wrote a turn.
func AskerOf(turn journal.Turn) messages.Asker {
	return messages.Asker{Platform: turn.Meta.Channel, ID: turn.Meta.UserID, Name: turn.Meta.Username}
}

// OnlyWords returns the text of a message that contains only text.
func OnlyWords(msg messages.AcceptIngress) (string, bool) {
	if msg.Verdict == messages.VerdictCommand {
		return strings.TrimSpace("/" + msg.Command + " " + msg.Args), true
	}
	if msg.EditOf != "" || len(msg.Turn.Parts) != 1 {
		return "", false
	}
	t, ok := msg.Turn.Parts[0].(uimessage.Text)
	return t.Text, ok
}

// Asker returns the sender of the newest user turn in the history.
func (b *Base) Asker() messages.Asker { return AskerOf(Newest(b.State.History)) }

// PlainMeta returns the metadata that all assistant turns have.
func (b *Base) PlainMeta() uimessage.Metadata {
	return uimessage.Metadata{
		TS: b.Now().UnixMilli(), ChatKey: string(b.Key), Kind: uimessage.KindNormal, Source: uimessage.SourceEgress,
		Model: b.ChosenModel().Label, Demo: b.Demo, Seq: b.State.Seq, Channel: b.Addr.Platform, ChatID: b.Addr.Chat,
	}
}

// Seen takes the type and title of the chat from its newest user turn.
func (b *Base) Seen(turns []journal.Turn) {
	for _, t := range slices.Backward(turns) {
		if t.Role == uimessage.RoleUser && t.Meta.ChatType != "" {
			b.ChatType, b.Title = t.Meta.ChatType, t.Meta.ChatTitle
			return
		}
	}
}

// ChosenModel returns the model that people chose for the chat, or the main model. A model that is no longer in the
// settings is not used.
func (b *Base) ChosenModel() ModelChoice {
	all := b.AllModels()
	for _, m := range all[1:] {
		if m.Name == b.State.Model {
			return m
		}
	}
	return all[0]
}

// ChosenEffort returns the word with which people chose how much the model of the chat thinks, or empty. A word that
// was chosen for another model, or that the model no longer takes, is not used.
func (b *Base) ChosenEffort() string {
	m := b.ChosenModel()
	if m.Name == cmp.Or(b.State.Model, MainModel) && slices.Contains(m.Efforts, b.State.Effort) {
		return b.State.Effort
	}
	return ""
}

// AllModels returns the models that can answer in the chat, the main model first.
func (b *Base) AllModels() []ModelChoice {
	if b.Models != nil {
		if all := b.Models(); len(all) > 0 {
			return all
		}
	}
	return []ModelChoice{{Name: MainModel}}
}
