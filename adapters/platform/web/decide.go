package web

import (
	"context"
	"net/http"
	"slices"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/follow"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/request"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// decide submits decisions to the core and returns what to answer.
func (p *Platform) decide(ctx context.Context, key messages.ChatKey, pl request.Plan, client uimessage.Message) (accepted, *respond.Problem) {
	outcomes, err := p.live.Decide(ctx, key, p.opts.Owner, pl.Say)
	if err != nil {
		return accepted{}, p.problem(ctx, key, "decide", err)
	}
	t := accepted{outcomes: outcomes, nothing: pl.Last}
	for _, o := range outcomes {
		switch {
		case o.Is != messages.DecisionDone:
		case o.Late:
			t.late = true
		default:
			t.continued = &follow.Follower{Message: o.MessageID, Base: &pl.Known}
		}
	}
	if t.continued == nil && !t.late {
		t.continued = &follow.Follower{Message: pl.Last, Base: &client} // it may continue already
	}
	return t, nil
}

// stale refuses decisions that came too late to matter. Otherwise the client's message would stay
// as it is and be sent again forever.
func stale(outcomes []messages.DecisionOutcome) *respond.Problem {
	is := func(want messages.DecisionState) bool {
		return slices.ContainsFunc(outcomes, func(o messages.DecisionOutcome) bool { return o.Is == want })
	}
	switch {
	case is(messages.DecisionDone):
		return nil
	case is(messages.DecisionForbidden):
		return respond.Refused(http.StatusForbidden, "forbidden", "You may not decide this.")
	case is(messages.DecisionUnknown):
		return respond.Refused(http.StatusNotFound, "not_found", "There is no such request for approval.")
	case is(messages.DecisionUnseen): // Unreachable: the page has shown what it decides
		return respond.Refused(http.StatusConflict, "unseen", "This could not be shown completely yet.")
	default:
		return respond.Refused(http.StatusConflict, "already_decided", "This was decided already. Load the chat again to see what came of it.")
	}
}

// continued answers decisions with what they add to the message: live, or from the history when it
// is complete.
func (p *Platform) continued(ctx context.Context, s *stream, key messages.ChatKey, frames <-chan platform.Frame, t accepted) error {
	if t.continued == nil {
		return s.nothing(t.nothing)
	}
	if stale(t.outcomes) != nil { // decided before: the message may be complete
		if view, err := p.live.History(ctx, key); err == nil && !request.IsBusy(view) {
			return p.settledGain(ctx, s, key, t.continued)
		}
	}
	return p.followUp(ctx, s, key, frames, t.continued)
}

// settles reports whether the history, or the current run, has outcomes for the calls that a client
// has answered in a message.
func settles(view platform.ChatView, client uimessage.Message) bool {
	i := request.Index(view.Messages, client.ID)
	if i < 0 {
		return false
	}
	if view.Running && i == len(view.Messages)-1 {
		return true
	}
	now := view.Messages[i]
	for _, part := range client.Parts {
		t, ok := part.(uimessage.Tool)
		if !ok || t.State != uimessage.ToolApprovalResponded {
			continue
		}
		if c, ok := follow.CallOf(now, t.ToolCallID); !ok || !c.State.Settled() {
			return false
		}
	}
	return true
}
