package host

import (
	"context"
	"errors"
	"io/fs"
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
	// lookEvery is the time between two looks at files that the system does not watch.
	lookEvery = 30 * time.Second
)

// watch calls changed after something in one of the folders changed, until ctx ends, and once after it began to watch
// them, because earlier changes are not reported. A missing folder is added once it is created, if its parent is
// watched. If the system cannot watch all of them, changed is also called periodically.
func watch(ctx context.Context, folders []string, log *slog.Logger, changed func()) {
	watchWith(ctx, fsnotify.NewWatcher, folders, log, changed)
}

// watchWith is watch with a watcher that open makes.
func watchWith(ctx context.Context, open func() (*fsnotify.Watcher, error), folders []string, log *slog.Logger, changed func()) {
	var again <-chan time.Time
	blind := func(err error) {
		if again == nil {
			log.Warn("the system cannot watch files; changes are seen half a minute later", "error", err, "help", "raise fs.inotify.max_user_instances and fs.inotify.max_user_watches")
			again = time.Tick(lookEvery)
		}
	}
	w, err := open()
	if err != nil {
		blind(err)
		w = &fsnotify.Watcher{} // its channels are nil and never ready
	} else {
		defer func() { _ = w.Close() }() // nothing is written through it
	}
	add := func(dir string) {
		if err := w.Add(dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // its creation is reported
			blind(err)
		}
	}
	wanted := map[string]bool{}
	for _, dir := range folders {
		wanted[dir] = true
		if err == nil {
			add(dir)
		}
	}
	timer := time.NewTimer(debounce)
	first := time.Now() // of the changes that were not handled yet; zero if none
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
				add(path)
			}
			rest()
		case _, ok := <-w.Errors:
			if !ok {
				return
			}
			rest() // events were lost, so check
		case <-again:
			changed()
		case <-timer.C:
			first = time.Time{}
			changed()
		}
	}
}
