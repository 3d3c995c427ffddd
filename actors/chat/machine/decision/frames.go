package decision

import (
	"maps"
	"slices"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Frame sends a frame to every watcher.
func (b *Base) Frame(f messages.ChatProgressed) {
	f.ChatKey = b.Key
	f.RunID = b.RunID
	for _, id := range slices.Sorted(maps.Keys(b.Watching)) {
		f.WatchID = id
		b.Send(b.Watching[id], f)
	}
}

// ChunkFrame sends watchers new chunks of the message in progress.
func (b *Base) ChunkFrame(messageID string, chunks []uistream.Chunk) {
	if len(b.Watching) > 0 && len(chunks) > 0 {
		b.Frame(messages.ChatProgressed{Kind: "chunks", MessageID: messageID, Chunks: chunks})
	}
}

// EventFrame tells watchers what happens in a step, with words for people.
func (b *Base) EventFrame(name string, step int, words string) {
	if len(b.Watching) > 0 {
		b.Frame(messages.ChatProgressed{Kind: "event", Event: name, Step: step, Text: words})
	}
}

// EndFrame tells watchers that a message is final, and which turns ended with it. If last is set, the run has ended.
func (b *Base) EndFrame(messageID, result string, fates []journal.Settled, last bool) {
	if len(b.Watching) == 0 {
		return
	}
	f := messages.ChatProgressed{Kind: "end", MessageID: messageID, Last: last, Result: result}
	for _, s := range fates {
		f.Settled = append(f.Settled, s.TurnID)
	}
	b.Frame(f)
}

// SettledFrame tells watchers that a turn ended without a run.
func (b *Base) SettledFrame(turnID string) {
	b.UnmarkTurn(turnID)
	if len(b.Watching) > 0 {
		b.Frame(messages.ChatProgressed{Kind: "settled", Settled: []string{turnID}})
	}
}

// Mark shows the state of a person's message as a reaction, where this is enabled. Reactions are not journaled; losing
// one is harmless.
func (b *Base) Mark(turn journal.Turn, as messages.Mark) {
	if !b.Via.Reactions || b.Via.Ref == nil || turn.Meta.MessageID == "" {
		return
	}
	Put(&b.Marked, turn.ID, turn.Meta.MessageID)
	b.Send(b.Via.Ref, messages.ShowMark{ChatKey: b.Key, ChatType: b.ChatType, MessageID: turn.Meta.MessageID, Mark: as})
}

// Unmark removes the marks of settled turns.
func (b *Base) Unmark(fates []journal.Settled) {
	if !b.Via.Reactions {
		return
	}
	for _, f := range fates {
		if t, ok := b.State.Turn(f.TurnID); ok && b.Marked[f.TurnID] == "" {
			b.Mark(t, messages.MarkNone) // it may have been marked before a restart
			delete(b.Marked, f.TurnID)
		}
		b.UnmarkTurn(f.TurnID)
	}
}

// UnmarkTurn removes the mark of a turn, if it has one.
func (b *Base) UnmarkTurn(id string) {
	message, ok := b.Marked[id]
	if !ok {
		return
	}
	delete(b.Marked, id)
	b.Send(b.Via.Ref, messages.ShowMark{ChatKey: b.Key, ChatType: b.ChatType, MessageID: message, Mark: messages.MarkNone})
}
