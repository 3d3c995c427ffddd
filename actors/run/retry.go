package run

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/internal/backoff"
	"github.com/shipmyagent/shipmyagent/actors/internal/loop"
	"github.com/shipmyagent/shipmyagent/actors/internal/pipe"
	"github.com/shipmyagent/shipmyagent/actors/internal/prompt"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages"
)

// stepFailed decides about a step whose model call failed: nothing of it took effect, so it is
// retried if that can help. Otherwise the run ends.
func (r *run) stepFailed(ac actor.Context, out loop.Outcome) {
	err := out.Err
	if err == nil {
		err = &model.Error{Reason: model.ReasonCut, Retryable: true}
	}
	if p, ok := errors.AsType[pipe.Panicked](err); ok {
		r.Logger.Error("the model client panicked", "chat_key", string(r.start.ChatKey), "run_id", r.start.RunID, "request_id", r.start.RequestID, "error", p.Error(), "stack", p.Stack)
	}
	reason := model.ReasonOf(err)
	if reason == model.ReasonTooLong && r.start.MayShorten && !r.shortened && r.shares == 0 {
		r.askToShorten(ac, err)
		return
	}
	if reason == model.ReasonTooLong && r.shorten() {
		r.again(ac, reason, err, 0)
		return
	}
	if wait, ok := r.retryIn(err); ok {
		r.again(ac, reason, err, wait)
		return
	}
	r.fail(ac, string(reason), err)
}

// retryIn says whether a step whose stream was cut is requested again, and after what wait. A
// failure before the first event has already been retried by the model client.
func (r *run) retryIn(err error) (time.Duration, bool) {
	e, ok := errors.AsType[*model.Error](err)
	if r.tries++; !ok || !e.Retryable || !r.heard || r.tries >= maxTries || e.RetryAfter > maxRetryAfter {
		return 0, false
	}
	waits := backoff.Exponential{First: firstRetry, Longest: longestRetry}
	jitter := r.Jitter
	if jitter == nil {
		jitter = rand.N[time.Duration] // jitter needs no secrecy
	}
	wait := max(e.RetryAfter, jitter(waits.Wait(r.tries)))
	return wait, time.Since(r.asked)+wait < retryFor
}

// shares are the fractions of its size, as 1/n, to which a request is shortened the first and
// second time it is too long.
func shares() []int { return []int{2, 8} }

// shorten leaves more out of the step's request; it returns false if it cannot, or has done so too
// often.
func (r *run) shorten() bool {
	if r.shares >= len(shares()) {
		return false
	}
	trim, ok := r.trim.Further(r.input.Messages, shares()[r.shares])
	if !ok {
		return false
	}
	r.trim = trim
	r.shares++
	r.Metrics.prefixBroken("too_long")
	return true
}

// askToShorten asks the chat for a shorter history. The chunks of the step so far are void.
func (r *run) askToShorten(ac actor.Context, err error) {
	r.Logger.Info("a model request is too long; the chat is asked to compact its history",
		"chat_key", string(r.start.ChatKey), "run_id", r.start.RunID, "request_id", r.start.RequestID, "error", err)
	r.shortened, r.tooLong = true, err
	r.loop.RestartStep()
	r.approvals.restart()
	r.restarted(ac, model.ReasonTooLong)
	ac.Request(r.chat, messages.ShortenInput{RunID: r.start.RunID, Step: r.input.Step})
}

// onInputShortened repeats the request with the shorter history, which counts as the first
// shortening; without one, the request itself has to leave something out.
func (r *run) onInputShortened(ac actor.Context, msg messages.InputShortened) {
	if r.tooLong == nil || r.ctx.Err() != nil {
		return
	}
	err := r.tooLong
	r.tooLong = nil
	switch {
	case msg.Shorter:
		r.input, r.trim, r.shares = msg.Input, prompt.Trim{}, 1
	case !r.shorten():
		r.fail(ac, string(model.ReasonTooLong), err)
		return
	default:
		r.restarted(ac, model.ReasonTooLong)
	}
	r.acquire(ac)
}

// again requests the step once more. The chunks of the step so far are void.
func (r *run) again(ac actor.Context, reason model.Reason, err error, wait time.Duration) {
	r.Logger.Info("a model call failed and is retried", "chat_key", string(r.start.ChatKey),
		"run_id", r.start.RunID, "request_id", r.start.RequestID, "try", r.tries, "shortened", r.shares, "wait", wait, "error", err)
	r.loop.RestartStep()
	r.approvals.restart()
	r.restarted(ac, reason)
	if wait == 0 {
		r.acquire(ac)
		return
	}
	r.home.After(wait, retry{r.gen})
}
