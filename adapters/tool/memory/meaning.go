package memory

import (
	"context"
	"log/slog"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/persistence"
)

const (
	// patience is how long a search waits for vectors, and pause how long searches do without them after a failure.
	patience, pause = 5 * time.Second, 30 * time.Second
	// batch is how many texts one request has, and most how many missing vectors one search requests; the others are
	// left to later searches.
	batch, most = 64, 512
)

// Meaning compares texts with a query by meaning. It is safe for concurrent use.
type Meaning struct {
	cache  persistence.VectorCache
	log    *slog.Logger
	paused atomic.Int64 // time until which no vectors are requested, in Unix nanoseconds
	by     atomic.Pointer[embedding]
}

// embedding is a model, and the name under which its vectors are cached.
type embedding struct {
	model.Embedder
	name string
}

// NewMeaning makes a [Meaning]. Without a model, see [Meaning.Use], it finds nothing.
func NewMeaning(cache persistence.VectorCache, log *slog.Logger) *Meaning {
	return &Meaning{cache: cache, log: log}
}

// Use sets the model that makes the vectors, in place of the one before. Vectors with other names are ignored.
func (m *Meaning) Use(e model.Embedder, name string) {
	m.by.Store(&embedding{e, name})
	m.paused.Store(0)
}

// near returns the similarity of each text to a query: the cosine of their vectors, or 0 for texts without a vector.
// It returns false if the model does not answer.
func (m *Meaning) near(ctx context.Context, payer model.Payer, query string, texts []string) ([]float64, bool) {
	if m.by.Load() == nil || time.Now().UnixNano() < m.paused.Load() {
		return nil, false
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	vectors, err := m.vectors(limited, payer, append([]string{query}, texts...))
	if err != nil {
		if _, spent := model.ReasonOf(err).Budget(); spent || ctx.Err() != nil {
			return nil, false // refused or canceled, which says nothing about the model
		}
		m.paused.Store(time.Now().Add(pause).UnixNano())
		m.log.WarnContext(ctx, "the memory is searched by words alone", "reason", string(model.ReasonOf(err)), "error", err)
		return nil, false
	}
	out := make([]float64, len(texts))
	for i, v := range vectors[1:] {
		out[i] = cosine(vectors[0], v)
	}
	return out, true
}

// vectors returns the vectors of texts; the first one must have one. New vectors are cached at once, so that a slow
// provider gets a smaller request the next time.
func (m *Meaning) vectors(ctx context.Context, payer model.Payer, texts []string) ([][]float32, error) {
	by := m.by.Load()
	out, err := m.cache.Vectors(ctx, by.name, texts)
	if err != nil { // it is only a cache
		m.log.WarnContext(ctx, "the cache of vectors cannot be read", "error", err)
		out = make([][]float32, len(texts))
	}
	var missing []int
	for i, v := range out {
		if v == nil && len(missing) < most {
			missing = append(missing, i)
		}
	}
	for part := range slices.Chunk(missing, batch) {
		asked := make([]string, len(part))
		for i, at := range part {
			asked[i] = texts[at]
		}
		got, err := by.Embed(ctx, payer, asked)
		if err != nil {
			return nil, err
		}
		for i, at := range part {
			out[at] = got[i]
		}
		if err := m.cache.KeepVectors(ctx, by.name, asked, got); err != nil {
			m.log.WarnContext(ctx, "vectors of memories cannot be cached", "error", err)
		}
	}
	return out, nil
}

// cosine is the cosine of two vectors, or 0 if one is missing or their lengths differ.
func cosine(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	var ab, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}
