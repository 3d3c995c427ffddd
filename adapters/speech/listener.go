package speech

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/adapters/internal/ogg"
	"github.com/shipmyagent/shipmyagent/adapters/internal/turns"
)

// maxTranscript bounds the text of one recording, in bytes: an hour of fast speech is about 60 KiB.
const maxTranscript = 64 << 10

// ListenerOptions bound a [Listener].
type ListenerOptions struct {
	MaxBytes int64         // size of a recording; required
	MaxTime  time.Duration // playing time of a recording; required
	AtOnce   int           // over all chats; required
	Deadline time.Duration // for one recording, without the wait for a turn; required
	Language string        // the default hint
	Meter    Meter         // of seconds; may be nil
}

// Listener turns recordings of chats into text. It checks the limits first: recordings beyond them
// are not sent anywhere. It is safe for concurrent use.
type Listener struct {
	calls

	to Transcriber
	o  ListenerOptions
}

// NewListener returns a listener that transcribes with to.
func NewListener(to Transcriber, o ListenerOptions) *Listener {
	return &Listener{calls{turns.New(o.AtOnce), o.Deadline, o.Meter}, to, o}
}

// endings returns the extensions of recordings that services accept.
func endings() []string {
	return []string{".ogg", ".oga", ".opus", ".mp3", ".mpga", ".mpeg", ".m4a", ".mp4", ".wav", ".webm", ".flac"}
}

// Takes reports, before a recording is downloaded, whether it would be accepted, based on what its
// platform says about it; zero means unknown. The error is an [*Error].
func (l *Listener) Takes(ending string, size int64, plays time.Duration) error {
	switch {
	case !slices.Contains(endings(), strings.ToLower(ending)):
		return &Error{Reason: ReasonFormat}
	case size > l.o.MaxBytes, plays > l.o.MaxTime:
		return &Error{Reason: ReasonLong}
	}
	return nil
}

// Hear returns the transcript of a recording of a chat. An error is an [*Error] unless ctx ended
// (then ctx's cause).
func (l *Listener) Hear(ctx context.Context, chat string, a Audio) (string, error) {
	plays, err := l.check(a.Path)
	if err != nil {
		return "", err
	}
	if a.Language == "" {
		a.Language = l.o.Language
	}
	var text string
	err = l.make(ctx, chat, int64(math.Ceil(plays.Seconds())), func(ctx context.Context) (err error) {
		text, err = l.to.Transcribe(ctx, a)
		return err //nolint:wrapcheck // the same error
	})
	if err != nil {
		return "", err
	}
	return said(text)
}

// slowest is how few bytes a second of a recording has if its format does not say how long it plays.
const slowest = 2000

// check checks the file itself, because clients may claim anything about it. It returns the playing time, or the most
// that is likely.
func (l *Listener) check(path string) (plays time.Duration, err error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return 0, &Error{Reason: ReasonUnreadable, Message: "the recording cannot be opened"} // people's file names are kept out of the log
	case !info.Mode().IsRegular(), info.Size() == 0:
		return 0, &Error{Reason: ReasonFormat}
	}
	if err := l.Takes(filepath.Ext(path), info.Size(), 0); err != nil {
		return 0, err
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, &Error{Reason: ReasonUnreadable, Message: "the recording cannot be opened"}
	}
	defer f.Close() //nolint:errcheck // only read from
	plays, err = ogg.Length(f)
	switch {
	case err != nil:
		return min(l.o.MaxTime, time.Duration(info.Size()/slowest+1)*time.Second), nil
	case plays > l.o.MaxTime:
		return 0, &Error{Reason: ReasonLong}
	}
	return plays, nil
}

// said returns a transcript in the form in which it is stored: valid text of bounded length without
// invisible characters.
func said(text string) (string, error) {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case unicode.IsControl(r), r == '\ufeff', unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
	text = strings.TrimSpace(text)
	if text == "" {
		return "", &Error{Reason: ReasonEmpty}
	}
	if len(text) > maxTranscript {
		cut := maxTranscript
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + " […]"
	}
	return text, nil
}
