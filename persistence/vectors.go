package persistence

import "context"

// VectorCache keeps what an embedding model made of texts. It may forget anything
// at any time. It is safe for concurrent use.
type VectorCache interface {
	// Vectors are those kept for a model and texts, in the order of the texts; nil
	// where there is none.
	Vectors(ctx context.Context, model string, texts []string) ([][]float32, error)
	// KeepVectors keeps the vectors of texts. The same again changes nothing.
	KeepVectors(ctx context.Context, model string, texts []string, vectors [][]float32) error
}
