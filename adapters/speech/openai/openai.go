// Package openai calls the audio endpoints of services with OpenAI's API, /audio/transcriptions and
// /audio/speech, through go-openai. Audio and text are sent only to the URL in the options:
// redirects are not followed. The error messages of responses are not logged, because they may
// repeat people's words or the key.
package openai

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	openaiapi "github.com/sashabaranov/go-openai"

	"github.com/shipmyagent/shipmyagent/adapters/internal/apicall"
	"github.com/shipmyagent/shipmyagent/adapters/speech"
)

const (
	// maxAnswer bounds the size of a response with text, maxRecording that of one with a recording.
	maxAnswer    = 1 << 20
	maxRecording = 32 << 20
	// maxWait bounds one delay between two tries; if the service asks for a longer one, there is no
	// retry.
	maxWait = 15 * time.Second
	tries   = 3
)

// Secret is a text that is never printed.
type Secret = apicall.Secret

// Options configure a [Transcriber] or [Synthesizer]. Model and Transport are required.
type Options struct {
	// BaseURL ends before /audio.
	BaseURL   string
	APIKey    Secret
	Model     string
	Transport http.RoundTripper
	// Pause is the shortest delay before a retry. The default is half a second.
	Pause time.Duration
}

var (
	errNoModel = errors.New("no model is named")
	errBaseURL = errors.New("base URL must be http or https")
)

type endpoint struct {
	client *openaiapi.Client
	model  string
	pause  time.Duration
}

func newEndpoint(o Options, limit int64) (*endpoint, error) {
	if o.Model == "" {
		return nil, errNoModel
	}
	u, err := url.Parse(o.BaseURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, errBaseURL
	}
	if o.Pause <= 0 {
		o.Pause = 500 * time.Millisecond
	}
	cfg := openaiapi.DefaultConfig(string(o.APIKey))
	cfg.BaseURL = strings.TrimRight(o.BaseURL, "/")
	cfg.HTTPClient = &doer{limit: limit, key: string(o.APIKey), client: apicall.Client(o.Transport)}
	return &endpoint{openaiapi.NewClientWithConfig(cfg), o.Model, o.Pause}, nil
}

// again makes a call, and repeats it while that may help and ctx lasts.
func (e *endpoint) again(ctx context.Context, call func() error) error {
	for n := 1; ; n++ {
		err := call()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil {
			return nil
		}
		failed, ok := errors.AsType[*speech.Error](err)
		if !ok { // the library could not decode the response
			failed = &speech.Error{Reason: speech.ReasonUnreadable, Message: "the answer is not what the API says"}
		}
		wait := max(failed.RetryAfter, apicall.Doubled(e.pause, maxWait, n)+rand.N(e.pause))
		if !failed.Retryable || n == tries || wait > maxWait {
			return failed
		}
		if err := apicall.Pause(ctx, wait); err != nil {
			return err
		}
	}
}

// Transcriber implements [speech.Transcriber].
type Transcriber struct{ *endpoint }

var _ speech.Transcriber = (*Transcriber)(nil)

// NewTranscriber returns a transcriber for the service.
func NewTranscriber(o Options) (*Transcriber, error) {
	e, err := newEndpoint(o, maxAnswer)
	return &Transcriber{e}, err
}

// Transcribe implements [speech.Transcriber]. It makes up to three tries.
func (t *Transcriber) Transcribe(ctx context.Context, a speech.Audio) (string, error) {
	var text string
	err := t.again(ctx, func() error {
		f, err := os.Open(a.Path)
		if err != nil {
			return &speech.Error{Reason: speech.ReasonUnreadable, Message: "the recording cannot be opened"}
		}
		defer f.Close() //nolint:errcheck // only read from
		resp, err := t.client.CreateTranscription(ctx, openaiapi.AudioRequest{
			Model: t.model, FilePath: "audio" + ending(a.Path), Reader: f, Language: a.Language, Format: openaiapi.AudioResponseFormatJSON,
		})
		text = resp.Text
		return err
	})
	return text, err
}

// ending returns the extension by which the service recognizes a recording.
func ending(path string) string {
	switch e := strings.ToLower(filepath.Ext(path)); e {
	case ".opus", ".oga":
		return ".ogg"
	default:
		return e
	}
}

// Synthesizer implements [speech.Synthesizer].
type Synthesizer struct {
	*endpoint
	voice  string
	format openaiapi.SpeechResponseFormat
}

var _ speech.Synthesizer = (*Synthesizer)(nil)

// NewSynthesizer returns a synthesizer with a voice and an audio format of the service.
func NewSynthesizer(o Options, voice, format string) (*Synthesizer, error) {
	e, err := newEndpoint(o, maxRecording)
	return &Synthesizer{e, voice, openaiapi.SpeechResponseFormat(format)}, err
}

// Synthesize implements [speech.Synthesizer]. It makes up to three tries.
func (s *Synthesizer) Synthesize(ctx context.Context, w speech.Words) ([]byte, error) {
	voice := s.voice
	if w.Voice != "" {
		voice = w.Voice
	}
	var data []byte
	err := s.again(ctx, func() error {
		resp, err := s.client.CreateSpeech(ctx, openaiapi.CreateSpeechRequest{
			Model: openaiapi.SpeechModel(s.model), Input: w.Text, Voice: openaiapi.SpeechVoice(voice), ResponseFormat: s.format,
		})
		if err != nil {
			return err
		}
		defer resp.Close() //nolint:errcheck // only read from
		var b bytes.Buffer
		n, err := io.Copy(&b, resp)
		data = b.Bytes()
		if n > maxRecording {
			return &speech.Error{Reason: speech.ReasonUnreadable, Message: "the recording has no end"}
		}
		return err
	})
	return data, err
}
