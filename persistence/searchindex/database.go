package searchindex

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"
)

// schemaVersion changes with the tables and with the way texts become words.
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

// errVersion is the cause of making a file of another version anew.
var errVersion = errors.New("the search index is of another version")

// database is the open file.
type database struct{ sql *sql.DB }

// open opens the file, or makes it. The driver keeps one connection, so that
// nothing is ever locked by another one.
func open(ctx context.Context, file string) (*database, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the search index: %w", err)
	}
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the search index: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("open the search index: %w", err)
	}
	// A rebuild mends what a power cut breaks, so the disk is waited for rarely.
	pragmas := url.Values{"_pragma": {"locking_mode(EXCLUSIVE)", "journal_mode(WAL)", "synchronous(NORMAL)", "temp_store(MEMORY)", "wal_autocheckpoint(4000)", "cache_size(-4096)"}}
	name := url.URL{Scheme: "file", Path: filepath.ToSlash(file), RawQuery: pragmas.Encode()}
	pool, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, fmt.Errorf("open the search index: %w", err)
	}
	pool.SetMaxOpenConns(1)
	db := &database{pool}
	if err := db.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open the search index: %w", err), pool.Close())
	}
	return db, nil
}

// prepare makes the tables of a new file and refuses one of another version.
func (d *database) prepare(ctx context.Context) error {
	var version int
	if err := d.sql.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	switch version {
	case schemaVersion:
		return nil
	case 0:
		return d.change(ctx, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA user_version = %d;", schemaVersion))
			return err
		})
	default:
		return errVersion
	}
}

// change does work in one transaction.
func (d *database) change(ctx context.Context, work func(tx *sql.Tx) error) error {
	tx, err := d.sql.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := work(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func (d *database) close() error { return d.sql.Close() }

// remove deletes the file and what lies beside it.
func remove(file string) error {
	var all error
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(file + suffix); !errors.Is(err, fs.ErrNotExist) {
			all = errors.Join(all, err)
		}
	}
	return all
}

// damaged reports whether an error says that the file has to be made anew.
func damaged(err error) bool {
	if errors.Is(err, errVersion) {
		return true
	}
	failed, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return false
	}
	switch failed.Code() & 0xff {
	case sqlitelib.SQLITE_CORRUPT, sqlitelib.SQLITE_NOTADB, sqlitelib.SQLITE_SCHEMA, sqlitelib.SQLITE_ERROR:
		return true // an error in our own statements: the tables are not what they were
	default:
		return false
	}
}
