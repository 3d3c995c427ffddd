package modeltest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/shipmyagent/shipmyagent/adapters/model"
)

// Meanings is an embedding model for which the words of one list mean the same. Other words are similar only to
// themselves.
type Meanings struct {
	words map[string]int // the axis of each

	mu    sync.Mutex
	calls [][]string
	payer model.Payer
	fail  func(ctx context.Context, texts []string) error // if nil, no call fails
}

// wordAxes is the number of axes for words that are in no list.
const wordAxes = 61

// NewMeanings makes a model from lists of words that mean the same.
func NewMeanings(lists ...[]string) *Meanings {
	m := &Meanings{words: map[string]int{}}
	for i, list := range lists {
		for _, word := range list {
			m.words[strings.ToLower(word)] = wordAxes + i
		}
	}
	return m
}

// FailWith lets a function decide whether a call fails. If it is nil, no call fails.
func (m *Meanings) FailWith(fail func(ctx context.Context, texts []string) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = fail
}

// Calls are the texts of the calls so far, failed ones included.
func (m *Meanings) Calls() [][]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.calls)
}

// Payer returns the payer of the last call.
func (m *Meanings) Payer() model.Payer {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.payer
}

// Embed implements [model.Embedder].
func (m *Meanings) Embed(ctx context.Context, payer model.Payer, texts []string) ([][]float32, error) {
	m.mu.Lock()
	m.payer = payer
	m.calls = append(m.calls, slices.Clone(texts))
	fail := m.fail
	m.mu.Unlock()
	if fail != nil {
		if err := fail(ctx, texts); err != nil {
			return nil, err
		}
	}
	most := 0
	for _, axis := range m.words {
		most = max(most, axis-wordAxes+1)
	}
	out := make([][]float32, len(texts))
	for i, text := range texts {
		v := make([]float32, wordAxes+most)
		for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if axis, ok := m.words[word]; ok {
				v[axis] += 4
				continue
			}
			h := fnv.New32a()
			_, _ = h.Write([]byte(word)) // never fails
			v[h.Sum32()%wordAxes]++
		}
		if !slices.ContainsFunc(v, func(x float32) bool { return x != 0 }) {
			v[0] = 1
		}
		out[i] = v
	}
	return out, nil
}

// embed serves POST /v1/embeddings as strictly as providers do. The vectors are in another order than the texts, because
// clients must use their index.
func (s *Server) embed(w http.ResponseWriter, r *http.Request) {
	body, ok := s.admit(w, r, s)
	if !ok {
		return
	}
	name, texts, err := strictEmbedding(body)
	if err != nil {
		s.Locked(func(r *Record) { r.fault(err) })
		s.Refuse(w, &model.Error{Reason: model.ReasonBadRequest, Message: err.Error()})
		return
	}
	vectors, err := s.embedder.Embed(r.Context(), model.Payer{}, texts)
	if err != nil {
		if failed, ok := errors.AsType[*model.Error](err); ok {
			s.Refuse(w, failed)
			return
		}
		panic(http.ErrAbortHandler)
	}
	data := []any{}
	for i, v := range slices.Backward(vectors) {
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": v})
	}
	usage := map[string]int{"prompt_tokens": len(texts), "total_tokens": len(texts)}
	WriteJSON(w, http.StatusOK, map[string]any{"object": "list", "model": name, "data": data, "usage": usage})
}

// strictEmbedding reads a request, and refuses what a provider would.
func strictEmbedding(body []byte) (name string, texts []string, err error) {
	var b struct {
		Model          string   `json:"model"`
		Input          []string `json:"input"`
		EncodingFormat string   `json:"encoding_format"`
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&b); err != nil {
		return "", nil, fmt.Errorf("embeddings: %w", err)
	}
	switch {
	case b.Model == "":
		err = errors.New("embeddings: you must provide a model parameter")
	case len(b.Input) == 0 || len(b.Input) > 2048:
		err = fmt.Errorf("embeddings: %d texts, not 1 to 2048", len(b.Input))
	case b.EncodingFormat != "" && b.EncodingFormat != "float":
		err = fmt.Errorf("embeddings: encoding_format %q", b.EncodingFormat)
	}
	for _, text := range b.Input {
		if text == "" || len(text) > 8192 {
			err = fmt.Errorf("embeddings: a text of %d bytes", len(text))
		}
	}
	return b.Model, b.Input, err
}
