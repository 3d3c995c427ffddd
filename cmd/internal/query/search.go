package query

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/tool/agentcontext"
	"github.com/shipmyagent/shipmyagent/adapters/tool/history"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/searchindex"
	"github.com/shipmyagent/shipmyagent/persistence/vectorcache"
)

// NewIndex makes the search index of a store. It opens no file before the first search.
func NewIndex(state string, store *filestore.Store, log *slog.Logger) *searchindex.Index {
	return searchindex.New(searchindex.Options{
		File: filepath.Join(state, "index", "search.db"), Chats: store.Chats, ChatDir: store.ChatDir, Parse: filestore.ParseTurn,
		Skip: []string{history.SearchName, agentcontext.LoadName}, Logger: log.With("component", "search"),
	})
}

// NewVectors makes the cache of the vectors of memories. It opens no file before its first use.
func NewVectors(state string, log *slog.Logger) *vectorcache.Cache {
	return vectorcache.New(vectorcache.Options{File: filepath.Join(state, "index", "vectors.db"), Logger: log})
}

// SearchLine is one turn that was found. Members are only ever added.
type SearchLine struct {
	ChatKey messages.ChatKey  `json:"chatKey"`
	Place   string            `json:"place"` // file:offset or file:line, below the folder of the chat
	Score   float64           `json:"score"`
	At      time.Time         `json:"at,omitzero"`
	Excerpt string            `json:"excerpt"`
	Message uimessage.Message `json:"message"`
}

// Search searches for words in one chat, or in all chats.
func (d *Desk) Search(ctx context.Context, q Asked) ([]SearchLine, error) {
	out := []SearchLine{}
	query := persistence.Search{Text: q.Words, Limit: q.Limit}
	var hits []persistence.Found
	var err error
	switch {
	case q.ChatKey == "" && d.store == nil:
	case q.ChatKey == "":
		hits, err = d.index.SearchAll(ctx, query)
	default:
		if err = Present(d.store, q.ChatKey); err == nil {
			hits, err = d.index.Search(ctx, q.ChatKey, query)
		}
	}
	for _, hit := range hits {
		line := SearchLine{ChatKey: hit.ChatKey, Place: hit.Place, Score: hit.Score, Excerpt: hit.Excerpt.Text, Message: hit.Message}
		if meta, _ := uimessage.DecodeMetadata(hit.Message.Metadata); meta.TS > 0 { // other programs' metadata has no time
			line.At = time.UnixMilli(meta.TS).UTC()
		}
		out = append(out, line)
	}
	return out, err
}
