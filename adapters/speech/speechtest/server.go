// Package speechtest has fakes for tests: a strict service of audio calls on a real
// socket, recordings, and transcribers and synthesizers by function.
package speechtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/speech"
)

// Fault is what the service does instead of answering normally.
type Fault = modeltest.Raw

// Cut breaks the connection in the middle of a response.
func Cut() Fault { return modeltest.Short(`{"text":"half`) }

// Hang never responds.
func Hang() Fault { return Fault{Hold: true, NoHeaders: true} }

// Heard is one request for a transcript.
type Heard struct {
	Model, Language, File string
	Audio                 []byte
}

// Spoken is one request for a recording.
type Spoken struct{ Model, Voice, Format, Input string }

// Server is the service. It refuses and records everything unexpected. Its URL includes /v1.
type Server struct {
	modeltest.Endpoint
	Key string

	mu      sync.Mutex
	words   func(audio []byte) string
	faults  []Fault
	heard   []Heard
	spoken  []Spoken
	strange []string
	gate    chan struct{}
	voice   []byte
	spoke   func() // may be nil
}

// NewServer starts a service with a key. The transcript of a recording is the result of words; if
// nil, it is the recording's bytes after a marker "words:".
func NewServer(t *testing.T, words func(audio []byte) string) *Server {
	t.Helper()
	if words == nil {
		words = func(audio []byte) string {
			_, said, _ := bytes.Cut(audio, []byte("words:"))
			return string(said)
		}
	}
	s := &Server{Key: "sk-speech-CANARY-0123456789", words: words, voice: Voice(100)}
	s.Listen(nil, "", http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

// Fail sets the faults of the next calls, in order.
func (s *Server) Fail(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// Hold blocks all calls until release is called.
func (s *Server) Hold() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gate := make(chan struct{})
	s.gate = gate
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.gate = nil
		close(gate)
	})
}

// Heard returns the requests for transcripts so far.
func (s *Server) Heard() []Heard {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.heard)
}

// Spoken returns the requests for recordings so far.
func (s *Server) Spoken() []Spoken {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.spoken)
}

// Strange returns what was wrong with requests.
func (s *Server) Strange() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.strange)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+s.Key {
		s.refuse(w, http.StatusUnauthorized, "the key is "+r.Header.Get("Authorization"))
		return
	}
	switch r.Method + " " + r.URL.Path {
	case "POST /v1/audio/transcriptions":
		s.transcribe(w, r)
	case "POST /v1/audio/speech":
		s.speak(w, r)
	default:
		s.refuse(w, http.StatusNotFound, "no such call: "+r.Method+" "+r.URL.Path)
	}
}

// refuse responds with an error that repeats the key, as careless services do.
func (s *Server) refuse(w http.ResponseWriter, status int, why string) {
	s.mu.Lock()
	s.strange = append(s.strange, why)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"error":{"message":%q,"type":"invalid_request_error","code":"bad_call"}}`, why+" with "+s.Key)
}

// fault plays the next fault, if there is one.
func (s *Server) fault(w http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	var f Fault
	found := len(s.faults) > 0
	if found {
		f, s.faults = s.faults[0], s.faults[1:]
	}
	gate := s.gate
	s.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-r.Context().Done():
			return true
		}
	}
	if found {
		f.Play(w, r)
	}
	return found
}

func (s *Server) transcribe(w http.ResponseWriter, r *http.Request) {
	h, why := readForm(r)
	if why != "" {
		s.refuse(w, http.StatusBadRequest, why)
		return
	}
	s.mu.Lock()
	s.heard = append(s.heard, h)
	s.mu.Unlock()
	if s.fault(w, r) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"text": s.words(h.Audio)})
}

// readForm parses a form as strictly as a service: every field exactly once, and no others.
func readForm(r *http.Request) (h Heard, why string) {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return h, "no form"
	}
	seen := map[string]bool{}
	for form := multipart.NewReader(r.Body, params["boundary"]); ; {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return h, "a broken form"
		}
		data, err := io.ReadAll(part)
		name := part.FormName()
		if err != nil || seen[name] {
			return h, "a field twice or broken: " + name
		}
		seen[name] = true
		switch name {
		case "file":
			h.File, h.Audio = part.FileName(), data
		case "model":
			h.Model = string(data)
		case "language":
			h.Language = string(data)
		case "response_format":
			if string(data) != "json" {
				return h, "a format that was not asked for"
			}
		default:
			return h, "an unknown field: " + name
		}
	}
	known := []string{".flac", ".m4a", ".mp3", ".mp4", ".mpeg", ".mpga", ".oga", ".ogg", ".wav", ".webm"}
	switch {
	case h.Model == "":
		return h, "no model"
	case len(h.Audio) == 0 || !slices.Contains(known, path.Ext(h.File)):
		return h, "no recording of a known kind: " + h.File
	case strings.ContainsAny(h.File, `/\`):
		return h, "a path as a name: " + h.File
	case h.Language != "" && len(h.Language) != 2:
		return h, "no language: " + h.Language
	}
	return h, ""
}

func (s *Server) speak(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model  string `json:"model"`
		Input  string `json:"input"`
		Voice  string `json:"voice"`
		Format string `json:"response_format"`
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil || in.Model == "" || in.Voice == "" || in.Input == "" || len([]rune(in.Input)) > 4096 {
		s.refuse(w, http.StatusBadRequest, "a bad call for speech")
		return
	}
	s.mu.Lock()
	s.spoken = append(s.spoken, Spoken{in.Model, in.Voice, in.Format, in.Input})
	s.mu.Unlock()
	if s.fault(w, r) {
		return
	}
	s.mu.Lock()
	spoke := s.spoke
	s.mu.Unlock()
	if spoke != nil {
		spoke()
	}
	w.Header().Set("Content-Type", "audio/ogg")
	_, _ = w.Write(s.voice)
}

// OnSpeak is called before each recording is answered.
func (s *Server) OnSpeak(call func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spoke = call
}

// Transcriber is a transcriber implemented by a function.
type Transcriber func(ctx context.Context, a speech.Audio) (string, error)

// Transcribe implements [speech.Transcriber].
func (f Transcriber) Transcribe(ctx context.Context, a speech.Audio) (string, error) {
	return f(ctx, a)
}

// Synthesizer is a synthesizer implemented by a function.
type Synthesizer func(ctx context.Context, w speech.Words) ([]byte, error)

// Synthesize implements [speech.Synthesizer].
func (f Synthesizer) Synthesize(ctx context.Context, w speech.Words) ([]byte, error) {
	return f(ctx, w)
}
