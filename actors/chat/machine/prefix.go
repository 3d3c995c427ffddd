package machine

import (
	"github.com/shipmyagent/shipmyagent/actors/chat/length"
	"github.com/shipmyagent/shipmyagent/actors/internal/prompt"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// readySummary is a summary that is applied when the run ends.
type readySummary struct {
	to      int
	hash    string
	summary uimessage.Message
	done    messages.CompactionFinished
	// shown is set if the run in progress already uses the summary.
	shown bool
}

// readySummary builds the turn of the summary.
func (c *Chat) readySummary(msg messages.CompactionFinished) *readySummary {
	meta := c.PlainMeta()
	meta.Kind, meta.Source, meta.SourceRange, meta.RequestID = uimessage.KindSummary, uimessage.SourceCompact, &msg.Range, msg.CompactionID
	meta.Tokens, meta.UserID = int64(msg.SummaryTokens), c.AuthorOf(c.State.History[:min(msg.To, len(c.State.History))])
	return &readySummary{to: msg.To, hash: msg.Hash, done: msg, summary: uimessage.Message{
		ID: "a:" + string(c.Key) + ":" + c.NewID(), Role: uimessage.RoleAssistant,
		Parts: []uimessage.Part{uimessage.Text{Text: msg.Summary}}, Metadata: meta.Append(nil),
	}}
}

// fits reports whether the summarized turns are still unchanged at the head of the history.
func (c *Chat) fits(ready *readySummary) bool {
	if ready.to > len(c.State.History) {
		return false
	}
	turns := make([]uimessage.Message, ready.to)
	for i := range turns {
		turns[i] = c.State.History[i].Message
	}
	return messages.PrefixHash(turns) == ready.hash
}

// shown returns the history as the run sees it. If the run needed a summary to continue, it is used here before it is
// durable.
func (c *Chat) shown() prompt.History {
	turns := c.State.History
	if r := c.compaction.ready; r != nil && r.shown {
		return prompt.History{Len: len(turns) - r.to + 1, At: func(i int) *uimessage.Message {
			if i == 0 {
				return &r.summary
			}
			return &turns[r.to+i-1].Message
		}}
	}
	return prompt.History{Len: len(turns), At: func(i int) *uimessage.Message { return &turns[i].Message }}
}

// newBegin resets what was derived from the old beginning of the history. The cause is for the metric of broken
// prefixes.
func (c *Chat) newBegin(cause string) {
	c.cache, c.trim = &prompt.Cache{}, messages.Trim{}
	c.compaction.size, c.compaction.stale = length.Estimate{}, 0
	c.size.Recount()
	c.PrefixBroken(cause)
}
