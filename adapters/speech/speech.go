// Package speech is the contract between the host and what turns spoken words into
// text and text into spoken words: a service, or a program of the operator's.
// Implementations are one level deeper. What they are given is people's own words:
// they send it to the one place they were made for, and keep none of it.
//
// [Listener] and [Speaker] are the only callers: they hold the limits, take turns
// over chats and count.
package speech

import (
	"context"

	"github.com/shipmyagent/shipmyagent/adapters/internal/apicall"
)

// Audio is a recording.
type Audio struct {
	// Path is a regular file of the host. Of its name nobody is told but the ending.
	Path string
	// Language is a hint, as in en or zh; empty: it is found out.
	Language string
}

// Transcriber turns recordings into text. It is safe for concurrent use.
type Transcriber interface {
	// Transcribe returns what is said, as it was heard. Doing it twice costs twice and
	// changes nothing. An error is an [*Error] unless ctx ended (then ctx's cause); it
	// never holds what was said.
	Transcribe(ctx context.Context, a Audio) (string, error)
}

// Words are to be spoken.
type Words struct {
	Text  string
	Voice string // as the service names it; empty: the usual one
}

// Synthesizer speaks. It is safe for concurrent use.
type Synthesizer interface {
	// Synthesize returns a recording of the words. Errors are as those of [Transcriber].
	Synthesize(ctx context.Context, w Words) ([]byte, error)
}

// Reason classifies a failure. It is also the metric label.
type Reason string

// The reasons.
const (
	ReasonAuth       Reason = "auth"       // key refused
	ReasonRate       Reason = "rate"       // asked too often, or nothing left to pay with
	ReasonServer     Reason = "server"     // 5xx
	ReasonNetwork    Reason = "network"    // not reached, or cut off
	ReasonRefused    Reason = "refused"    // the service does not take this
	ReasonUnreadable Reason = "unreadable" // the answer is no answer
	ReasonEmpty      Reason = "empty"      // there are no words
	ReasonFormat     Reason = "format"     // no kind of recording that is taken
	ReasonLong       Reason = "long"       // plays longer, or has more bytes or letters, than is taken
	ReasonLate       Reason = "late"       // it took too long, the wait for a turn included
	ReasonProgram    Reason = "program"    // the program failed
	ReasonSandbox    Reason = "sandbox"    // the program may not run: nothing contains it
)

// Contract begins the text of an [Error].
func (Reason) Contract() string { return "speech" }

// Error is a failed call. Its message is for the log of the operator.
type Error = apicall.Error[Reason]

// ReasonOf is the reason of a failure; [ReasonLate] when it is no [*Error], which is
// then the end of a context.
func ReasonOf(err error) Reason { return apicall.ReasonOf(err, ReasonLate) }
