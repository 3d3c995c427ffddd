package host

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/shipmyagent/shipmyagent/adapters/speech/speechtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// sounds is the service for audio of a script, with what it is going to hear. Scripts
// of all platforms know these words, of which the first comes before anything happens:
//
//	hears                           recordings are turned into text
//	hears [hold GATE |] WORDS|nothing|STATUS
//	                                what comes of the next recording
//	speaks                          the model can speak
//
// Voices are sent with their length in the place of a name: 3, or 3/90 for one that
// says 3 seconds and plays for 90.
type sounds struct {
	*speechtest.Server

	mu          sync.Mutex
	transcriber []ear
	deaf        int // recordings that no line of the script speaks of
}

// ear is the result of one transcription.
type ear struct {
	words  string
	until  <-chan struct{} // nil: at once
	played *atomic.Bool
}

// audio switches one direction of speech on: transcribe or speak.
func (s *scene) audio(direction, model string) error {
	if s.h == nil && s.sounds == nil {
		s.sounds = &sounds{}
		s.sounds.Server = speechtest.NewServer(s.t, s.hear)
	}
	if s.sounds == nil || s.h != nil && s.flags["speech."+direction+".model"] == "" {
		return fmt.Errorf("comes before anything happens")
	}
	maps.Copy(s.flags, map[string]string{"speech." + direction + ".model": model, "speech." + direction + ".baseUrl": s.sounds.URL})
	return nil
}

func (s *scene) hears(rest string) error {
	if err := s.audio("transcribe", "whisper-1"); err != nil || rest == "" {
		return err
	}
	e := ear{words: rest, played: &atomic.Bool{}}
	if clause, words, held := strings.Cut(rest, " | "); held {
		g := &gate{name: strings.TrimPrefix(clause, "hold "), reached: e.played.Load, open: make(chan struct{}), listens: true}
		s.gates = append(s.gates, g)
		e.words, e.until = words, g.open
	}
	if status, err := strconv.Atoi(e.words); err == nil {
		s.sounds.Fail(speechtest.Fault{Status: status, Body: `{"error":{"message":"scripted"}}`})
		return nil
	}
	if e.words == "nothing" {
		e.words = ""
	}
	s.sounds.mu.Lock()
	defer s.sounds.mu.Unlock()
	s.sounds.transcriber = append(s.sounds.transcriber, e)
	return nil
}

// hear answers a request for a transcript.
func (s *scene) hear([]byte) string {
	s.sounds.mu.Lock()
	if len(s.sounds.transcriber) == 0 {
		s.sounds.deaf++
		s.sounds.mu.Unlock()
		return ""
	}
	e := s.sounds.transcriber[0]
	s.sounds.transcriber = s.sounds.transcriber[1:]
	s.sounds.mu.Unlock()
	e.played.Store(true)
	if e.until != nil {
		select {
		case <-e.until:
		case <-s.t.Context().Done():
		}
	}
	return e.words
}

func (s *scene) secrets(lines ...string) {
	s.t.Helper()
	if s.sounds != nil {
		lines = append(lines, "SMA_SPEECH_TRANSCRIBE_API_KEY="+s.sounds.Key, "SMA_SPEECH_SPEAK_API_KEY="+s.sounds.Key)
	}
	if len(lines) == 0 {
		return
	}
	stdtest.Must(s.t, os.WriteFile(filepath.Join(s.p.dir, ".env"), []byte(strings.Join(lines, "\n")+"\n"), 0o600))
}

// length reads the length of a voice: what it says, and its sound.
func length(word string) (says int, sound []byte, err error) {
	first, second, two := strings.Cut(word, "/")
	says, err = strconv.Atoi(first)
	plays := says
	if two && err == nil {
		plays, err = strconv.Atoi(second)
	}
	return says, speechtest.Voice(50 * plays), err
}

// showSounds are the calls that the service for audio got: for transcripts, then for
// recordings.
func (s *scene) showSounds() string {
	if s.sounds == nil {
		return ""
	}
	s.sounds.mu.Lock()
	left, deaf := len(s.sounds.transcriber), s.sounds.deaf
	s.sounds.mu.Unlock()
	if left > 0 || deaf > 0 {
		s.t.Errorf("%d recordings were not heard, %d came besides", left, deaf)
	}
	for _, why := range s.sounds.Strange() {
		s.t.Errorf("the service for audio refused %s", why)
	}
	noCanaries(s.t, s.p, s.sounds.Server, s.model)
	var out strings.Builder
	for _, h := range s.sounds.Heard() {
		fmt.Fprintf(&out, "transcriptions %s, %d bytes, model %s", h.File, len(h.Audio), h.Model)
		if h.Language != "" {
			fmt.Fprintf(&out, ", language %s", h.Language)
		}
		fmt.Fprintln(&out)
	}
	for _, k := range s.sounds.Spoken() {
		fmt.Fprintf(&out, "speech %q, model %s, voice %s, format %s\n", k.Input, k.Model, k.Voice, k.Format)
	}
	if out.Len() == 0 {
		return "none\n"
	}
	return out.String()
}
