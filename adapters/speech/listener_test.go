package speech_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/speech"
	"github.com/shipmyagent/shipmyagent/adapters/speech/speechtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func file(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	stdtest.Must(t, os.WriteFile(path, data, 0o600))
	return path
}

func bounds() speech.ListenerOptions {
	return speech.ListenerOptions{MaxBytes: 10_000, MaxTime: 10 * time.Second, AtOnce: 2, Deadline: time.Minute}
}

// A recording that is too long, or not a recording, is sent nowhere, whatever is claimed about it.
func TestIO12LimitsComeFirst(t *testing.T) {
	asked := 0
	ear := speechtest.Transcriber(func(context.Context, speech.Audio) (string, error) {
		asked++
		return "words", nil
	})
	l := speech.NewListener(ear, bounds())
	for _, c := range []struct {
		name string
		path string
		want speech.Reason
	}{
		{"taken", file(t, "a.ogg", speechtest.Voice(500)), ""},
		{"in capitals", file(t, "a.OGG", speechtest.Voice(500)), ""},
		{"plays too long", file(t, "a.ogg", speechtest.Voice(501)), speech.ReasonLong},
		{"too many bytes", file(t, "a.mp3", make([]byte, 10_001)), speech.ReasonLong},
		{"no recording", file(t, "a.pdf", []byte("x")), speech.ReasonFormat},
		{"without an ending", file(t, "a", []byte("x")), speech.ReasonFormat},
		{"empty", file(t, "a.ogg", nil), speech.ReasonFormat},
		{"gone", filepath.Join(t.TempDir(), "a.ogg"), speech.ReasonUnreadable},
		{"a folder", t.TempDir(), speech.ReasonFormat},
	} {
		before := asked
		text, err := l.Hear(t.Context(), "c", speech.Audio{Path: c.path})
		if c.want == "" && (text != "words" || err != nil || asked != before+1) || c.want != "" && (err == nil || speech.ReasonOf(err) != c.want || asked != before) {
			t.Errorf("%s: %q, %v, asked %d times", c.name, text, err, asked-before)
		}
		if err != nil && strings.Contains(err.Error(), filepath.Dir(c.path)) {
			t.Errorf("%s: %v names the file", c.name, err)
		}
	}
	for _, c := range []struct {
		ending string
		size   int64
		plays  time.Duration
		want   speech.Reason
	}{{".ogg", 0, 0, ""}, {".ogg", 10_000, 10 * time.Second, ""}, {".ogg", 10_001, 0, speech.ReasonLong}, {".ogg", 0, 11 * time.Second, speech.ReasonLong}, {".bin", 0, 0, speech.ReasonFormat}} {
		if err := l.Takes(c.ending, c.size, c.plays); (err == nil) != (c.want == "") || err != nil && speech.ReasonOf(err) != c.want {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// A transcript is text of bounded length without invisible characters.
func TestTranscriptIsPlainText(t *testing.T) {
	for said, want := range map[string]string{
		" hello \n":                "hello",
		"a\x00b\x1b[31m\u202ec\nd": "ab[31mc\nd",
		"\ufeff你好":                 "你好",
		"bad \xff":                 "bad \ufffd",
		strings.Repeat("é", 40000): strings.Repeat("é", 32<<10) + " […]",
	} {
		l := speech.NewListener(speechtest.Transcriber(func(context.Context, speech.Audio) (string, error) { return said, nil }), bounds())
		if got, err := l.Hear(t.Context(), "c", speech.Audio{Path: file(t, "a.ogg", speechtest.Voice(1))}); got != want || err != nil {
			t.Errorf("%.20q: %.40q, %v", said, got, err)
		}
	}
	l := speech.NewListener(speechtest.Transcriber(func(context.Context, speech.Audio) (string, error) { return " \n\x00", nil }), bounds())
	if _, err := l.Hear(t.Context(), "c", speech.Audio{Path: file(t, "a.ogg", speechtest.Voice(1))}); speech.ReasonOf(err) != speech.ReasonEmpty {
		t.Errorf("silence: %v", err)
	}
}

// However many recordings one chat sends, another chat waits for at most one of them; the
// concurrency limit is respected.
func TestP7RecordingsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var order []string
		under, most := 0, 0
		ear := speechtest.Transcriber(func(_ context.Context, a speech.Audio) (string, error) {
			mu.Lock()
			under++
			most = max(most, under)
			order = append(order, a.Language)
			mu.Unlock()
			<-time.After(time.Second)
			mu.Lock()
			under--
			mu.Unlock()
			return "x", nil
		})
		l := speech.NewListener(ear, bounds())
		audio := file(t, "a.ogg", speechtest.Voice(1))
		var all sync.WaitGroup
		hear := func(chat string) {
			all.Go(func() {
				if _, err := l.Hear(t.Context(), chat, speech.Audio{Path: audio, Language: chat}); err != nil {
					t.Error(err)
				}
			})
		}
		for range 50 {
			hear("flood")
		}
		synctest.Wait()
		for _, chat := range []string{"a", "b", "c", "d"} {
			hear(chat)
		}
		all.Wait()
		others := 0
		for _, chat := range order[:8] {
			if chat != "flood" {
				others++
			}
		}
		if most != 2 || others != 4 {
			t.Errorf("%d at once, %d of the others among the first eight: %q", most, others, order[:8])
		}
	})
}

// The deadline covers the call, not the wait for a turn; the end of the caller's context ends both.
func TestDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ear := speechtest.Transcriber(func(ctx context.Context, _ speech.Audio) (string, error) {
			select {
			case <-time.After(50 * time.Second):
				return "x", nil
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
		})
		l := speech.NewListener(ear, bounds())
		audio := speech.Audio{Path: file(t, "a.ogg", speechtest.Voice(1))}
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if _, err := l.Hear(t.Context(), "c", audio); err != nil {
					t.Errorf("a wait counted as work: %v", err)
				}
			})
		}
		all.Wait()
		o := bounds()
		o.Deadline = 10 * time.Second
		if _, err := speech.NewListener(ear, o).Hear(t.Context(), "c", audio); speech.ReasonOf(err) != speech.ReasonLate {
			t.Errorf("a slow service: %v", err)
		}
		gone := errors.New("gone")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, gone)
		defer cancel()
		if _, err := l.Hear(ctx, "c", audio); !errors.Is(err, gone) {
			t.Errorf("the end of the caller: %v", err)
		}
	})
}

// Only valid recordings are sent to people.
func TestSpeakerSendsRecordingsOnly(t *testing.T) {
	for name, c := range map[string]struct {
		data []byte
		want string // extension; empty if refused
	}{
		"opus":    {speechtest.Voice(150), ".opus"},
		"mp3":     {[]byte("ID3rest"), ".mp3"},
		"mp3 too": {[]byte{0xff, 0xfb, 0x90, 0}, ".mp3"},
		"wav":     {[]byte("RIFF\x00\x00\x00\x00WAVEfmt "), ".wav"},
		"nothing": {nil, ""}, "silence": {speechtest.Voice(0), ""}, "text": {[]byte(`{"error":"sorry"}`), ""},
		"cut": {speechtest.Voice(150)[:200], ""},
	} {
		s := speech.NewSpeaker(speechtest.Synthesizer(func(context.Context, speech.Words) ([]byte, error) { return c.data, nil }), speech.SpeakerOptions{MaxLetters: 10, AtOnce: 1, Deadline: time.Minute})
		r, err := s.Speak(t.Context(), "c", speech.Words{Text: "hello"})
		if c.want == "" {
			if speech.ReasonOf(err) != speech.ReasonUnreadable || err == nil {
				t.Errorf("%s: %+v, %v", name, r, err)
			}
			continue
		}
		if err != nil || r.Ending != c.want || !bytes.Equal(r.Data, c.data) || c.want == ".opus" && r.Plays != 3*time.Second {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	s := speech.NewSpeaker(speechtest.Synthesizer(func(context.Context, speech.Words) ([]byte, error) { return speechtest.Voice(1), nil }), speech.SpeakerOptions{MaxLetters: 3, AtOnce: 1, Deadline: time.Minute})
	if _, err := s.Speak(t.Context(), "c", speech.Words{Text: "你好啊"}); err != nil {
		t.Error(err)
	}
	if _, err := s.Speak(t.Context(), "c", speech.Words{Text: "hello"}); speech.ReasonOf(err) != speech.ReasonLong {
		t.Errorf("too long: %v", err)
	}
}
