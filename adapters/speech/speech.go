// Package speech is the contract between the host and what transcribes and synthesizes speech: a
// service, or a program of the operator. Implementations live one directory deeper. Their input is
// what people said and wrote: they send it only to the configured destination and keep none of it.
//
// [Listener] and [Speaker] are the only callers: they enforce the limits, give chats their turns
// and count.
package speech

import (
	"context"
	"errors"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/internal/apicall"
	"github.com/shipmyagent/shipmyagent/adapters/internal/turns"
)

// Audio is a recording.
type Audio struct {
	// Path is a regular file of the host. Of its name only the extension is passed on.
	Path string
	// Language is a hint such as en or zh. If empty, the language is detected.
	Language string
}

// Transcriber turns recordings into text. It is safe for concurrent use.
type Transcriber interface {
	// Transcribe returns the transcript. Repeating a call costs again and changes nothing. An error
	// is an [*Error] unless ctx ended (then ctx's cause); it never contains what was said.
	Transcribe(ctx context.Context, a Audio) (string, error)
}

// Words are a text to synthesize.
type Words struct {
	Text  string
	Voice string // as the service names it; empty means the default
}

// Synthesizer turns texts into recordings. It is safe for concurrent use.
type Synthesizer interface {
	// Synthesize returns a recording of the words. Errors are like those of [Transcriber].
	Synthesize(ctx context.Context, w Words) ([]byte, error)
}

// Meter accounts for the calls of a service. It is called before each call with its size, which is seconds of a recording
// or characters of a text, and may wait. If it returns an error, which is an [*Error] or ctx's
// cause, the call is not made. settle is called once afterwards; paid is not set if the service refused it or was not reached.
type Meter func(ctx context.Context, chat string, size int64) (settle func(paid bool), err error)

// ErrUnsent is wrapped by the error of a call that did not reach its service.
var ErrUnsent = errors.New("the call was not sent")

// calls are the calls of a service: a few at once, each in its chat's turn, within a time and on account of its chat.
type calls struct {
	turns    *turns.Turns
	deadline time.Duration
	meter    Meter // may be nil
}

// make makes a call of a size.
func (c calls) make(ctx context.Context, chat string, size int64, call func(ctx context.Context) error) error {
	done, err := c.turns.Take(ctx, chat)
	if err != nil {
		return err
	}
	defer done()
	within, cancel := context.WithTimeout(ctx, c.deadline)
	defer cancel()
	err = c.metered(within, chat, size, call)
	if err != nil && ctx.Err() == nil && within.Err() != nil {
		return &Error{Reason: ReasonLate, Retryable: true, Err: err}
	}
	return err
}

func (c calls) metered(ctx context.Context, chat string, size int64, call func(ctx context.Context) error) error {
	if c.meter == nil {
		return call(ctx)
	}
	settle, err := c.meter(ctx, chat, size)
	if err != nil {
		return err
	}
	err = call(ctx)
	failed, ok := errors.AsType[*Error](err)
	settle(!ok || failed.Status == 0 && !errors.Is(err, ErrUnsent))
	return err
}

// Reason classifies a failure. It is also the metric label.
type Reason string

// The reasons.
const (
	ReasonAuth       Reason = "auth"       // key refused
	ReasonRate       Reason = "rate"       // too many requests, or the account is exhausted
	ReasonServer     Reason = "server"     // 5xx
	ReasonNetwork    Reason = "network"    // not connected, or the connection broke
	ReasonRefused    Reason = "refused"    // the service refuses this request
	ReasonUnreadable Reason = "unreadable" // the response cannot be decoded
	ReasonEmpty      Reason = "empty"      // no speech was recognized
	ReasonFormat     Reason = "format"     // a format that is not accepted
	ReasonLong       Reason = "long"       // exceeds the limit of playing time, bytes or letters
	ReasonLate       Reason = "late"       // timed out, including the wait for a turn
	ReasonProgram    Reason = "program"    // the program failed
	ReasonSandbox    Reason = "sandbox"    // the program may not run without a sandbox
)

// Contract begins the text of an [Error].
func (Reason) Contract() string { return "speech" }

// Error is a failed call. Its message is for the operator's log.
type Error = apicall.Error[Reason]

// ReasonOf returns the reason of a failure, or [ReasonLate] if it is not an [*Error], because then
// a context has ended.
func ReasonOf(err error) Reason { return apicall.ReasonOf(err, ReasonLate) }
