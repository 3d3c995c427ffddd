package host

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
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

// voices turn recordings into text and text into recordings; those that are not configured are nil.
type voices struct {
	ears  *speech.Listener
	mouth *speech.Speaker
}

// newVoices makes what the settings want. It contacts no service and starts no program.
func (h *Host) newVoices(box sandbox.Sandbox) (voices, error) {
	s := h.opts.Settings.Settings.Speech
	if !s.Transcribe.On() && !s.Speak.On() {
		return voices{}, nil
	}
	transport := provider.NewTransport()
	h.cleanups.add("speech", func(context.Context) error {
		transport.CloseIdleConnections()
		return nil
	})
	scratch := filepath.Join(h.opts.State, "speech") // of calls; those of an earlier process have ended
	if err := os.RemoveAll(scratch); err != nil {
		h.log.Warn("files of a speech program cannot be removed", "error", err)
	}
	metrics := speech.NewMetrics(h.registry)
	var v voices
	if t := s.Transcribe; t.On() {
		timeout := time.Duration(t.TimeoutS) * time.Second
		by, err := transcriber(t, command.Options{
			Argv: t.Command, Read: t.Read, Sandbox: box, Scratch: scratch, Path: os.Getenv("PATH"), Timeout: timeout,
		}, transport)
		if err != nil {
			return voices{}, h.noVoices(err)
		}
		v.ears = speech.NewListener(mask.Transcriber(by, &h.mask), speech.ListenerOptions{
			MaxBytes: int64(t.MaxMB) << 20, MaxTime: time.Duration(t.MaxSeconds) * time.Second, AtOnce: t.MaxConcurrency, Deadline: timeout,
			Language: t.Language, Metrics: metrics, Meter: meterOf(t.Model, h.budgets.Recordings(t.Model, t.USDPerMinute)),
		})
	}
	if k := s.Speak; k.On() {
		timeout := time.Duration(k.TimeoutS) * time.Second
		by, err := synthesizer(k, command.Options{
			Argv: k.Command, Read: k.Read, Sandbox: box, Scratch: scratch, Path: os.Getenv("PATH"), Timeout: timeout,
		}, transport)
		if err != nil {
			return voices{}, h.noVoices(err)
		}
		v.mouth = speech.NewSpeaker(by, speech.SpeakerOptions{MaxLetters: k.MaxChars, AtOnce: k.MaxConcurrency, Deadline: timeout, Metrics: metrics, Meter: meterOf(k.Model, h.budgets.Texts(k.Model, k.USDPerMChars))})
	}
	return v, nil
}

// meterOf leaves out the meter of a program, which costs nothing.
func meterOf(name string, m speech.Meter) speech.Meter {
	if name == "" {
		return nil
	}
	return m
}

func (h *Host) noVoices(err error) error {
	return &Failure{Kind: KindConfig, What: "speech cannot be set up", Why: err, Help: "sma config check --dir " + h.opts.Dir}
}

func transcriber(t config.Transcribe, program command.Options, transport http.RoundTripper) (speech.Transcriber, error) {
	if len(t.Command) > 0 {
		return command.NewTranscriber(program), nil
	}
	return audio.NewTranscriber(audio.Options{BaseURL: t.BaseURL, APIKey: audio.Secret(t.APIKey.Reveal()), Model: t.Model, Transport: transport})
}

func synthesizer(k config.Speak, program command.Options, transport http.RoundTripper) (speech.Synthesizer, error) {
	if len(k.Command) > 0 {
		return command.NewSynthesizer(program), nil
	}
	o := audio.Options{BaseURL: k.BaseURL, APIKey: audio.Secret(k.APIKey.Reveal()), Model: k.Model, Transport: transport}
	return audio.NewSynthesizer(o, k.Voice, k.Format)
}

// speechTools are the tools for what is configured.
func (h *Host) speechTools(v voices, stored string) []tool.Tool {
	files, log := tool.ChatFiles{Root: stored, Folder: chatfiles.FolderOf}, h.opts.Logger.With("component", "speech")
	var out []tool.Tool
	if v.ears != nil {
		out = append(out, speechtools.NewTranscribe(speechtools.TranscribeOptions{Listener: v.ears, Files: files, Logger: log}))
	}
	if v.mouth != nil {
		out = append(out, speechtools.NewSpeak(speechtools.SpeakOptions{Speaker: v.mouth, Files: files, Way: h.voiceWay, Link: h.chatFiles().VoiceLink, Logger: log}))
	}
	return out
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
