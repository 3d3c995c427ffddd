package host

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// debounce is how long changes rest before they are acted upon: editors write
	// a file in several steps.
	debounce = 200 * time.Millisecond
	// patience is how long changes that never rest are waited for.
	patience = 2 * time.Second
)

// watch calls changed after something in one of the folders did, until ctx ends.
// Folders that are not there are taken in once they are made, if the folder above
// is watched. ready is called once the folders are watched. A system that cannot
// watch is no fault: callers look by themselves now and then.
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
		_ = w.Add(dir) // may not be there yet
	}
	ready()
	timer := time.NewTimer(patience)
	timer.Stop()
	var first time.Time // of the changes that were not acted upon yet; zero: none
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
				_ = w.Add(path) // gone again already: its next making is heard of
			}
			rest()
		case _, ok := <-w.Errors:
			if !ok {
				return
			}
			rest() // events were lost: look
		case <-timer.C:
			first = time.Time{}
			changed()
		}
	}
}
