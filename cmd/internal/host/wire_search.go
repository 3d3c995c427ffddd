package host

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
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

// Search looks for words in a store that no host uses: in one chat, or in all
// with an empty key.
func Search(ctx context.Context, state string, store *filestore.Store, log *slog.Logger, key messages.ChatKey, q searchindex.Query) ([]SearchLine, error) {
	index := newIndex(state, store, log)
	lines, err := search(ctx, index, store, key, q)
	return lines, errors.Join(err, index.Close())
}

func search(ctx context.Context, index *searchindex.Index, store *filestore.Store, key messages.ChatKey, q searchindex.Query) ([]SearchLine, error) {
	var hits []searchindex.Hit
	var err error
	if key == "" {
		hits, err = index.SearchAll(ctx, q)
	} else if err = present(store, key); err == nil {
		hits, err = index.Search(ctx, key, q)
	}
	if err != nil {
		return nil, err
	}
	out := []SearchLine{}
	for _, hit := range hits {
		line := SearchLine{ChatKey: hit.ChatKey, Place: hit.Place, Score: hit.Score, Excerpt: hit.Excerpt.Text, Message: hit.Message}
		if meta, _ := uimessage.DecodeMetadata(hit.Message.Metadata); meta.TS > 0 { // what is not ours has no time
			line.At = time.UnixMilli(meta.TS).UTC()
		}
		out = append(out, line)
	}
	return out, nil
}

// present fails with [platform.ErrNotFound] if there is no such chat.
func present(store *filestore.Store, key messages.ChatKey) error {
	dir, err := store.ChatDir(key)
	if err != nil {
		return err
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return platform.ErrNotFound
	}
	return nil
}

// search serves GET /control/search: the words q in the chat named key, or in all.
func (c *control) search(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	var key messages.ChatKey
	if text := query.Get("key"); text != "" {
		var err error
		if key, err = messages.ParseChatKey(text); err != nil {
			writeJSON(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
			return
		}
	}
	limit, _ := strconv.Atoi(query.Get("limit")) // none: the default
	lines, err := search(r.Context(), c.host.index, c.host.store, key, searchindex.Query{Text: query.Get("q"), Limit: limit})
	c.reply(w, lines, err)
}
