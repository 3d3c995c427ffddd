package query

import (
	"context"

	"github.com/shipmyagent/shipmyagent/messages"
)

// PauseOrder pauses or resumes a chat. What arrives in a paused chat is durable and waits. A run in progress is finished,
// but no other starts.
type PauseOrder struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	Paused  bool             `json:"paused"`
}

// To implements [Order].
func (o PauseOrder) To() messages.ChatKey { return o.ChatKey }

// PauseResult is the result of a [PauseOrder]. Members are only ever added.
type PauseResult struct {
	PauseOrder

	// Running is whether a run is in progress.
	Running bool `json:"running"`
}

// Pause pauses or resumes a chat, now or when a host starts.
func (d *Desk) Pause(ctx context.Context, o PauseOrder) (PauseResult, error) {
	doc, err := d.Chat(ctx, Asked{ChatKey: o.ChatKey})
	if err == nil {
		err = d.preferences.SetPaused(o.ChatKey, o.Paused)
	}
	if err == nil && d.live {
		doc, err = d.Chat(ctx, Asked{ChatKey: o.ChatKey}) // any question makes the chat look at what follows
	}
	return PauseResult{o, doc.Running}, err
}
