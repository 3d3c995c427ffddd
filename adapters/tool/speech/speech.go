// Package speech has the tools for voice messages: stt_transcribe transcribes a recording of the chat, and tts_speak
// sends one. Recordings are files of the chat. They are sent through the outbox like any other message, so that none
// is lost or sent twice.
package speech

import (
	"context"
	"errors"
	"fmt"

	"github.com/shipmyagent/shipmyagent/adapters/speech"
)

// failed describes an error so that a model can continue.
func failed(what string, err error) error {
	if e, ok := errors.AsType[*speech.Error](err); ok {
		return fmt.Errorf("%s: %s", what, why(e.Reason))
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s: %s", what, why(speech.ReasonLate))
	}
	return fmt.Errorf("%s: %w", what, err)
}

func why(r speech.Reason) string {
	switch r {
	case speech.ReasonAuth:
		return "the service refuses the key; the operator has to look at it"
	case speech.ReasonRate:
		return "the service is asked too often, or has nothing left to pay with; try again later"
	case speech.ReasonServer, speech.ReasonNetwork, speech.ReasonLate:
		return "the service does not answer well at the moment; try again later"
	case speech.ReasonRefused:
		return "the service does not take it"
	case speech.ReasonEmpty:
		return "there are no words in it"
	case speech.ReasonFormat:
		return "this is not a recording of a known kind"
	case speech.ReasonLong:
		return "it is too long"
	case speech.ReasonUnreadable, speech.ReasonProgram, speech.ReasonSandbox:
	}
	return "speech is not set up well here; the operator finds the reason in the log"
}
