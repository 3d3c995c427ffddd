package botkit

import (
	"cmp"
	"context"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/notices"
	"github.com/shipmyagent/shipmyagent/messages"
)

// DigestOf is the number of hexadecimal digits of a digest that a button carries: 128 bits.
const DigestOf = 32

// Tone is the tone of the answer to a press.
type Tone string

// The tones.
const (
	ToneSuccess Tone = "success"
	ToneInfo    Tone = "info"
	ToneWarning Tone = "warning"
	ToneError   Tone = "error"
)

// Pressed is the answer to somebody who pressed a button.
type Pressed struct {
	Tone Tone
	Text string
	// Mark begins the text that replaces the buttons. If empty, they stay.
	Mark string
}

// Decided words the outcome of a decision.
func Decided(say notices.Words, d messages.Decision, out messages.DecisionOutcome) Pressed {
	switch out.Is {
	case messages.DecisionDone:
		if d.Approved {
			return Pressed{ToneSuccess, say.ApprovedToast, Mark("approved")}
		}
		return Pressed{ToneSuccess, say.DeniedToast, Mark("denied")}
	case messages.DecisionAlready:
		return Pressed{ToneInfo, say.AlreadyDecided, Mark(out.Answer)}
	case messages.DecisionExpired:
		return Pressed{ToneWarning, say.ExpiredRequest, Mark("expired")}
	case messages.DecisionForbidden:
		return Pressed{ToneError, say.MayNotDecide, ""}
	case messages.DecisionUnseen:
		return Pressed{ToneWarning, say.UnseenRequest, ""}
	case messages.DecisionUnknown:
	}
	return Pressed{ToneError, say.UnknownRequest, ""}
}

// Mark is the symbol for how a request ended.
func Mark(answer string) string {
	switch answer {
	case "approved":
		return "✅"
	case "denied":
		return "❌"
	case "expired":
		return "⌛"
	}
	return "⏹"
}

// Choose carries out the owner's press about an access request, and words the outcome. A press
// counts only in the owner's private chat.
func (d *Admission) Choose(ctx context.Context, by platform.Person, chat, code string, choice platform.Choice, say notices.Words) Pressed {
	done := Outcome(say, choice)
	if done == "" || choice == platform.Withdrawn {
		return Pressed{ToneError, say.UnknownRequest, ""}
	}
	if owner := d.owner(); owner == nil || owner.ID != by.ID || by.IsBot || cmp.Or(owner.Chat, owner.ID) != chat {
		return Pressed{ToneError, say.OwnerOnly, ""}
	}
	who, ok, err := d.store.Decide(ctx, d.bot, code, choice, true)
	switch {
	case err != nil:
		d.log.Error("a request for access could not be decided", "error", err)
		return Pressed{ToneWarning, say.TryAgain, ""}
	case !ok: // it was decided before, was withdrawn, or is no longer pending
		return Pressed{ToneInfo, say.NotOpenAnyMore, ""}
	}
	d.log.Info("a request to be let in was decided", "user", who.ID, "choice", choice)
	return Pressed{ToneSuccess, done, done}
}
