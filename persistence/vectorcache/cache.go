// Package vectorcache caches the vectors of texts in one SQLite file, by the name of the model and a
// digest of the text; it contains no text. The file has a limited size: the least recently used
// vectors are removed first. The file is opened at its first use, may be deleted at any time, and is
// made again if it is damaged. Only one process at a time may use it, which the lock of the store
// ensures.
package vectorcache

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"log/slog"
	"math"
	"time"

	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/internal/sqlfile"
)

const (
	// DefaultMaxBytes is the default of [Options]: about 10,000 vectors of the usual length.
	DefaultMaxBytes = 64 << 20
	// fresh is the resolution of the time of the last use.
	fresh = time.Hour
)

// Options configure [New]. File and Logger are required.
type Options struct {
	File     string
	MaxBytes int64 // of the vectors; 0 means [DefaultMaxBytes]
	Logger   *slog.Logger
}

const schema = `
CREATE TABLE vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL, used INTEGER NOT NULL);
CREATE INDEX vectors_used ON vectors (used);
`

// Cache implements [persistence.VectorCache].
type Cache struct {
	opts Options
	file *sqlfile.File
}

var _ persistence.VectorCache = (*Cache)(nil)

// New makes a cache.
func New(o Options) *Cache {
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	return &Cache{opts: o, file: sqlfile.New(sqlfile.Options{File: o.File, What: "the cache of vectors", Schema: schema, Version: 1, Logger: o.Logger})}
}

// Discard deletes all vectors.
func (c *Cache) Discard(ctx context.Context) error { return c.file.Discard(ctx) }

// Close closes the file.
func (c *Cache) Close() error { return c.file.Close() }

// Vectors implements [persistence.VectorCache].
func (c *Cache) Vectors(ctx context.Context, model string, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	now := time.Now()
	err := c.change(ctx, func(tx *sql.Tx) error {
		for i, text := range texts {
			var packed []byte
			var used int64
			err := tx.QueryRowContext(ctx, "SELECT vector, used FROM vectors WHERE key = ?", keyOf(model, text)).Scan(&packed, &used)
			switch {
			case errors.Is(err, sql.ErrNoRows):
				continue
			case err != nil:
				return err
			}
			out[i] = unpack(packed)
			if now.Sub(time.Unix(used, 0)) > fresh {
				if _, err := tx.ExecContext(ctx, "UPDATE vectors SET used = ? WHERE key = ?", now.Unix(), keyOf(model, text)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return out, err
}

// KeepVectors implements [persistence.VectorCache].
func (c *Cache) KeepVectors(ctx context.Context, model string, texts []string, vectors [][]float32) error {
	now := time.Now().Unix()
	return c.change(ctx, func(tx *sql.Tx) error {
		for i, text := range texts {
			_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO vectors (key, vector, used) VALUES (?, ?, ?)", keyOf(model, text), pack(vectors[i]), now)
			if err != nil {
				return err
			}
		}
		return c.bound(ctx, tx)
	})
}

// bound removes the least recently used vectors if there are too many, a tenth more than necessary.
func (c *Cache) bound(ctx context.Context, tx *sql.Tx) error {
	var held int64
	if err := tx.QueryRowContext(ctx, "SELECT coalesce(sum(length(vector)), 0) FROM vectors").Scan(&held); err != nil || held <= c.opts.MaxBytes {
		return err
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM vectors WHERE rowid IN (SELECT rowid FROM
		(SELECT rowid, sum(length(vector)) OVER (ORDER BY used DESC, rowid DESC) AS held FROM vectors) WHERE held > ?)`, c.opts.MaxBytes/10*9)
	return err
}

func (c *Cache) change(ctx context.Context, work func(tx *sql.Tx) error) error {
	return c.file.Mending(ctx, func() error {
		return c.file.Use(ctx, func(db *sql.DB) error { return sqlfile.Change(ctx, db, work) })
	})
}

func keyOf(model, text string) []byte {
	sum := sha256.Sum256([]byte(model + "\x00" + text))
	return sum[:]
}

func pack(v []float32) []byte {
	out := make([]byte, 0, 4*len(v))
	for _, x := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out
}

func unpack(b []byte) []float32 {
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}
