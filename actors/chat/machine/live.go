package machine

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

func (c *Chat) audit(e AuditEntry) {
	if !c.Audits {
		return
	}
	e.TS, e.ChatKey = c.now(), c.key
	c.effect(Audit{e})
}

// watch adds a watcher and first sends it the message in progress.
func (c *Chat) watch(msg messages.WatchChat) {
	put(&c.watchers, msg.WatchID, c.in.Sender)
	if c.run == nil || c.state.Run == nil {
		return
	}
	c.send(c.in.Sender, messages.ChatProgressed{
		ChatKey: c.key, WatchID: msg.WatchID, Kind: "start", RunID: c.run.id, MessageID: c.state.Run.MessageID,
		Sees: c.visible(), Chunks: c.run.reducer.Replay(), Replay: true,
	})
}

// frame sends a frame to every watcher.
func (c *Chat) frame(f messages.ChatProgressed) {
	f.ChatKey = c.key
	if c.run != nil {
		f.RunID = c.run.id
	}
	for _, id := range slices.Sorted(maps.Keys(c.watchers)) {
		f.WatchID = id
		c.send(c.watchers[id], f)
	}
}

func (c *Chat) startFrame(sees []string) {
	if len(c.watchers) > 0 {
		f := messages.ChatProgressed{Kind: "start", MessageID: c.state.Run.MessageID, Sees: sees}
		if len(c.run.before.Parts) > 0 {
			f.Chunks, f.Replay = uistream.Replay(c.run.before), true
		}
		c.frame(f)
	}
}

// replayFrame sends the message again after a part of it was discarded.
func (c *Chat) replayFrame() {
	if len(c.watchers) > 0 {
		c.frame(messages.ChatProgressed{
			Kind: "start", MessageID: c.state.Run.MessageID, Sees: c.visible(), Chunks: uistream.Replay(c.run.before), Replay: true,
		})
	}
}

func (c *Chat) chunkFrame(messageID string, chunks []uistream.Chunk) {
	if len(c.watchers) > 0 && len(chunks) > 0 {
		c.frame(messages.ChatProgressed{Kind: "chunks", MessageID: messageID, Chunks: chunks})
	}
}

func (c *Chat) eventFrame(name string, step int, words string) {
	if len(c.watchers) > 0 {
		c.frame(messages.ChatProgressed{Kind: "event", Event: name, Step: step, Text: words})
	}
}

func (c *Chat) endFrame(messageID, result string, fates []journal.Settled, last bool) {
	if len(c.watchers) == 0 {
		return
	}
	f := messages.ChatProgressed{Kind: "end", MessageID: messageID, Last: last, Result: result}
	for _, s := range fates {
		f.Settled = append(f.Settled, s.TurnID)
	}
	c.frame(f)
}

func (c *Chat) settledFrame(turnID string) {
	c.unmarkTurn(turnID)
	if len(c.watchers) > 0 {
		c.frame(messages.ChatProgressed{Kind: "settled", Settled: []string{turnID}})
	}
}

func (c *Chat) tick(after time.Duration) {
	c.timer("tick", after, runTick{c.run.id})
}

// onRunTick shows people that an answer is being written: the text so far, or a typing indicator.
func (c *Chat) onRunTick(msg runTick) {
	if !c.ours(msg.runID) || c.state.Run == nil || c.via.Ref == nil {
		return
	}
	words := c.inProgress()
	switch {
	case words != "" && words != c.run.draft && c.via.Drafts:
		key := c.draftRow()
		c.run.draft = words
		draft := messages.ShowDraft{ChatKey: c.key, Row: messages.RowID(key), ChatType: c.chatType, Text: words, ReplyTo: c.replyAnchor()}
		if row := c.state.Row(key); row != nil {
			draft.Draft = row.Draft
		}
		c.send(c.via.Ref, draft)
	case words == "" && c.via.Typing:
		c.send(c.via.Ref, messages.ShowTyping{ChatKey: c.key, ChatType: c.chatType})
		c.tick(typingEvery)
		return
	}
	c.tick(tickEvery)
}

// typingEvery is how often the typing indicator is renewed until text appears.
const typingEvery = 5 * time.Second

// inProgress returns the text written so far that people will read: the words of the message, or those of a chat_send
// call whose input is being written.
func (c *Chat) inProgress() string {
	m := c.own(c.run.reducer.Message())
	if !c.via.ToolEgress {
		return journal.Text(m)
	}
	for _, p := range slices.Backward(m.Parts) {
		t, ok := p.(uimessage.Tool)
		if !ok {
			continue
		}
		if t.Name != "chat_send" || t.State != uimessage.ToolInputStreaming {
			return ""
		}
		var in struct {
			Text string `json:"text"`
		}
		_ = json.Unmarshal(t.Input, &in) // an incomplete input yields what it can
		return in.Text
	}
	return ""
}

// firstWord is the run whose first words people have not seen yet.
type firstWord struct {
	runID string
	since time.Time
}

// firstEgress measures the time until people see the first words of a run.
func (c *Chat) firstEgress(runID string) {
	if runID == "" || runID != c.first.runID {
		return
	}
	c.measure(CountFirstWords, c.ago(c.first.since).Seconds())
	c.first = firstWord{}
}

// mark shows the state of a person's message as a reaction, where this is enabled. Reactions are not journaled; losing
// one is harmless.
func (c *Chat) mark(turn journal.Turn, as messages.Mark) {
	if !c.via.Reactions || c.via.Ref == nil || turn.Meta.MessageID == "" {
		return
	}
	put(&c.marked, turn.ID, turn.Meta.MessageID)
	c.send(c.via.Ref, messages.ShowMark{ChatKey: c.key, ChatType: c.chatType, MessageID: turn.Meta.MessageID, Mark: as})
}

// markMerged shows that queued turns were merged into the run in progress.
func (c *Chat) markMerged(ids []string) {
	for _, id := range ids {
		if t, ok := c.state.Turn(id); ok {
			c.mark(t, messages.MarkMerged)
		}
	}
}

// unmark removes the marks of settled turns.
func (c *Chat) unmark(fates []journal.Settled) {
	if !c.via.Reactions {
		return
	}
	for _, f := range fates {
		if t, ok := c.state.Turn(f.TurnID); ok && c.marked[f.TurnID] == "" {
			c.mark(t, messages.MarkNone) // it may have been marked before a restart
			delete(c.marked, f.TurnID)
		}
		c.unmarkTurn(f.TurnID)
	}
}

// unmarkTurn removes the mark of a turn, if it has one.
func (c *Chat) unmarkTurn(id string) {
	message, ok := c.marked[id]
	if !ok {
		return
	}
	delete(c.marked, id)
	c.send(c.via.Ref, messages.ShowMark{ChatKey: c.key, ChatType: c.chatType, MessageID: message, Mark: messages.MarkNone})
}
