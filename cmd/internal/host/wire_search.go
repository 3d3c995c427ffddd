package host

import (
	"context"

	"github.com/shipmyagent/shipmyagent/adapters/tool/history"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/searchindex"
)

func (h *Host) makeIndex(context.Context) error {
	h.index = query.NewIndex(h.opts.State, h.store, h.opts.Logger)
	h.cleanups.add("search index", func(context.Context) error { return h.index.Close() })
	return h.makeMeaning()
}

// searcher is the index as the tool sees it.
type searcher struct{ index *searchindex.Index }

// Search implements [history.Searcher].
func (s searcher) Search(ctx context.Context, key messages.ChatKey, q history.Query) ([]history.Found, error) {
	hits, err := s.index.Search(ctx, key, searchindex.Query{Text: q.Text, Limit: q.Limit, NotRequest: q.NotRequest})
	if err != nil {
		return nil, err
	}
	out := make([]history.Found, len(hits))
	for i, hit := range hits {
		out[i] = history.Found{
			Place: hit.Place, Score: hit.Score, Message: hit.Message, Excerpt: hit.Excerpt.Text, Cut: hit.Excerpt.Before || hit.Excerpt.After,
		}
	}
	return out, nil
}
