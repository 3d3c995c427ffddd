package host

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model/provider"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/speech"
	"github.com/shipmyagent/shipmyagent/adapters/speech/command"
	audio "github.com/shipmyagent/shipmyagent/adapters/speech/openai"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	speechtools "github.com/shipmyagent/shipmyagent/adapters/tool/speech"
	"github.com/shipmyagent/shipmyagent/cmd/internal/chatfiles"
	"github.com/shipmyagent/shipmyagent/cmd/internal/mask"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages"
)

// voices are what all makers of speech share, also those of later settings.
type voices struct {
	program   command.Options
	transport http.RoundTripper
	metrics   *speech.Metrics
}

func (h *Host) makeVoices(box sandbox.Sandbox) {
	transport := provider.NewTransport()
	h.cleanups.add("speech", func(context.Context) error { transport.CloseIdleConnections(); return nil })
	scratch := filepath.Join(h.opts.State, "speech") // of calls; those of an earlier process have ended
	if err := os.RemoveAll(scratch); err != nil {
		h.log.Warn("files of a speech program cannot be removed", "error", err)
	}
	h.voices = voices{command.Options{Sandbox: box, Scratch: scratch, Path: os.Getenv("PATH")}, transport, speech.NewMetrics(h.registry)}
}

// speechTools are the tools for what the settings want; from now on recordings become text as they want it. It contacts
// no service and starts no program.
func (h *Host) speechTools(s config.Speech) ([]tool.Tool, error) {
	files, log := tool.ChatFiles{Root: filepath.Join(h.opts.State, "files"), Folder: chatfiles.FolderOf}, h.opts.Logger.With("component", "speech")
	var out []tool.Tool
	var ears *speech.Listener
	if t := s.Transcribe; t.On() {
		program := h.voices.program
		program.Argv, program.Read, program.Timeout = t.Command, t.Read, time.Duration(t.TimeoutS)*time.Second
		var by speech.Transcriber = command.NewTranscriber(program)
		if len(t.Command) == 0 {
			var err error
			if by, err = audio.NewTranscriber(audio.Options{BaseURL: t.BaseURL, APIKey: audio.Secret(t.APIKey.Reveal()), Model: t.Model, Transport: h.voices.transport}); err != nil {
				return nil, err
			}
		}
		ears = speech.NewListener(mask.Transcriber(by, &h.mask), speech.ListenerOptions{
			MaxBytes: int64(t.MaxMB) << 20, MaxTime: time.Duration(t.MaxSeconds) * time.Second, AtOnce: t.MaxConcurrency, Deadline: program.Timeout,
			Language: t.Language, Metrics: h.voices.metrics, Meter: meterOf(t.Model, h.budgets.Recordings(t.Model, t.USDPerMinute)),
		})
		out = append(out, speechtools.NewTranscribe(speechtools.TranscribeOptions{Listener: ears, Files: files, Logger: log}))
	}
	if k := s.Speak; k.On() {
		program := h.voices.program
		program.Argv, program.Read, program.Timeout = k.Command, k.Read, time.Duration(k.TimeoutS)*time.Second
		var by speech.Synthesizer = command.NewSynthesizer(program)
		if len(k.Command) == 0 {
			var err error
			o := audio.Options{BaseURL: k.BaseURL, APIKey: audio.Secret(k.APIKey.Reveal()), Model: k.Model, Transport: h.voices.transport}
			if by, err = audio.NewSynthesizer(o, k.Voice, k.Format); err != nil {
				return nil, err
			}
		}
		mouth := speech.NewSpeaker(by, speech.SpeakerOptions{
			MaxLetters: k.MaxChars, AtOnce: k.MaxConcurrency, Deadline: program.Timeout, Metrics: h.voices.metrics, Meter: meterOf(k.Model, h.budgets.Texts(k.Model, k.USDPerMChars)),
		})
		out = append(out, speechtools.NewSpeak(speechtools.SpeakOptions{Speaker: mouth, Files: files, Way: h.voiceWay, Link: h.chatFiles().VoiceLink, Logger: log}))
	}
	h.ears.Store(ears)
	return out, nil
}

// replaceSpeech makes recordings and texts go where changed settings want them. If that is not possible, it returns
// false, and puts the previous settings of speech in place of the changed ones.
func (h *Host) replaceSpeech(s *config.Settings) bool {
	before := h.settings().Speech
	if reflect.DeepEqual(before, s.Speech) {
		return true
	}
	spoken, err := h.speechTools(s.Speech)
	if err == nil {
		err = h.tools.offer(func(b *toolbox) { b.spoken = spoken })
	}
	if err != nil {
		if h.reloads.News("speech", err) {
			h.log.Warn("the changed settings of speech cannot be used; the previous ones stay in effect", "error", err)
		}
		s.Speech = before
	}
	return err == nil
}

// meterOf leaves out the meter of a program, which costs nothing.
func meterOf(name string, m speech.Meter) speech.Meter {
	if name == "" {
		return nil
	}
	return m
}

// voiceWay is how recordings are delivered to the people of a chat.
func (h *Host) voiceWay(key messages.ChatKey) speechtools.Way {
	p := h.ports[query.BotOf(key)] // filled before the first message, not changed afterwards
	if p == nil || !p.adapter.Outbox {
		return speechtools.WayHere
	}
	switch caps := p.platform.Capabilities(); {
	case caps.Sends(platform.FileVoice):
		return speechtools.WayVoice
	case caps.Sends(platform.FileAudio):
		return speechtools.WayFile
	}
	return speechtools.WayText
}
