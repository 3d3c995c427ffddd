package speech

import (
	"bytes"
	"context"
	"time"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/adapters/internal/ogg"
	"github.com/shipmyagent/shipmyagent/adapters/internal/turns"
)

// SpeakerOptions bound a [Speaker].
type SpeakerOptions struct {
	MaxLetters int           // of one call; required
	AtOnce     int           // over all chats; required
	Deadline   time.Duration // for one call, without the wait for a turn; required
	Meter      Meter         // of characters; may be nil
}

// Recording is synthesized speech.
type Recording struct {
	Data []byte
	// Ending is the extension for its format: .opus, for Opus in Ogg, which platforms play as a
	// voice message, .mp3 or .wav.
	Ending string
	// Plays is the playing time, known only for Opus.
	Plays time.Duration
}

// Speaker synthesizes speech for chats. It is safe for concurrent use.
type Speaker struct {
	calls

	by Synthesizer
	o  SpeakerOptions
}

// NewSpeaker returns a speaker that uses a synthesizer.
func NewSpeaker(by Synthesizer, o SpeakerOptions) *Speaker {
	return &Speaker{calls{turns.New(o.AtOnce), o.Deadline, o.Meter}, by, o}
}

// MaxLetters is the maximum length of a text.
func (s *Speaker) MaxLetters() int { return s.o.MaxLetters }

// Speak returns a recording of the words. An error is an [*Error] unless ctx ended
// (then ctx's cause).
func (s *Speaker) Speak(ctx context.Context, chat string, w Words) (Recording, error) {
	if utf8.RuneCountInString(w.Text) > s.o.MaxLetters {
		return Recording{}, &Error{Reason: ReasonLong}
	}
	var data []byte
	err := s.make(ctx, chat, int64(utf8.RuneCountInString(w.Text)), func(ctx context.Context) (err error) {
		data, err = s.by.Synthesize(ctx, w)
		return err //nolint:wrapcheck // the same error
	})
	if err != nil {
		return Recording{}, err
	}
	return recorded(data)
}

// recorded detects the format. Data that is not a recording is never sent to people.
func recorded(data []byte) (Recording, error) {
	plays, err := ogg.Length(bytes.NewReader(data))
	switch {
	case err == nil && plays > 0:
		return Recording{Data: data, Ending: ".opus", Plays: plays}, nil
	case bytes.HasPrefix(data, []byte("ID3")), len(data) > 2 && data[0] == 0xff && data[1]&0xe0 == 0xe0:
		return Recording{Data: data, Ending: ".mp3"}, nil
	case len(data) > 12 && bytes.HasPrefix(data, []byte("RIFF")) && bytes.Equal(data[8:12], []byte("WAVE")):
		return Recording{Data: data, Ending: ".wav"}, nil
	}
	return Recording{}, &Error{Reason: ReasonUnreadable, Message: "the answer is not a recording in Opus (Ogg), MP3 or WAV"}
}
