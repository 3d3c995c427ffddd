// Package speech has the tools of voice messages: stt_transcribe reads a recording of
// the chat, tts_speak answers with one. Recordings are files of the chat; what is
// spoken is owed to the outbox like any other message, so it is neither lost nor sent
// twice.
package speech

import (
	"context"
	"errors"
	"fmt"

	"github.com/shipmyagent/shipmyagent/adapters/speech"
)

// failed is a failure in words that help a model to go on.
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
		return "this is no recording of a known kind"
	case speech.ReasonLong:
		return "it is too long"
	case speech.ReasonUnreadable, speech.ReasonProgram, speech.ReasonSandbox:
	}
	return "speech is not set up well here; the operator finds the reason in the log"
}
