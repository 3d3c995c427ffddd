// Package voices makes what turns recordings into text and text into recordings, and the tools for both, as the settings
// want it, also while a host runs. Settings that cannot be used change nothing. No service is contacted and no program is
// started before something is said. Work in progress continues with the settings that it began with.
package voices

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model/provider"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/speech"
	"github.com/shipmyagent/shipmyagent/adapters/speech/command"
	audio "github.com/shipmyagent/shipmyagent/adapters/speech/openai"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	speechtools "github.com/shipmyagent/shipmyagent/adapters/tool/speech"
	"github.com/shipmyagent/shipmyagent/cmd/internal/budgets"
	"github.com/shipmyagent/shipmyagent/cmd/internal/chatfiles"
	"github.com/shipmyagent/shipmyagent/cmd/internal/mask"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Options are what all settings of speech share. All are required.
type Options struct {
	State   string // the state folder
	Sandbox sandbox.Sandbox
	Mask    *mask.Mask
	Budgets *budgets.Budgets
	Way     func(messages.ChatKey) speechtools.Way // how recordings are delivered to the people of a chat
	Logger  *slog.Logger
}

// Voices is safe for concurrent use, except for Tools. The caller closes it.
type Voices struct {
	Options
	transport   *http.Transport
	transcriber atomic.Pointer[speech.Listener]
}

// New makes voices for no settings yet.
func New(o Options) *Voices {
	if err := os.RemoveAll(o.scratch()); err != nil { // the calls of an earlier process have ended
		o.Logger.Warn("files of a speech program cannot be removed", "error", err)
	}
	return &Voices{Options: o, transport: provider.NewTransport()}
}

func (o *Options) scratch() string { return filepath.Join(o.State, "speech") }

// Close ends connections that are not in use.
func (v *Voices) Close(context.Context) error {
	v.transport.CloseIdleConnections()
	return nil
}

// Listener turns recordings into text, as the newest settings want it; nil if they do not.
func (v *Voices) Listener() *speech.Listener { return v.transcriber.Load() }

// Tools follows settings and returns the tools for what they turn on. After an error the previous settings count.
func (v *Voices) Tools(s config.Speech) ([]tool.Tool, error) {
	files := chatfiles.In(v.State)
	var out []tool.Tool
	transcriber, err := v.listener(s.Transcribe)
	if err != nil {
		return nil, err
	}
	if transcriber != nil {
		out = append(out, speechtools.NewTranscribe(speechtools.TranscribeOptions{Listener: transcriber, Files: files.ChatFiles, Logger: v.Logger}))
	}
	synthesizer, err := v.speaker(s.Speak)
	if err != nil {
		return nil, err
	}
	if synthesizer != nil {
		out = append(out, speechtools.NewSpeak(speechtools.SpeakOptions{Speaker: synthesizer, Files: files.ChatFiles, Way: v.Way, Link: files.VoiceLink, Logger: v.Logger}))
	}
	v.transcriber.Store(transcriber)
	return out, nil
}

func (v *Voices) listener(t config.Transcribe) (*speech.Listener, error) {
	if !t.On() {
		return nil, nil //nolint:nilnil // recordings stay files
	}
	o := speech.ListenerOptions{
		MaxBytes: int64(t.MaxMB) << 20, MaxTime: time.Duration(t.MaxSeconds) * time.Second, AtOnce: t.MaxConcurrency, Deadline: time.Duration(t.TimeoutS) * time.Second,
		Language: t.Language,
	}
	if t.Model != "" { // a program costs nothing
		o.Meter = v.Budgets.Recordings(t.Model, t.USDPerMinute)
	}
	if len(t.Command) > 0 {
		return speech.NewListener(mask.Transcriber(command.NewTranscriber(v.program(t.Command, t.Read, o.Deadline)), v.Mask), o), nil
	}
	by, err := audio.NewTranscriber(v.api(t.BaseURL, t.APIKey, t.Model))
	if err != nil {
		return nil, err
	}
	return speech.NewListener(mask.Transcriber(by, v.Mask), o), nil
}

func (v *Voices) speaker(k config.Speak) (*speech.Speaker, error) {
	if !k.On() {
		return nil, nil //nolint:nilnil // answers stay text
	}
	o := speech.SpeakerOptions{MaxLetters: k.MaxChars, AtOnce: k.MaxConcurrency, Deadline: time.Duration(k.TimeoutS) * time.Second}
	if k.Model != "" {
		o.Meter = v.Budgets.Texts(k.Model, k.USDPerMChars)
	}
	if len(k.Command) > 0 {
		return speech.NewSpeaker(command.NewSynthesizer(v.program(k.Command, k.Read, o.Deadline)), o), nil
	}
	by, err := audio.NewSynthesizer(v.api(k.BaseURL, k.APIKey, k.Model), k.Voice, k.Format)
	if err != nil {
		return nil, err
	}
	return speech.NewSpeaker(by, o), nil
}

func (v *Voices) program(argv, read []string, timeout time.Duration) command.Options {
	return command.Options{Argv: argv, Read: read, Sandbox: v.Sandbox, Scratch: v.scratch(), Path: os.Getenv("PATH"), Timeout: timeout}
}

func (v *Voices) api(address string, key config.Secret, model string) audio.Options {
	return audio.Options{BaseURL: address, APIKey: audio.Secret(key.Reveal()), Model: model, Transport: v.transport}
}
