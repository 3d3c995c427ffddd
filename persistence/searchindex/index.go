package searchindex

import (
	"context"
	"database/sql"
	"iter"
	"log/slog"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/internal/sqlfile"
)

// Options configure an index. All but Skip are required.
type Options struct {
	File string // of the index; it and its folder are made if necessary
	// Chats yields every chat, ChatDir returns the folder of one, which may be missing.
	Chats   func(ctx context.Context) iter.Seq2[messages.ChatKey, error]
	ChatDir func(key messages.ChatKey) (string, error)
	// Parse parses one line of a history; it returns false if the line is damaged. The message may
	// share memory with the line.
	Parse  func(line []byte) (uimessage.Message, bool)
	Logger *slog.Logger
	// Skip names tools whose inputs are not searched.
	Skip []string
}

// Index is the full-text index of a host. The zero value is not usable.
type Index struct {
	opts Options
	file *sqlfile.File
}

// New makes an index. It touches no file before the first search.
func New(o Options) *Index {
	return &Index{opts: o, file: sqlfile.New(sqlfile.Options{
		File: o.File, What: "the search index", Schema: schema, Version: schemaVersion, Logger: o.Logger,
	})}
}

const (
	defaultLimit = 10
	maxLimit     = 100
)

var _ persistence.Searcher = (*Index)(nil)

// Search implements [persistence.Searcher]. Of turns with the same score newer ones come first. Text
// without a word finds nothing. Turns committed before the call are found.
func (x *Index) Search(ctx context.Context, key messages.ChatKey, q persistence.Search) ([]persistence.Found, error) {
	return x.search(ctx, q, func(ctx context.Context) (int64, error) { return x.refresh(ctx, key) })
}

// SearchAll is [Index.Search] over all chats.
func (x *Index) SearchAll(ctx context.Context, q persistence.Search) ([]persistence.Found, error) {
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

// search updates the index and queries it. If the file turns out to be damaged, it is deleted and
// rebuilt, once.
func (x *Index) search(ctx context.Context, q persistence.Search, refresh func(ctx context.Context) (int64, error)) ([]persistence.Found, error) {
	terms := parseQuery(q.Text)
	if len(terms) == 0 {
		return nil, nil
	}
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	q.Limit = min(q.Limit, maxLimit)
	var hits []persistence.Found
	err := x.file.Mending(ctx, func() (err error) {
		hits, err = x.attempt(ctx, q, terms, refresh)
		return err
	})
	return hits, err
}

func (x *Index) attempt(ctx context.Context, q persistence.Search, terms []term, refresh func(ctx context.Context) (int64, error)) ([]persistence.Found, error) {
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

// using runs work with exclusive access to the database, and opens it if necessary.
func (x *Index) using(ctx context.Context, work func(db *database) error) error {
	return x.file.Use(ctx, func(db *sql.DB) error { return work(&database{db}) })
}

// Discard deletes the whole index, so that it contains nothing of a deleted chat. Later searches
// rebuild it.
func (x *Index) Discard(ctx context.Context) error { return x.file.Discard(ctx) }

// Close waits for a step in progress and closes the file. Searches then fail.
func (x *Index) Close() error { return x.file.Close() }

// schemaVersion changes with the tables and with the way texts are split into words.
const schemaVersion = 1

// The words of a turn are in texts.body, one space between them; texts.chat is
// a word too, so that a search reads the postings of one chat only.
const schema = `
CREATE TABLE chats (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, turns INTEGER NOT NULL DEFAULT 0, words INTEGER NOT NULL DEFAULT 0);
CREATE TABLE files (chat INTEGER NOT NULL, name TEXT NOT NULL, done INTEGER NOT NULL, mark INTEGER NOT NULL, PRIMARY KEY (chat, name)) WITHOUT ROWID;
CREATE TABLE turns (id INTEGER PRIMARY KEY, chat INTEGER NOT NULL, file TEXT NOT NULL, turn TEXT NOT NULL, at INTEGER NOT NULL, ts INTEGER NOT NULL, words INTEGER NOT NULL);
CREATE UNIQUE INDEX turns_turn ON turns (chat, file, turn);
CREATE VIRTUAL TABLE texts USING fts5 (chat, body, tokenize = 'ascii');
`

type database struct{ sql *sql.DB }

func (d *database) change(ctx context.Context, work func(tx *sql.Tx) error) error {
	return sqlfile.Change(ctx, d.sql, work)
}
