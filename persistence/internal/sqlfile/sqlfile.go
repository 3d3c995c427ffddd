// Package sqlfile keeps one SQLite file that can be made anew from other files at
// any time. It is opened at its first use, used by one caller at a time, and thrown
// away where it is damaged or of another version. One process at a time may use it.
package sqlfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"
)

// Options of a file. All are required.
type Options struct {
	File   string // it and its folder are made when needed
	What   string // what it is, for errors: the search index
	Schema string // the statements that make its tables
	// Version changes with the tables and with what is put there.
	Version int
	Logger  *slog.Logger
}

// File is the file. It is safe for concurrent use.
type File struct {
	opts Options
	turn chan struct{} // holds one token; whoever has it may use pool
	pool *sql.DB       // nil until it is needed
	shut bool
}

var (
	errShut    = errors.New("it is closed")
	errVersion = errors.New("it is of another version")
)

// New makes a file. It touches nothing until it is used.
func New(o Options) *File {
	f := &File{opts: o, turn: make(chan struct{}, 1)}
	f.turn <- struct{}{}
	return f
}

// Use has the file for itself while work runs, and opens it if need be. It fails
// after Close.
func (f *File) Use(ctx context.Context, work func(db *sql.DB) error) error {
	return f.alone(ctx, func() (err error) {
		if f.shut {
			return fmt.Errorf("%s: %w", f.opts.What, errShut)
		}
		if f.pool == nil {
			if f.pool, err = f.open(ctx); err != nil {
				return fmt.Errorf("open %s: %w", f.opts.What, err)
			}
		}
		return work(f.pool)
	})
}

// Mending does work, which uses the file. Where that turns out to be damaged, it is
// thrown away, once, and work begins again.
func (f *File) Mending(ctx context.Context, work func() error) error {
	err := work()
	if !damaged(err) {
		return err
	}
	f.opts.Logger.WarnContext(ctx, "a file is damaged and is created again", "file", filepath.Base(f.opts.File), "error", err)
	if err := f.alone(ctx, f.discard); err != nil {
		return err
	}
	return work()
}

// Discard throws the file away; its next use makes it anew.
func (f *File) Discard(ctx context.Context) error { return f.alone(ctx, f.discard) }

// Close waits for the work in progress and closes the file.
func (f *File) Close() error {
	return f.alone(context.Background(), func() error {
		f.shut = true
		if f.pool == nil {
			return nil
		}
		err := f.pool.Close()
		f.pool = nil
		return err
	})
}

// Change does work in one transaction.
func Change(ctx context.Context, db *sql.DB, work func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := work(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func (f *File) alone(ctx context.Context, work func() error) error {
	select {
	case <-f.turn:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { f.turn <- struct{}{} }()
	return work()
}

// open opens the file, or makes it. The driver keeps one connection, so that
// nothing is ever locked by another one.
func (f *File) open(ctx context.Context) (*sql.DB, error) {
	file := f.opts.File
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	empty, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := empty.Close(); err != nil {
		return nil, err
	}
	// A rebuild mends what a power cut breaks, so the disk is waited for rarely.
	pragmas := url.Values{"_pragma": {"locking_mode(EXCLUSIVE)", "journal_mode(WAL)", "synchronous(NORMAL)", "temp_store(MEMORY)", "wal_autocheckpoint(4000)", "cache_size(-4096)"}}
	name := url.URL{Scheme: "file", Path: filepath.ToSlash(file), RawQuery: pragmas.Encode()}
	pool, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	if err := f.prepare(ctx, pool); err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return pool, nil
}

// prepare makes the tables of a new file and refuses one of another version.
func (f *File) prepare(ctx context.Context, db *sql.DB) error {
	var version int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	switch version {
	case f.opts.Version:
		return nil
	case 0:
		return Change(ctx, db, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, f.opts.Schema+fmt.Sprintf("PRAGMA user_version = %d;", f.opts.Version))
			return err
		})
	default:
		return errVersion
	}
}

// discard deletes the file and SQLite's files that belong to it.
func (f *File) discard() error {
	if f.pool != nil {
		if err := f.pool.Close(); err != nil {
			f.opts.Logger.Debug("a damaged file did not close", "file", filepath.Base(f.opts.File), "error", err)
		}
		f.pool = nil
	}
	var all error
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(f.opts.File + suffix); !errors.Is(err, fs.ErrNotExist) {
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
