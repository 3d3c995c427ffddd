package model

import "context"

// Embedder turns texts into vectors that are close to each other if the texts have similar
// meanings. Implementations are safe for concurrent use.
type Embedder interface {
	// Embed returns one vector for each text, in order. All have the same length, finite numbers
	// and are not zero. It makes one request, on the account of payer, and never retries. Texts must
	// not be empty; they are neither changed nor kept. An error is an [*Error] unless ctx ended (then
	// ctx's cause).
	Embed(ctx context.Context, payer Payer, texts []string) ([][]float32, error)
}
