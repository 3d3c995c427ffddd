// Package retention removes what is older than the settings allow from a state folder: logs, archives, the files of
// chats, and the runs of tasks. It also removes files that a killed process left unfinished, from there and from the
// project.
package retention

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/config"
)

const (
	// every is how often old files are removed.
	every = 24 * time.Hour
	// pauseBetween is the pause between two folders, so that the host stays responsive.
	pauseBetween = 5 * time.Millisecond
	// most is how many files one pass removes; the next pass continues.
	most = 100_000
	// abandoned is how long an unfinished file is kept after the last write to it.
	abandoned = 24 * time.Hour
)

// Sweeper removes what is older than the settings allow.
type Sweeper struct {
	state   string
	project string
	keep    func() config.Retention
	log     *slog.Logger
	runs    Runs
	pause   time.Duration
	left    int // files that this pass may still remove
}

// Runs deletes the runs of tasks in which nothing has happened since a time, and returns how many. It calls rest between
// two of them.
type Runs func(ctx context.Context, before time.Time, rest func(context.Context) error) (n int, err error)

// New makes a sweeper for a state folder and its project. Each pass asks for the settings.
func New(state, project string, keep func() config.Retention, runs Runs, log *slog.Logger) *Sweeper {
	return &Sweeper{state: state, project: project, keep: keep, runs: runs, log: log, pause: pauseBetween}
}

// Run looks at once and then once a day, until ctx ends.
func (r *Sweeper) Run(ctx context.Context) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		r.look(ctx, time.Now())
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (r *Sweeper) look(ctx context.Context, now time.Time) {
	r.left = most
	keep := r.keep()
	for _, kind := range []struct {
		name, under string
		days        int
		is          func(rel string) bool // nil for the runs of tasks
	}{
		{"logs", "logs", keep.LogsDays, func(rel string) bool { return !dated(rel, "") }},
		{"audit", "logs", keep.AuditDays, func(rel string) bool { return dated(rel, "") }},
		{"audit", "approvals", keep.AuditDays, func(rel string) bool { return dated(rel, "audit-") }},
		{"usage", "usage", keep.AuditDays, func(rel string) bool { return dated(rel, "") }},
		{"archives", "chat", keep.ArchivesDays, isArchive},
		{"copies of memories", "memory", keep.ArchivesDays, isArchive},
		{"files", filepath.Join("files", "results"), keep.FilesDays, func(string) bool { return true }},
		{"runs of tasks", "", keep.TasksDays, nil},
	} {
		if kind.days <= 0 {
			continue
		}
		before := now.AddDate(0, 0, -kind.days)
		var n int
		var err error
		if kind.is == nil {
			n, err = r.runs(ctx, before, r.rest)
		} else {
			n, err = r.remove(ctx, filepath.Join(r.state, kind.under), before, kind.is)
		}
		if n > 0 {
			r.log.Info("what is older than the retention settings was removed", "kind", kind.name, "removed", n, "days", kind.days)
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			r.log.Warn("what is older than the retention settings could not be removed completely", "kind", kind.name, "error", err)
		}
	}
	files, written := filepath.Join(r.state, "files"), ".sma-"+strings.Repeat("[A-Z2-7]", 26)+".tmp"
	for _, place := range [][2]string{{files, ".part-*"}, {files, written}, {r.project, written}} {
		root, name := place[0], place[1]
		n, _ := r.remove(ctx, root, now.Add(-abandoned), func(rel string) bool { // what cannot be removed does no harm
			ok, _ := filepath.Match(name, filepath.Base(rel)) // the patterns are well formed
			return ok
		})
		if n > 0 {
			r.log.Info("unfinished files of a killed process were removed", "folder", root, "removed", n)
		}
	}
}

// dated reports whether rel is the file of one day, directly in the folder.
func dated(rel, prefix string) bool {
	day, ok := strings.CutSuffix(strings.TrimPrefix(rel, prefix), ".jsonl")
	if !ok || !strings.HasPrefix(rel, prefix) {
		return false
	}
	_, err := time.Parse(time.DateOnly, day)
	return err == nil
}

// isArchive reports whether rel is an archive of a chat's history, or a copy of a memory from before it was condensed.
func isArchive(rel string) bool {
	dir := filepath.Base(filepath.Dir(rel))
	above := filepath.Base(filepath.Dir(filepath.Dir(rel)))
	return filepath.Ext(rel) == ".json" && dir == "archive" && above == "messages" ||
		filepath.Ext(rel) == ".md" && dir == "backup" && slices.Contains([]string{".", "users", "memory"}, above)
}

// remove removes the files below a folder that were last modified before a time.
func (r *Sweeper) remove(ctx context.Context, root string, before time.Time, is func(rel string) bool) (n int, err error) {
	var faults []error
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, fs.ErrNotExist):
			return nil // removed meanwhile
		case err != nil:
			faults = append(faults, err)
			return nil
		case r.left <= 0:
			return filepath.SkipAll
		case e.IsDir() && root == r.project && (path == r.state || slices.Contains([]string{".git", "node_modules"}, e.Name())):
			return filepath.SkipDir
		case e.IsDir():
			return r.rest(ctx)
		case !e.Type().IsRegular():
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil || !is(rel) {
			return err
		}
		info, err := e.Info()
		if err != nil || !info.ModTime().Before(before) {
			return nil //nolint:nilerr // gone meanwhile
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			faults = append(faults, err)
			return nil
		}
		n++
		r.left--
		return nil
	})
	return n, errors.Join(append(faults, err)...)
}

// rest pauses between two folders.
func (r *Sweeper) rest(ctx context.Context) error {
	select {
	case <-time.After(r.pause):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
