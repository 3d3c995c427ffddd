package model

import "context"

// Embedder turns texts into vectors that are near each other where the texts mean
// the same. Implementations are safe for concurrent use.
type Embedder interface {
	// Embed returns one vector for each text, in their order, all of one length, of
	// finite numbers and none of them zero. It asks once and never waits to ask
	// again. Texts must not be empty; they are neither changed nor kept. An error is
	// an [*Error] unless ctx ended (then ctx's cause).
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}
