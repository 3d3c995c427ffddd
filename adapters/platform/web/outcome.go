package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// turnState is the outcome of a message, for programs.
type turnState string

// The states of a message. All are final except waiting, which becomes one of the others when the
// requests are decided or expire.
const (
	turnAnswered turnState = "answered"
	turnWaiting  turnState = "waiting" // waiting for a person to decide the listed requests
	turnFailed   turnState = "failed"
)

// outcome is the state of a message with what a program needs to continue. Fields are only ever
// added.
type outcome struct {
	State turnState `json:"state,omitempty"`
	// Reason of a failed message is a code for programs, such as network or auth.
	Reason string `json:"reason,omitempty"`
	// Waiting are the requests that need a decision.
	Waiting []waitingRequest `json:"waiting,omitempty"`
	// Demo means that the built-in demo model answered, not a real assistant.
	Demo bool `json:"demo,omitempty"`

	asked journal.Asked // the last request of a run that waits no longer, if a person decided it
}

// waitingRequest is a tool call that needs a person's decision.
type waitingRequest struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	N       int              `json:"n"` // the number by which people refer to it in its chat
	ID      string           `json:"id"`
	Tool    string           `json:"tool"`
	What    string           `json:"what,omitempty"`
	Risk    string           `json:"risk,omitempty"`
	Chinese messages.Words   `json:"zh,omitzero"` // the same words in Chinese
	Exact   string           `json:"exact"`
	Digest  string           `json:"digest"`
	Asker   string           `json:"asker,omitempty"`
	Asked   time.Time        `json:"asked"`
	Expires time.Time        `json:"expires"`
	Decide  decideBy         `json:"decide"`
}

// decideBy are the commands that decide a request on the host's machine.
type decideBy struct {
	Approve string `json:"approve"`
	Deny    string `json:"deny"`
}

// outcomeOf returns the outcome of a turn from the message that settles it. list begins with the
// turn and ends with that message.
func outcomeOf(key messages.ChatKey, list []uimessage.Message, meta uimessage.Metadata, fate uimessage.FateRecord) outcome {
	out := outcome{State: turnFailed, Demo: meta.Demo}
	open, last := openRequests(key, list, meta.RunID)
	good := fate.Fate == uimessage.FateAnswered || fate.Fate == uimessage.FateMerged
	switch {
	case good && meta.Result == "waiting" && len(open) > 0:
		out.State, out.Waiting = turnWaiting, open
	case good && meta.Result == "waiting" && (last.Request.Answer == journal.AnswerApproved || last.Request.Answer == journal.AnswerDenied):
		out.asked = last // what follows is in another message, or not there yet
	case good && meta.Result == "waiting" && last.Request.Answer != journal.AnswerOpen:
		out.Reason = string(last.Request.Answer) // it expired or was withdrawn, so there will be no answer
	case good && (meta.Result == "" || meta.Result == "done" || meta.Result == "waiting"):
		out.State = turnAnswered
	default:
		out.Reason = failureReason(good, meta, fate)
	}
	return out
}

// openRequests returns the undecided requests of a run, and the last of the others.
func openRequests(key messages.ChatKey, list []uimessage.Message, run string) (open []waitingRequest, last journal.Asked) {
	for _, m := range list {
		if m.Role != uimessage.RoleAssistant || !sameRun(m, run) {
			continue
		}
		t := journal.NewTurn(m)
		for _, r := range t.Requests {
			call, ok := t.Call(r.CallID)
			switch {
			case !ok:
			case r.Answer != journal.AnswerOpen:
				last = journal.Asked{Turn: t, Request: r}
			default:
				open = append(open, waitingRequest{
					ChatKey: key, N: r.N, ID: r.ID, Tool: call.Name, What: r.What, Risk: r.Risk, Chinese: r.Chinese, Exact: r.Exact, Digest: r.Digest, Asker: r.Asker,
					Asked: time.UnixMilli(r.Asked).UTC(), Expires: time.UnixMilli(r.Expires).UTC(),
					Decide: decideBy{fmt.Sprintf("sma approvals approve %s %d", shellWord(key), r.N), fmt.Sprintf("sma approvals deny %s %d", shellWord(key), r.N)},
				})
			}
		}
	}
	return open, last
}

// shellWord quotes a key with the id of a chat that programs chose, for people who copy the command.
func shellWord(key messages.ChatKey) string {
	word := string(key)
	if url.QueryEscape(word) == word {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// failureText returns the sentence for a reason, or the reason itself if there is none.
func (p *Platform) failureText(reason string, chinese bool) string {
	if p.opts.Failure == nil {
		return reason
	}
	english, zh := p.opts.Failure(reason)
	if chinese {
		return zh
	}
	return english
}

// outcomeReply is the response of GET /api/chat/{id}/outcome.
type outcomeReply struct {
	outcome
	Error string `json:"error,omitempty"` // a sentence for people
	Text  string `json:"text,omitempty"`
	// Message is what the agent wrote and did after a decision, if the turn was one.
	Message *uimessage.Message `json:"message,omitempty"`
}

// outcome serves GET /api/chat/{id}/outcome?turn=…: the outcome of a message, once it is known. The
// outcome of a decision is that of the run that it continued. A message that is not in the history,
// such as a command for the host, has none: 410.
func (p *Platform) outcome(w http.ResponseWriter, r *http.Request, key messages.ChatKey) *respond.Problem {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	frames, err := p.live.Watch(ctx, key)
	if err != nil {
		return p.problem(ctx, key, "watch", err)
	}
	result, refusal := p.await(ctx, key, frames, r.URL.Query().Get("turn"))
	if refusal != nil {
		return refusal
	}
	_ = http.NewResponseController(w).SetWriteDeadline(p.writeDeadline())
	reply := outcomeReply{outcome: result.outcome, Text: result.Output}
	if result.decided {
		reply.Message = result.Message
	}
	if result.State == turnFailed {
		reply.Error = p.failureText(result.Reason, respond.ReadsChinese(r))
	}
	respond.JSON(w, http.StatusOK, reply)
	return nil
}

// await waits until the outcome of a turn is known. If the watch ends early (a passivated chat, a
// restart of its actor), it watches again.
func (p *Platform) await(ctx context.Context, key messages.ChatKey, frames <-chan platform.Frame, turn string) (*executeResult, *respond.Problem) {
	for {
		result, refusal := p.resultNow(ctx, key, turn)
		if result != nil || refusal != nil {
			return result, refusal
		}
		if settled, open := p.awaitFate(ctx, frames, turn); settled != nil {
			return settled, nil
		} else if open {
			continue
		}
		if ctx.Err() != nil || p.isClosing() {
			return nil, respond.Refused(http.StatusServiceUnavailable, "unavailable",
				"The run goes on. Ask again with the same messageId for its result.")
		}
		var err error
		if frames, err = p.watchAgain(ctx, key); err != nil {
			return nil, p.problem(ctx, key, "watch", err)
		}
	}
}

// failureReason is why a run has no answer: the run's reason, or else that of the message's own
// outcome.
func failureReason(good bool, meta uimessage.Metadata, fate uimessage.FateRecord) string {
	if !good {
		return cmp.Or(fate.Reason, string(fate.Fate))
	}
	return cmp.Or(meta.Reason, meta.Result)
}
