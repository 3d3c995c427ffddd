package openai_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/speech"
	"github.com/shipmyagent/shipmyagent/adapters/speech/openai"
	"github.com/shipmyagent/shipmyagent/adapters/speech/speechtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func recording(t *testing.T, name, words string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	stdtest.Must(t, os.WriteFile(file, append(speechtest.Voice(5), "words:"+words...), 0o600))
	return file
}

func options(t *testing.T, s *speechtest.Server) openai.Options {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return openai.Options{BaseURL: s.URL + "/", APIKey: openai.Secret(s.Key), Model: "whisper-1", Transport: transport, Pause: time.Millisecond}
}

func transcriber(t *testing.T, s *speechtest.Server) *openai.Transcriber {
	t.Helper()
	tr, err := openai.NewTranscriber(options(t, s))
	stdtest.Must(t, err)
	return tr
}

func TestTranscribe(t *testing.T) {
	s := speechtest.NewServer(t, nil)
	file := recording(t, "file-0123.opus", "你好 there")
	text, err := transcriber(t, s).Transcribe(t.Context(), speech.Audio{Path: file, Language: "zh"})
	if text != "你好 there" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	data, err := os.ReadFile(file)
	stdtest.Must(t, err)
	want := []speechtest.Heard{{Model: "whisper-1", Language: "zh", File: "audio.ogg", Audio: data}}
	stdtest.Diff(t, "heard", want, s.Heard())
}

// Every fault of a service gives one of a few reasons; temporary ones are retried, and no error
// repeats what the service says.
func TestTranscribeFaults(t *testing.T) {
	words := `{"error":{"message":"sk-speech-CANARY-0123456789 said ZEBRAFINCH","type":"bad","code":"model_not_found"}}`
	for _, c := range []struct {
		name   string
		faults []speechtest.Fault
		want   speech.Reason // if empty, a transcript is expected
		calls  int
	}{
		{"429 once", []speechtest.Fault{{Status: 429, Header: "Retry-After: 0.01", Body: words}}, "", 2},
		{"429 with a date long gone", []speechtest.Fault{{Status: 429, Header: "Retry-After: Mon, 02 Jan 2006 15:04:05 GMT"}}, "", 2},
		{"429 for a day", []speechtest.Fault{{Status: 429, Header: "Retry-After: 86400"}}, speech.ReasonRate, 1},
		{"429 for ever", []speechtest.Fault{{Status: 429}, {Status: 429}, {Status: 429}}, speech.ReasonRate, 3},
		{"nothing left to pay with", []speechtest.Fault{{Status: 429, Body: `{"error":{"code":"insufficient_quota"}}`}}, speech.ReasonRate, 1},
		{"502 twice", []speechtest.Fault{{Status: 502, Body: "<html>ZEBRAFINCH"}, {Status: 503, Body: words}}, "", 3},
		{"500 for ever", []speechtest.Fault{{Status: 500, Body: words}, {Status: 500}, {Status: 500}}, speech.ReasonServer, 3},
		{"cut once", []speechtest.Fault{speechtest.Cut()}, "", 2},
		{"cut for ever", []speechtest.Fault{speechtest.Cut(), speechtest.Cut(), speechtest.Cut()}, speech.ReasonNetwork, 3},
		{"key refused", []speechtest.Fault{{Status: 401, Body: words}}, speech.ReasonAuth, 1},
		{"refused", []speechtest.Fault{{Status: 400, Body: words}}, speech.ReasonRefused, 1},
		{"too large", []speechtest.Fault{{Status: 413, Body: words}}, speech.ReasonLong, 1},
		{"elsewhere", []speechtest.Fault{{Status: 307, Header: "Location: http://127.0.0.1:1/v1"}}, speech.ReasonRefused, 1},
		{"garbage", []speechtest.Fault{{Body: "ZEBRAFINCH<html>"}}, speech.ReasonUnreadable, 1},
		{"no end", []speechtest.Fault{{Body: `{"text":"` + strings.Repeat("ZEBRAFINCH ", 200_000)}}, speech.ReasonUnreadable, 1},
		{"another type", []speechtest.Fault{{Body: `{"text":{"ZEBRAFINCH":1}}`}}, speech.ReasonUnreadable, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := speechtest.NewServer(t, nil)
			s.Fail(c.faults...)
			text, err := transcriber(t, s).Transcribe(t.Context(), speech.Audio{Path: recording(t, "a.ogg", "hello")})
			if n := len(s.Heard()); n != c.calls {
				t.Errorf("%d calls, want %d", n, c.calls)
			}
			if c.want == "" {
				if text != "hello" || err != nil {
					t.Errorf("got %q, %v", text, err)
				}
				return
			}
			if e, ok := errors.AsType[*speech.Error](err); !ok || e.Reason != c.want {
				t.Errorf("got %q, %v, want %s", text, err, c.want)
			}
			if said := fmt.Sprintf("%v %+v", err, err); strings.Contains(said, "CANARY") || strings.Contains(said, "ZEBRAFINCH") {
				t.Errorf("the error repeats the service: %s", said)
			}
		})
	}
}

func TestTranscribeEndsWithItsContext(t *testing.T) {
	s := speechtest.NewServer(t, nil)
	s.Fail(speechtest.Hang())
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	tr, file := transcriber(t, s), recording(t, "a.ogg", "hello")
	go func() {
		_, err := tr.Transcribe(ctx, speech.Audio{Path: file})
		done <- err
	}()
	faketest.Poll(t, "the call", func() bool { return len(s.Heard()) == 1 })
	cancel(gone)
	if err := <-done; !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
}

func TestServiceThatIsNotThere(t *testing.T) {
	s := speechtest.NewServer(t, nil)
	o := options(t, s)
	o.BaseURL = "http://127.0.0.1:1/v1"
	tr, err := openai.NewTranscriber(o)
	stdtest.Must(t, err)
	_, err = tr.Transcribe(t.Context(), speech.Audio{Path: recording(t, "a.ogg", "x")})
	if speech.ReasonOf(err) != speech.ReasonNetwork || !errors.Is(err, speech.ErrUnsent) || strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("got %v", err)
	}
	for _, bad := range []openai.Options{{BaseURL: s.URL}, {Model: "m", BaseURL: "ftp://x"}, {Model: "m"}} {
		if _, err := openai.NewTranscriber(bad); err == nil {
			t.Errorf("%+v is taken", bad)
		}
		if _, err := openai.NewSynthesizer(bad, "alloy", "opus"); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

func TestSynthesize(t *testing.T) {
	s := speechtest.NewServer(t, nil)
	s.Fail(speechtest.Fault{Status: 500}, speechtest.Cut())
	o := options(t, s)
	o.Model = "tts-1"
	sy, err := openai.NewSynthesizer(o, "alloy", "opus")
	stdtest.Must(t, err)
	data, err := sy.Synthesize(t.Context(), speech.Words{Text: "hello"})
	if !bytes.Equal(data, speechtest.Voice(100)) || err != nil {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if _, err := sy.Synthesize(t.Context(), speech.Words{Text: "hi", Voice: "nova"}); err != nil {
		t.Error(err)
	}
	call := speechtest.Spoken{Model: "tts-1", Voice: "alloy", Format: "opus", Input: "hello"}
	want := []speechtest.Spoken{call, call, call, {Model: "tts-1", Voice: "nova", Format: "opus", Input: "hi"}}
	stdtest.Diff(t, "spoken", want, s.Spoken())
	s.Fail(speechtest.Fault{Body: strings.Repeat("\x00", 33<<20)})
	if _, err := sy.Synthesize(t.Context(), speech.Words{Text: "x"}); speech.ReasonOf(err) != speech.ReasonUnreadable {
		t.Errorf("a recording without end: %v", err)
	}
	s.Fail(speechtest.Fault{Status: 404, Body: `{"error":{"code":"model_not_found","message":"` + s.Key + `"}}`})
	_, err = sy.Synthesize(t.Context(), speech.Words{Text: "x"})
	if err == nil || !strings.Contains(err.Error(), "model_not_found") || strings.Contains(err.Error(), "CANARY") {
		t.Errorf("got %v", err)
	}
	if strings.Contains(fmt.Sprintf("%v %+v %#v", o, o, o), "CANARY") {
		t.Error("options print the key")
	}
}
