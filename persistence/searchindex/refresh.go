package searchindex

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// refresh updates the index from the files of a chat, in steps, so that searches of other chats are
// not delayed, and returns the chat's number. An interrupted step has no effect.
func (x *Index) refresh(ctx context.Context, key messages.ChatKey) (int64, error) {
	dir, err := x.opts.ChatDir(key)
	if err != nil {
		return 0, fmt.Errorf("index chat %s: %w", key, err)
	}
	for {
		var chat int64
		more := false
		err := x.using(ctx, func(db *database) (err error) {
			chat, more, err = x.step(ctx, db, key, dir)
			return err
		})
		if err != nil {
			return 0, fmt.Errorf("index chat %s: %w", key, err)
		}
		if !more {
			return chat, nil
		}
	}
}

// step indexes one piece of one file, if there is one that is not indexed yet.
func (x *Index) step(ctx context.Context, db *database, key messages.ChatKey, dir string) (chat int64, more bool, err error) {
	chat, err = db.chat(ctx, key)
	if err != nil {
		return 0, false, err
	}
	known, err := db.files(ctx, chat)
	if err != nil {
		return 0, false, err
	}
	names, err := listArchives(dir)
	if err != nil {
		return 0, false, err
	}
	// The archives first: turns that a rewrite moves there must not be missing meanwhile.
	for _, name := range names {
		if _, ok := known[name]; !ok {
			return chat, true, x.addArchive(ctx, db, chat, dir, name)
		}
		delete(known, name)
	}
	before := known[historyName]
	delete(known, historyName)
	lines, after, anew, err := readTail(dir, before)
	if err != nil {
		return 0, false, err
	}
	if after == before && len(known) == 0 {
		return chat, false, nil
	}
	return chat, len(lines) > 0, db.change(ctx, func(tx *sql.Tx) error {
		w := &writer{ctx: ctx, tx: tx, chat: chat, index: x}
		for name := range known { // removed
			w.forget(name)
		}
		if anew {
			w.forget(historyName)
		}
		w.add(historyName, lines)
		w.progress(historyName, after)
		return w.finish()
	})
}

func (x *Index) addArchive(ctx context.Context, db *database, chat int64, dir, name string) error {
	lines, err := readArchive(dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // removed since it was listed
	}
	if err != nil {
		return err
	}
	return db.change(ctx, func(tx *sql.Tx) error {
		w := &writer{ctx: ctx, tx: tx, chat: chat, index: x}
		w.add(name, lines)
		w.progress(name, progress{done: int64(len(lines))})
		return w.finish()
	})
}

// chat is the number of a chat, which it gets at its first search.
func (d *database) chat(ctx context.Context, key messages.ChatKey) (id int64, err error) {
	err = d.sql.QueryRowContext(ctx, "SELECT id FROM chats WHERE key = ?", string(key)).Scan(&id)
	if !errors.Is(err, sql.ErrNoRows) {
		return id, err
	}
	done, err := d.sql.ExecContext(ctx, "INSERT INTO chats (key) VALUES (?)", string(key))
	if err != nil {
		return 0, err
	}
	return done.LastInsertId()
}

// files returns the indexed files of a chat, and how much of each was read.
func (d *database) files(ctx context.Context, chat int64) (map[string]progress, error) {
	out := map[string]progress{}
	err := d.each(ctx, func(scan func(...any) error) error {
		var name string
		var p progress
		if err := scan(&name, &p.done, &p.mark); err != nil {
			return err
		}
		out[name] = p
		return nil
	}, "SELECT name, done, mark FROM files WHERE chat = ?", chat)
	return out, err
}

// each runs a query and calls a function for every row.
func (d *database) each(ctx context.Context, row func(scan func(...any) error) error, query string, args ...any) (err error) {
	rows, err := d.sql.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// writer changes the index of one chat, within a transaction. After the first error it does
// nothing; finish returns that error.
type writer struct {
	ctx   context.Context //nolint:containedctx // lives as long as the call that made it
	tx    *sql.Tx
	chat  int64
	index *Index
	err   error

	insert, old, body *sql.Stmt
}

func (w *writer) exec(query string, args ...any) {
	if w.err == nil {
		_, w.err = w.tx.ExecContext(w.ctx, query, args...)
	}
}

func (w *writer) forget(file string) {
	w.exec("DELETE FROM texts WHERE rowid IN (SELECT id FROM turns WHERE chat = ? AND file = ?)", w.chat, file)
	w.exec("DELETE FROM turns WHERE chat = ? AND file = ?", w.chat, file)
	w.exec("DELETE FROM files WHERE chat = ? AND name = ?", w.chat, file)
}

func (w *writer) progress(file string, p progress) {
	w.exec("INSERT OR REPLACE INTO files (chat, name, done, mark) VALUES (?, ?, ?, ?)", w.chat, file, p.done, p.mark)
}

// finish updates the statistics of the chat.
func (w *writer) finish() error {
	w.exec("UPDATE chats SET (turns, words) = (SELECT count(*), coalesce(sum(words), 0) FROM turns WHERE chat = chats.id) WHERE id = ?", w.chat)
	return w.err
}

func (w *writer) prepare(to **sql.Stmt, query string) {
	if w.err == nil {
		*to, w.err = w.tx.PrepareContext(w.ctx, query)
	}
}

// add adds turns. A turn of the same file with the same id is replaced: a later line replaces an
// earlier one.
func (w *writer) add(file string, lines []line) {
	w.prepare(&w.old, "DELETE FROM turns WHERE chat = ? AND file = ? AND turn = ? RETURNING id")
	w.prepare(&w.insert, "INSERT INTO turns (chat, file, turn, at, ts, words) VALUES (?, ?, ?, ?, ?, ?)")
	w.prepare(&w.body, "INSERT INTO texts (rowid, chat, body) VALUES (?, ?, ?)")
	for _, l := range lines {
		if w.err != nil {
			return
		}
		m, ok := w.index.parse(file, l.raw)
		if !ok {
			continue
		}
		w.err = w.turn(file, l.at, m)
	}
}

func (w *writer) turn(file string, at int64, m uimessage.Message) error {
	var old int64
	switch err := w.old.QueryRowContext(w.ctx, w.chat, file, m.ID).Scan(&old); {
	case err == nil:
		w.exec("DELETE FROM texts WHERE rowid = ?", old)
	case !errors.Is(err, sql.ErrNoRows):
		return err
	}
	body, n := bodyOf(saying(m, w.index.opts.Skip))
	if n == 0 || w.err != nil {
		return w.err
	}
	meta, _ := uimessage.DecodeMetadata(m.Metadata) // metadata of another origin has no time
	done, err := w.insert.ExecContext(w.ctx, w.chat, file, m.ID, at, meta.TS, n)
	if err != nil {
		return err
	}
	id, err := done.LastInsertId()
	if err != nil {
		return err
	}
	_, err = w.body.ExecContext(w.ctx, id, chatWord(w.chat), body)
	return err
}

// chatWord is a word that all turns of a chat contain.
func chatWord(chat int64) string { return "c" + strconv.FormatInt(chat, 10) }

// bodyOf writes the words of a text with one space between them.
func bodyOf(text string) (body string, n int) {
	words := split(text)
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.text)
	}
	return b.String(), len(words)
}
