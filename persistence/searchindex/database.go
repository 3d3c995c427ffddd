package searchindex

import (
	"context"
	"database/sql"

	"github.com/shipmyagent/shipmyagent/persistence/internal/sqlfile"
)

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
