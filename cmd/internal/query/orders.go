package query

import (
	"context"
	"errors"
	"slices"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// The reasons of a chat to refuse an order, for programs. Nothing was changed then.
const (
	refusedNotFound  = "not_found"
	refusedBusy      = "busy"
	refusedNoMessage = "no_such_message"
	refusedNotAtRest = "not_at_rest"
)

// ErrNotAtRest says that a chat has turns or requests that only a host can finish.
var ErrNotAtRest = errors.New("the chat has unfinished work")

// RewindOrder archives the history of a chat from a message on.
type RewindOrder struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	Before  string           `json:"before"` // the first message that is archived
}

// RewindResult is the result of a [RewindOrder]. Members are only ever added.
type RewindResult struct {
	ChatKey  messages.ChatKey `json:"chatKey"`
	Kept     int              `json:"kept"`
	Archived int              `json:"archived"`
	// Refused is busy, no_such_message or not_at_rest; nothing was changed then.
	Refused string `json:"refused,omitempty"`
}

// Refusal is why nothing was changed: [platform.ErrBusy], [ErrNoSuchTurn] or [ErrNotAtRest]. It is nil if the chat
// was rewound.
func (r RewindResult) Refusal() error {
	switch r.Refused {
	case "":
		return nil
	case refusedBusy:
		return platform.ErrBusy
	case refusedNotAtRest:
		return ErrNotAtRest
	default:
		return ErrNoSuchTurn
	}
}

// Rewind archives the history of a chat from a message on. Without a host, a damaged history is refused with
// [journal.ErrDamaged] and left unchanged.
func (d *Desk) Rewind(ctx context.Context, o RewindOrder) (RewindResult, error) {
	doc, err := d.Chat(ctx, Asked{ChatKey: o.ChatKey})
	if err != nil {
		return RewindResult{}, err
	}
	from := slices.IndexFunc(doc.Messages, func(m uimessage.Message) bool { return m.ID == o.Before })
	if from < 0 {
		return RewindResult{ChatKey: o.ChatKey, Refused: refusedNoMessage}, nil
	}
	keep := ""
	if from > 0 {
		keep = doc.Messages[from-1].ID
	}
	reply, err := Ask[messages.ChatRewound](ctx, d.chat, messages.RewindChat{ChatKey: o.ChatKey, Keep: keep})
	switch {
	case err != nil:
		return RewindResult{}, err
	case reply.Reason == refusedBusy || reply.Reason == refusedNotAtRest:
		return RewindResult{ChatKey: o.ChatKey, Refused: reply.Reason}, nil
	case reply.Reason == refusedNotFound:
		return RewindResult{}, platform.ErrNotFound
	case reply.Reason != "":
		return RewindResult{}, errors.New(reply.Reason)
	}
	return RewindResult{ChatKey: o.ChatKey, Kept: from, Archived: len(doc.Messages) - from}, nil
}

// PauseOrder pauses or resumes a chat. What arrives in a paused chat is durable and waits. A run in progress is finished,
// but no other starts.
type PauseOrder struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	Paused  bool             `json:"paused"`
}

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
