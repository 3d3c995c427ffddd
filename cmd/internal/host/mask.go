package host

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/config"
)

const (
	// minSecret is the shortest secret that is taken out of texts, in bytes: shorter
	// ones are words that occur by chance.
	minSecret = 6
	// masked stands for a secret, whatever its length.
	masked = "********"
)

// mask takes the host's secrets out of what tools and models say, before anybody
// reads or stores it. A program, a page or a provider may know a key and repeat it.
// It is safe for concurrent use.
type mask struct{ known atomic.Pointer[knownSecrets] }

type knownSecrets struct {
	texts    []string // as they are, and as they are written inside of JSON strings
	replacer *strings.Replacer
}

// set replaces the secrets.
func (m *mask) set(secrets ...config.Secret) {
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
	}
	// A secret that begins another one must not leave the rest of it behind.
	sorted := slices.SortedFunc(maps.Keys(texts), func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	pairs := make([]string, 0, 2*len(sorted))
	for _, text := range sorted {
		pairs = append(pairs, text, masked)
	}
	m.known.Store(&knownSecrets{sorted, strings.NewReplacer(pairs...)})
}

// text is s without secrets.
func (m *mask) text(s string) string {
	known := m.known.Load()
	if known == nil || s == "" {
		return s
	}
	return known.replacer.Replace(s)
}

// raw is a JSON value without secrets. One that breaks by that, as when a number is
// a secret, is a string.
func (m *mask) raw(v json.RawMessage) json.RawMessage {
	said := string(v)
	text := m.text(said)
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

// held is how much of the end of s may be the begin of a secret, in bytes.
func (m *mask) held(s string) int {
	known := m.known.Load()
	if known == nil {
		return 0
	}
	longest := 0
	for _, text := range known.texts {
		for n := min(len(text)-1, len(s)); n > longest; n-- {
			if strings.HasSuffix(s, text[:n]) {
				longest = n
			}
		}
	}
	return longest
}

// maskedModel is a model whose answers have no secrets in them.
type maskedModel struct {
	model.Model
	mask *mask
}

// Stream implements [model.Model]. What may be the begin of a secret waits for what
// comes next.
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
	mask    *mask
	waiting map[string]model.Event // by block: a delta that is held back
}

// take gives the events that an event lets out.
func (s *maskedStream) take(e model.Event) []model.Event {
	e.Raw, e.ProviderMetadata = s.mask.raw(e.Raw), s.mask.raw(e.ProviderMetadata)
	switch e.Kind {
	case "": // an error alone
		return nil
	case model.EventTextDelta, model.EventReasoningDelta, model.EventToolInputDelta:
		return s.delta(e)
	case model.EventTextEnd, model.EventReasoningEnd, model.EventToolInputEnd:
		return append(s.release(e.ID), e)
	case model.EventToolCall:
		e.Input = s.mask.text(e.Input)
		return append(s.release(e.ID), e)
	case model.EventFinish:
		var out []model.Event
		for _, id := range slices.Sorted(maps.Keys(s.waiting)) {
			out = append(out, s.release(id)...)
		}
		return append(out, e)
	default:
		return []model.Event{e}
	}
}

func (s *maskedStream) delta(e model.Event) []model.Event {
	before := s.waiting[e.ID]
	delete(s.waiting, e.ID)
	text := s.mask.text(before.Delta + e.Delta)
	n := s.mask.held(text)
	if n > 0 {
		rest := e
		rest.Delta = text[len(text)-n:]
		s.waiting[e.ID] = rest
	}
	if e.Delta = text[:len(text)-n]; e.Delta == "" && n > 0 {
		return nil
	}
	return []model.Event{e}
}

func (s *maskedStream) release(id string) []model.Event {
	e, ok := s.waiting[id]
	if !ok {
		return nil
	}
	delete(s.waiting, id)
	return []model.Event{e}
}
