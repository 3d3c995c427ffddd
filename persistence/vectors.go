package persistence

import "context"

// VectorCache caches the vectors that an embedding model made of texts. It may forget anything at
// any time. It is safe for concurrent use.
type VectorCache interface {
	// Vectors returns the cached vectors of texts, in the order of the texts, with nil for those that
	// are not cached.
	Vectors(ctx context.Context, model string, texts []string) ([][]float32, error)
	// KeepVectors caches the vectors of texts. Repeating it changes nothing.
	KeepVectors(ctx context.Context, model string, texts []string, vectors [][]float32) error
}
