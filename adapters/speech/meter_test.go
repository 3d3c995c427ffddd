package speech_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/speech"
)

// failing is a service that fails in one way.
type failing struct{ err error }

func (f failing) Synthesize(context.Context, speech.Words) ([]byte, error) { return nil, f.err }

// What a service refused, and what never reached it, is not paid for. What may have been done is.
func TestWhatIsPaid(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		paid bool
	}{
		{"refused", &speech.Error{Reason: speech.ReasonAuth, Status: 401}, false},
		{"too large", &speech.Error{Reason: speech.ReasonLong, Status: 413}, false},
		{"busy", &speech.Error{Reason: speech.ReasonServer, Status: 503}, false},
		{"not reached", &speech.Error{Reason: speech.ReasonNetwork, Err: speech.ErrUnsent}, false},
		{"broken off", &speech.Error{Reason: speech.ReasonNetwork}, true},
		{"not understood", &speech.Error{Reason: speech.ReasonUnreadable}, true},
		{"stopped", context.Canceled, true},
	} {
		var got []bool
		s := speech.NewSpeaker(failing{tt.err}, speech.SpeakerOptions{
			MaxLetters: 10, AtOnce: 1, Deadline: time.Minute,
			Meter: func(context.Context, string, int64) (func(bool), error) {
				return func(paid bool) { got = append(got, paid) }, nil
			},
		})
		_, err := s.Speak(t.Context(), "web-chat-1", speech.Words{Text: "hi"})
		if !errors.Is(err, tt.err) || len(got) != 1 || got[0] != tt.paid {
			t.Errorf("%s: paid %v, want %t; %v", tt.name, got, tt.paid, err)
		}
	}
}
