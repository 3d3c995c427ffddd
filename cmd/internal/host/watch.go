package host

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// debounce is how long files must be unchanged before a change is handled, because editors write a file in
	// several steps.
	debounce = 200 * time.Millisecond
	// patience is how long a change waits at most while further ones follow.
	patience = 2 * time.Second
)

// watch calls changed after something in one of the folders changed, until ctx ends. A missing folder is added once
// it is created, if its parent is watched. ready is called once the folders are watched. If the system cannot watch
// files, watch only calls ready; callers also check periodically.
func watch(ctx context.Context, folders []string, log *slog.Logger, ready, changed func()) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		log.Debug("files cannot be watched; changes are seen a little later", "error", err)
		ready()
		return
	}
	defer func() { _ = w.Close() }() // nothing is written through it
	wanted := map[string]bool{}
	for _, dir := range folders {
		wanted[dir] = true
		_ = w.Add(dir) // may not exist yet
	}
	ready()
	timer := time.NewTimer(patience)
	timer.Stop()
	var first time.Time // of the changes that were not handled yet; zero if none
	rest := func() {
		if first.IsZero() {
			first = time.Now()
		}
		timer.Reset(max(0, min(debounce, patience-time.Since(first))))
	}
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-w.Events:
			if !ok {
				return
			}
			if path := filepath.Clean(e.Name); e.Has(fsnotify.Create) && wanted[path] {
				_ = w.Add(path) // if it is gone already, its next creation is reported
			}
			rest()
		case _, ok := <-w.Errors:
			if !ok {
				return
			}
			rest() // events were lost, so check
		case <-timer.C:
			first = time.Time{}
			changed()
		}
	}
}
