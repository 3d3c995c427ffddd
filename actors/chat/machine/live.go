package machine

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// watch adds a watcher and first sends it the message in progress.
func (c *Chat) watch(msg messages.WatchChat) {
	decision.Put(&c.Watching, msg.WatchID, c.In.Sender)
	if c.run == nil || c.State.Run == nil {
		return
	}
	c.Send(c.In.Sender, messages.ChatProgressed{
		ChatKey: c.Key, WatchID: msg.WatchID, Kind: "start", RunID: c.RunID, MessageID: c.State.Run.MessageID,
		Sees: c.visible(), Chunks: c.run.reducer.Replay(), Replay: true,
	})
}

func (c *Chat) startFrame(sees []string) {
	if len(c.Watching) > 0 {
		f := messages.ChatProgressed{Kind: "start", MessageID: c.State.Run.MessageID, Sees: sees}
		if len(c.run.before.Parts) > 0 {
			f.Chunks, f.Replay = uistream.Replay(c.run.before), true
		}
		c.Frame(f)
	}
}

// replayFrame sends the message again after a part of it was discarded.
func (c *Chat) replayFrame() {
	if len(c.Watching) > 0 {
		c.Frame(messages.ChatProgressed{
			Kind: "start", MessageID: c.State.Run.MessageID, Sees: c.visible(), Chunks: uistream.Replay(c.run.before), Replay: true,
		})
	}
}

func (c *Chat) tick(after time.Duration) {
	c.Timer("tick", after, runTick{c.RunID})
}

// onRunTick shows people that an answer is being written: the text so far, or a typing indicator.
func (c *Chat) onRunTick(msg runTick) {
	if !c.ours(msg.runID) || c.State.Run == nil || c.Via.Ref == nil {
		return
	}
	words := c.inProgress()
	switch {
	case words != "" && words != c.run.draft && c.Via.Drafts:
		key := c.draftRow()
		c.run.draft = words
		draft := messages.ShowDraft{ChatKey: c.Key, Row: messages.RowID(key), ChatType: c.ChatType, Text: words, ReplyTo: c.replyAnchor()}
		if row := c.State.Row(key); row != nil {
			draft.Draft = row.Draft
		}
		c.Send(c.Via.Ref, draft)
	case words == "" && c.Via.Typing:
		c.Send(c.Via.Ref, messages.ShowTyping{ChatKey: c.Key, ChatType: c.ChatType})
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
	if !c.Via.ToolEgress {
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

// markMerged shows that queued turns were merged into the run in progress.
func (c *Chat) markMerged(ids []string) {
	for _, id := range ids {
		if t, ok := c.State.Turn(id); ok {
			c.Mark(t, messages.MarkMerged)
		}
	}
}
