package command_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/speech"
	"github.com/shipmyagent/shipmyagent/adapters/speech/command"
	"github.com/shipmyagent/shipmyagent/adapters/speech/speechtest"
	"github.com/shipmyagent/shipmyagent/adapters/tool/shell/shelltest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// script is an executable file with its own shell script.
func script(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "program")
	stdtest.Must(t, os.WriteFile(file, []byte("#!/bin/sh\n"+text), 0o700)) //nolint:gosec // it is to be run
	return file
}

type world struct {
	box     *shelltest.Open
	scratch string
}

func (w *world) options(t *testing.T, argv ...string) command.Options {
	t.Helper()
	w.box, w.scratch = &shelltest.Open{}, filepath.Join(t.TempDir(), "scratch")
	return command.Options{Argv: argv, Sandbox: w.box, Scratch: w.scratch, Path: "/usr/bin:/bin", Timeout: time.Minute}
}

// left returns the files that calls left behind.
func (w *world) left(t *testing.T) []os.DirEntry {
	t.Helper()
	entries, err := os.ReadDir(w.scratch)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return entries
}

func recording(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file; touch x.ogg")
	stdtest.Must(t, os.WriteFile(file, []byte("the sound"), 0o600))
	return file
}

func TestTranscribeByProgram(t *testing.T) {
	t.Setenv("SPEECH_SECRET", "CANARY")
	for name, c := range map[string]struct{ script, arg, want string }{
		"file":     {`echo "$1 says: $(cat "$2")"`, "{file}", "en says: the sound\n"},
		"in words": {`echo "$1 says: $(cat "${2#--in=}")"`, "--in={file}", "en says: the sound\n"},
		"input":    {`echo "$1 says: $(cat)"`, "-", "en says: the sound\n"},
		"environ":  {`env | sort | cut -d= -f1 | tr '\n' ' '`, "-", "HOME LANG PATH PWD TMPDIR "},
	} {
		t.Run(name, func(t *testing.T) {
			var w world
			text, err := command.NewTranscriber(w.options(t, script(t, c.script), "{language}", c.arg)).Transcribe(t.Context(), speech.Audio{Path: recording(t), Language: "en"})
			got := strings.NewReplacer("OLDPWD ", "", "SHLVL ", "", "_ ", "").Replace(text)
			if got != c.want || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
			spec := w.box.Specs()[0]
			if spec.Network || len(spec.Writable) != 1 || filepath.Dir(spec.Writable[0]) != w.scratch || strings.Contains(strings.Join(spec.Argv, " "), "touch") {
				t.Errorf("it may do more than it needs: %+v", spec)
			}
			if left := w.left(t); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// A language or a voice is a word, never an option or a path.
func TestWordsOfOthersAreNoOptions(t *testing.T) {
	for word, want := range map[string]string{"en": "en", "zh-CN": "zh-CN", "-x": "", "../x": "", "a b": "", "--output=/etc": "", "$(id)": ""} {
		var w world
		text, err := command.NewTranscriber(w.options(t, script(t, `printf %s "$1"`), "{language}", "{file}")).Transcribe(t.Context(), speech.Audio{Path: recording(t), Language: word})
		if text != want || err != nil {
			t.Errorf("%q: got %q, %v", word, text, err)
		}
	}
}

func TestProgramsThatFail(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   speech.Reason
		says   string
	}{
		"code":    {"echo text; echo 'no model  here' >&2; exit 3", speech.ReasonProgram, "ended with code 3. no model here"},
		"signal":  {"kill -9 $$", speech.ReasonProgram, "SIGKILL"},
		"endless": {"exec yes", speech.ReasonUnreadable, "wrote more than"},
	} {
		t.Run(name, func(t *testing.T) {
			var w world
			_, err := command.NewTranscriber(w.options(t, script(t, c.script), "{file}")).Transcribe(t.Context(), speech.Audio{Path: recording(t)})
			if speech.ReasonOf(err) != c.want || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v", err)
			}
			if left := w.left(t); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
	var w world
	if _, err := command.NewTranscriber(w.options(t, "there-is-no-such-program")).Transcribe(t.Context(), speech.Audio{Path: recording(t)}); err == nil || !strings.Contains(err.Error(), "not in PATH") {
		t.Errorf("got %v", err)
	}
	o := w.options(t, "sleep", "600")
	o.Timeout = 50 * time.Millisecond
	if _, err := command.NewTranscriber(o).Transcribe(t.Context(), speech.Audio{Path: recording(t)}); speech.ReasonOf(err) != speech.ReasonLate {
		t.Errorf("one that does not end: %v", err)
	}
	o = w.options(t, "true")
	w.box.Err = sandbox.ErrUnavailable
	if _, err := command.NewTranscriber(o).Transcribe(t.Context(), speech.Audio{Path: recording(t)}); speech.ReasonOf(err) != speech.ReasonSandbox {
		t.Errorf("without a sandbox: %v", err)
	}
}

func TestSynthesizeByProgram(t *testing.T) {
	voice := filepath.Join(t.TempDir(), "voice.opus")
	stdtest.Must(t, os.WriteFile(voice, speechtest.Voice(10), 0o600))
	for name, c := range map[string]struct {
		script string
		args   []string
		want   speech.Reason // if empty, a recording is expected
	}{
		"file":      {`grep -q hello && cat "$1" > "$2"`, []string{voice, "{output}"}, ""},
		"output":    {`grep -q hello && cat "$1"`, []string{voice}, ""},
		"no file":   {`true`, []string{"{output}"}, speech.ReasonUnreadable},
		"a link":    {`ln -s "$1" "$2"`, []string{voice, "{output}"}, speech.ReasonUnreadable},
		"a folder":  {`mkdir "$1"`, []string{"{output}"}, speech.ReasonUnreadable},
		"no folder": {`rm -r "$HOME"`, []string{"{output}"}, speech.ReasonProgram},
	} {
		t.Run(name, func(t *testing.T) {
			var w world
			data, err := command.NewSynthesizer(w.options(t, slices.Concat([]string{script(t, c.script)}, c.args)...)).Synthesize(t.Context(), speech.Words{Text: "hello"})
			if c.want != "" {
				if speech.ReasonOf(err) != c.want {
					t.Errorf("got %d bytes, %v", len(data), err)
				}
				return
			}
			if !bytes.Equal(data, speechtest.Voice(10)) || err != nil {
				t.Errorf("%d bytes, %v", len(data), err)
			}
		})
	}
}

func TestProgramEndsWithItsContext(t *testing.T) {
	var w world
	o := w.options(t, "sleep", "600")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	file := recording(t)
	go func() {
		_, err := command.NewTranscriber(o).Transcribe(ctx, speech.Audio{Path: file})
		done <- err
	}()
	faketest.Poll(t, "the program", func() bool { return len(w.box.Specs()) == 1 })
	cancel()
	if err := <-done; err == nil {
		t.Error("it went on")
	}
}
