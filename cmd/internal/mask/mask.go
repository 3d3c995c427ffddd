// Package mask removes the host's secrets from the output of tools, models and services before it is read or stored,
// since a program, a page or a provider may know a key and repeat it.
package mask

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/speech"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages/plainjson"
)

const (
	// minSecret is the length of the shortest secret that is masked, in bytes. Shorter ones may occur by chance.
	minSecret = 6
	// masked replaces a secret, whatever its length.
	masked = "********"
)

// Mask replaces known secrets. It is safe for concurrent use.
type Mask struct{ known atomic.Pointer[knownSecrets] }

type knownSecrets struct {
	texts    []string  // plain and as written in JSON strings, with and without HTML escapes, the longest first
	first    [256]bool // their first bytes
	replacer *strings.Replacer
}

// Set replaces the secrets.
func (m *Mask) Set(secrets ...config.Secret) {
	texts := map[string]bool{}
	for _, s := range secrets {
		text := s.Reveal()
		if len(text) < minSecret {
			continue
		}
		texts[text] = true
		if quoted, err := json.Marshal(text); err == nil {
			texts[string(quoted[1:len(quoted)-1])] = true
		}
		if quoted, err := plainjson.Append(nil, text); err == nil {
			texts[string(quoted[1:len(quoted)-1])] = true
		}
	}
	// Longer secrets come first, so that a secret that is a prefix of another does not leave the rest of it visible.
	sorted := slices.SortedFunc(maps.Keys(texts), func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	known := &knownSecrets{texts: sorted}
	pairs := make([]string, 0, 2*len(sorted))
	for _, text := range sorted {
		pairs = append(pairs, text, masked)
		known.first[text[0]] = true
	}
	known.replacer = strings.NewReplacer(pairs...)
	m.known.Store(known)
}

// Text returns s without secrets.
func (m *Mask) Text(s string) string {
	known := m.known.Load()
	if known == nil || s == "" {
		return s
	}
	return known.replacer.Replace(s)
}

// Raw returns a JSON value without secrets. If the result is no longer valid JSON, for instance because a secret is a
// number, it is returned as a string.
func (m *Mask) Raw(v json.RawMessage) json.RawMessage {
	said := string(v)
	text := m.Text(said)
	switch {
	case text == said:
		return v
	case json.Valid([]byte(text)):
		return json.RawMessage(text)
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return json.RawMessage("null") // Unreachable: strings can be encoded
	}
	return quoted
}

// begun masks s as far as possible, and returns separately the end of s that may be the beginning of a secret.
func (m *Mask) begun(s string) (text, rest string) {
	known := m.known.Load()
	if known == nil {
		return s, ""
	}
	var out strings.Builder
	done := 0 // length of the part of s that is in out
	for i := 0; i < len(s); {
		n, open := known.at(s[i:])
		switch {
		case open:
			out.WriteString(s[done:i])
			return out.String(), s[i:]
		case n > 0:
			out.WriteString(s[done:i])
			out.WriteString(masked)
			i += n
			done = i
		default:
			i++
		}
	}
	if done == 0 {
		return s, ""
	}
	out.WriteString(s[done:])
	return out.String(), ""
}

// at returns the length of the secret that s begins with, or 0. open reports that s is a proper prefix of a secret.
func (k *knownSecrets) at(s string) (n int, open bool) {
	if !k.first[s[0]] {
		return 0, false
	}
	for _, text := range k.texts {
		switch {
		case strings.HasPrefix(s, text):
			return len(text), false
		case strings.HasPrefix(text, s):
			return 0, true
		}
	}
	return 0, false
}

// Writer masks what is written to another writer, even if a secret is split across writes. What may be the beginning
// of a secret is held back until the next write or Close. The writer is safe for concurrent use.
func (m *Mask) Writer(to io.Writer) io.WriteCloser { return &maskedWriter{mask: m, to: to} }

type maskedWriter struct {
	mask *Mask
	to   io.Writer

	mu   sync.Mutex
	rest string
}

func (w *maskedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var text string
	if text, w.rest = w.mask.begun(w.rest + string(p)); text == "" {
		return len(p), nil
	}
	if _, err := io.WriteString(w.to, text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close writes what was held back. It does not close the other writer.
func (w *maskedWriter) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := w.mask.Text(w.rest)
	w.rest = ""
	if text == "" {
		return nil
	}
	_, err := io.WriteString(w.to, text)
	return err
}

// Model masks the secrets in the answers of a model.
func Model(of model.Model, mask *Mask) model.Model { return maskedModel{of, mask} }

type maskedModel struct {
	model.Model
	mask *Mask
}

// Stream implements [model.Model]. A delta that may end in the beginning of a secret is held back in part until the
// next event.
func (m maskedModel) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		s := maskedStream{mask: m.mask, waiting: map[string]model.Event{}}
		for e, err := range m.Model.Stream(ctx, req) {
			for _, out := range s.take(e) {
				if !yield(out, nil) {
					return
				}
			}
			if err != nil {
				yield(model.Event{}, err)
				return
			}
		}
	}
}

type maskedStream struct {
	mask    *Mask
	waiting map[string]model.Event // by block: the delta held back
	out     []model.Event
}

// take returns the events that can be passed on after e. They are valid until the next call.
func (s *maskedStream) take(e model.Event) []model.Event {
	s.out = s.out[:0]
	e.Raw, e.ProviderMetadata = s.mask.Raw(e.Raw), s.mask.Raw(e.ProviderMetadata)
	switch e.Kind {
	case "": // only an error
		return nil
	case model.EventTextDelta, model.EventReasoningDelta, model.EventToolInputDelta:
		s.delta(e)
		return s.out
	case model.EventTextEnd, model.EventReasoningEnd, model.EventToolInputEnd:
		s.release(e.ID)
	case model.EventToolCall:
		e.Input = s.mask.Text(e.Input)
		s.release(e.ID)
	case model.EventFinish:
		for _, id := range slices.Sorted(maps.Keys(s.waiting)) {
			s.release(id)
		}
	default:
	}
	s.out = append(s.out, e)
	return s.out
}

func (s *maskedStream) delta(e model.Event) {
	before := s.waiting[e.ID]
	delete(s.waiting, e.ID)
	text, rest := s.mask.begun(before.Delta + e.Delta)
	if rest != "" {
		waiting := e
		waiting.Delta = rest
		s.waiting[e.ID] = waiting
	}
	if e.Delta = text; text != "" || rest == "" {
		s.out = append(s.out, e)
	}
}

func (s *maskedStream) release(id string) {
	e, ok := s.waiting[id]
	if !ok {
		return
	}
	delete(s.waiting, id)
	e.Delta = s.mask.Text(e.Delta)
	s.out = append(s.out, e)
}

// Transcriber masks the secrets in the transcripts of a transcriber.
func Transcriber(of speech.Transcriber, mask *Mask) speech.Transcriber {
	return maskedTranscriber{of, mask}
}

type maskedTranscriber struct {
	speech.Transcriber
	mask *Mask
}

func (m maskedTranscriber) Transcribe(ctx context.Context, a speech.Audio) (string, error) {
	text, err := m.Transcriber.Transcribe(ctx, a)
	return m.mask.Text(text), err
}
