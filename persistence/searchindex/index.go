package searchindex

import (
	"context"
	"database/sql"
	"iter"
	"log/slog"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/internal/sqlfile"
)

// Options of an index. All but Skip are required.
type Options struct {
	File string // of the index; it and its folder are made when needed
	// Chats yields every chat, ChatDir is the folder of one, which need not exist.
	Chats   func(ctx context.Context) iter.Seq2[messages.ChatKey, error]
	ChatDir func(key messages.ChatKey) (string, error)
	// Parse reads one line of a history; false: it is damaged. The message may
	// share memory with the line.
	Parse  func(line []byte) (uimessage.Message, bool)
	Logger *slog.Logger
	// Skip names tools whose inputs are not searched.
	Skip []string
}

// Index is the full-text index of a host. The zero value is of no use.
type Index struct {
	opts Options
	file *sqlfile.File
}

// New makes an index. It touches nothing until the first search.
func New(o Options) *Index {
	return &Index{opts: o, file: sqlfile.New(sqlfile.Options{
		File: o.File, What: "the search index", Schema: schema, Version: schemaVersion, Logger: o.Logger,
	})}
}

// Query is what to look for.
type Query struct {
	// Text are the words. Turns that hold all of them come first; where these are
	// few, turns that hold any follow. What only signs divide is found as it stands,
	// and so is text of a script without spaces, if it is found so at all.
	Text  string
	Limit int // most results; 0: 10
	// NotRequest leaves out the turns of one request.
	NotRequest string
}

// Hit is a turn that was found.
type Hit struct {
	ChatKey messages.ChatKey
	// Place is where the turn is, below the folder of the chat: file:offset of a
	// history, file:line of an archive.
	Place string
	Score float64 // higher is better; comparable among turns with all words, and among others
	// Message is the turn as it is stored, Line its exact bytes.
	Message uimessage.Message
	Line    []byte
	// Excerpt is what the turn says around the first word that was found.
	Excerpt Excerpt
}

const (
	defaultLimit = 10
	maxLimit     = 100
)

// Search finds turns of one chat, the best first, newer ones before older ones
// of the same score. Text without a word finds nothing. What was committed
// before the call is found.
func (x *Index) Search(ctx context.Context, key messages.ChatKey, q Query) ([]Hit, error) {
	return x.search(ctx, q, func(ctx context.Context) (int64, error) { return x.refresh(ctx, key) })
}

// SearchAll is [Index.Search] over all chats.
func (x *Index) SearchAll(ctx context.Context, q Query) ([]Hit, error) {
	return x.search(ctx, q, func(ctx context.Context) (int64, error) {
		for key, err := range x.opts.Chats(ctx) {
			if err == nil {
				_, err = x.refresh(ctx, key)
			}
			if err != nil {
				return 0, err
			}
		}
		return everyChat, nil
	})
}

// search brings the index up to date and asks it. A file that turns out to be
// damaged is thrown away, once, and made anew.
func (x *Index) search(ctx context.Context, q Query, refresh func(ctx context.Context) (int64, error)) ([]Hit, error) {
	terms := parseQuery(q.Text)
	if len(terms) == 0 {
		return nil, nil
	}
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	q.Limit = min(q.Limit, maxLimit)
	var hits []Hit
	err := x.file.Mending(ctx, func() (err error) {
		hits, err = x.attempt(ctx, q, terms, refresh)
		return err
	})
	return hits, err
}

func (x *Index) attempt(ctx context.Context, q Query, terms []term, refresh func(ctx context.Context) (int64, error)) ([]Hit, error) {
	chat, err := refresh(ctx)
	if err != nil {
		return nil, err
	}
	var found []match
	err = x.using(ctx, func(db *database) (err error) {
		found, err = db.match(ctx, chat, terms)
		return err
	})
	if err != nil {
		return nil, err
	}
	return x.reopen(q, terms, found)
}

// using has the database for itself while work runs, and opens it if need be.
func (x *Index) using(ctx context.Context, work func(db *database) error) error {
	return x.file.Use(ctx, func(db *sql.DB) error { return work(&database{db}) })
}

// Discard throws the whole index away, so that nothing of a chat that was deleted is left
// in it. The searches that follow make it anew.
func (x *Index) Discard(ctx context.Context) error { return x.file.Discard(ctx) }

// Close waits for a step under way and closes the file. Searches fail from then on.
func (x *Index) Close() error { return x.file.Close() }
