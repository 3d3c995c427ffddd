package query

import (
	"context"
	"time"
)

// ContextLine is a context that a chat has left. Members are only ever added.
type ContextLine struct {
	ID         string    `json:"id"`
	Title      string    `json:"title"`
	CreatedAt  time.Time `json:"createdAt"`
	ArchivedAt time.Time `json:"archivedAt"`
	Messages   int       `json:"messages"`
	Preview    string    `json:"preview,omitempty"`
}

// Contexts lists the contexts that a chat has left, the newest first.
func (d *Desk) Contexts(ctx context.Context, q Asked) ([]ContextLine, error) {
	if err := Present(d.store, q.ChatKey); err != nil {
		return nil, err
	}
	items, err := d.store.Contexts(ctx, q.ChatKey)
	out := make([]ContextLine, len(items))
	for i, c := range items {
		out[i] = ContextLine{c.ID, c.Title, time.UnixMilli(c.CreatedAt).UTC(), time.UnixMilli(c.ArchivedAt).UTC(), c.MessageCount, c.SummaryPreview}
	}
	return out, err
}
