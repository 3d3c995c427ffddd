package machine

import (
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/internal/prompt"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// input returns what a step sees: the history followed by the message in progress.
func (c *Chat) input(step int) messages.StepInput {
	history := c.shown()
	if m := c.run.reducer.Snapshot(); len(m.Parts) > 0 {
		// A continued message is in the history in its old form: replace it.
		n, at := history.Len, history.At
		if n > 0 && at(n-1).ID == c.State.Run.MessageID {
			n--
		}
		history = prompt.History{Len: n + 1, At: func(i int) *uimessage.Message {
			if i == n {
				return &m
			}
			return at(i)
		}}
	}
	several := c.Group() || c.Addr.Platform == "api" // where programs say for whom they write
	converted := prompt.MessagesOf(history, prompt.Options{ChatKey: c.Key, Group: several, Location: c.Location, ToolName: c.ToolName, Cache: c.cache})
	if n := c.cache.Aged(); n != c.picturesAged {
		if n > c.picturesAged {
			c.PrefixBroken("aged_picture")
		}
		c.picturesAged = n
	}
	return messages.StepInput{Step: step, Messages: converted, LaneEmpty: len(c.State.Lane) == 0, Depth: c.State.Depth, MayBeSilent: c.mayBeSilent()}
}

// mayBeSilent reports whether the next step may say nothing: people have already read part of this answer, or the run
// answers only scheduled tasks.
func (c *Chat) mayBeSilent() bool {
	if strings.TrimSpace(journal.Text(c.own(c.run.reducer.Snapshot()))) != "" {
		return true
	}
	if len(c.run.lastSent) > 0 || c.State.Run.Spoke && c.gotThrough() {
		return true
	}
	visible := c.State.Run.Visible
	return len(visible) > 0 && !slices.ContainsFunc(visible, func(v journal.Visible) bool {
		t, ok := c.State.Turn(v.TurnID)
		return !ok || t.Meta.Source != uimessage.SourceTask
	})
}

// settled returns the history without the old form of the message that the run continues.
func (c *Chat) settled(history []uimessage.Message) []uimessage.Message {
	if n := len(history); n > 0 && history[n-1].ID == c.State.Run.MessageID {
		return history[:n-1]
	}
	return history
}
