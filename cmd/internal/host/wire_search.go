package host

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/tool/agentcontext"
	"github.com/shipmyagent/shipmyagent/adapters/tool/history"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/searchindex"
)

// newIndex makes the search index of a store. It opens nothing until somebody
// searches.
func newIndex(state string, store *filestore.Store, log *slog.Logger) *searchindex.Index {
	return searchindex.New(searchindex.Options{
		File: filepath.Join(state, "index", "search.db"), Chats: store.Chats, ChatDir: store.ChatDir, Parse: filestore.ParseTurn,
		Skip: []string{history.SearchName, agentcontext.LoadName}, Logger: log.With("component", "search"),
	})
}

func (h *Host) makeIndex(context.Context) error {
	h.index = newIndex(h.opts.State, h.store, h.opts.Logger)
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

// SearchLine is one turn that was found. Members are only added.
type SearchLine struct {
	ChatKey messages.ChatKey  `json:"chatKey"`
	Place   string            `json:"place"` // file:offset or file:line, below the folder of the chat
	Score   float64           `json:"score"`
	At      time.Time         `json:"at,omitzero"`
	Excerpt string            `json:"excerpt"`
	Message uimessage.Message `json:"message"`
}

// Search looks for words in one chat, or in all chats.
func (d *Desk) Search(ctx context.Context, q Asked) ([]SearchLine, error) {
	out := []SearchLine{}
	query := searchindex.Query{Text: q.Words, Limit: q.Limit}
	var hits []searchindex.Hit
	var err error
	switch {
	case q.ChatKey == "" && d.store == nil:
	case q.ChatKey == "":
		hits, err = d.index.SearchAll(ctx, query)
	default:
		if err = present(d.store, q.ChatKey); err == nil {
			hits, err = d.index.Search(ctx, q.ChatKey, query)
		}
	}
	for _, hit := range hits {
		line := SearchLine{ChatKey: hit.ChatKey, Place: hit.Place, Score: hit.Score, Excerpt: hit.Excerpt.Text, Message: hit.Message}
		if meta, _ := uimessage.DecodeMetadata(hit.Message.Metadata); meta.TS > 0 { // what is not ours has no time
			line.At = time.UnixMilli(meta.TS).UTC()
		}
		out = append(out, line)
	}
	return out, err
}
