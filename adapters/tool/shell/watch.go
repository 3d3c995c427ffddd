package shell

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/steering"
)

// What is named like a secret is hidden from a program when the program starts. A name that appears later cannot be
// hidden, so all folders are searched repeatedly while programs run, and a program that could find such a name is
// killed. Its output is released only after a later search found nothing, so that it cannot contain a secret, however
// fast the program was.

const (
	// watchEvery is the shortest pause between two searches, watchMost the longest.
	watchEvery = 50 * time.Millisecond
	watchMost  = 5 * time.Second
	// watchShare is the ratio between a pause and the duration of the search before it.
	watchShare = 10
)

// watch watches all running programs.
type watch struct {
	mu    sync.Mutex
	over  []*watched
	awake bool // a goroutine is searching
}

// watched is a program that is being watched. It is nil if there is nothing to hide from the program.
type watched struct {
	sh    *Shell
	known []string // paths that are hidden from it or that it created, sorted
	// steering are the files that it must not change or make.
	steering steering.Files
	began    time.Time
	kill     func()
	// own says that names which appear in folders created after its start are taken as its own work, such as an
	// installation.
	own bool
	end func() int64 // the current length of its output

	// cleared is the length of the output that is known to contain no secret.
	cleared atomic.Int64
	failure atomic.Pointer[error] // why it was killed
	ended   atomic.Bool
}

// watchOver starts to watch a program that was started after a search.
func (s *Shell) watchOver(w *watched) {
	slices.Sort(w.known)
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	s.watch.over = append(s.watch.over, w)
	s.mu.Lock() // so that no goroutine starts while Close waits
	defer s.mu.Unlock()
	if !s.watch.awake && s.ctx.Err() == nil {
		s.watch.awake = true
		s.work.Go(s.keepLooking)
	}
}

// keepLooking searches until no program is left.
func (s *Shell) keepLooking() {
	pause := time.NewTimer(watchEvery)
	defer pause.Stop()
	for {
		select {
		case <-s.ctx.Done():
		case <-pause.C:
		}
		s.watch.mu.Lock()
		if len(s.watch.over) == 0 || s.ctx.Err() != nil {
			s.watch.awake = false
			s.watch.mu.Unlock()
			return
		}
		s.watch.mu.Unlock()
		began := time.Now()
		s.lookAgain(s.ctx)
		pause.Reset(min(watchMost, max(watchEvery, watchShare*time.Since(began))))
	}
}

// lookAgain searches for secrets, kills the programs that could find a new one, and clears the earlier output of the
// others.
func (s *Shell) lookAgain(ctx context.Context) {
	s.watch.mu.Lock()
	over := slices.Clone(s.watch.over)
	s.watch.mu.Unlock()
	printed := make([]int64, len(over))
	for i, w := range over {
		printed[i] = w.end()
	}
	found, err := s.names(ctx)
	if ctx.Err() != nil {
		return
	}
	for i, w := range over {
		if err != nil {
			w.fail(fmt.Errorf("the command was ended while it ran: %w", err))
		} else if name := w.strange(found.secrets); name != "" {
			w.fail(w.appeared(name))
		} else {
			w.clear(printed[i])
		}
	}
}

// strange returns a secret that is not hidden from the program, or "".
func (w *watched) strange(found []string) string {
	for _, path := range found {
		if _, known := slices.BinarySearch(w.known, path); known || slices.ContainsFunc(w.sh.opts.Hidden, func(h string) bool { return inside(path, h) }) {
			continue
		}
		if !w.own || !bornSince(filepath.Dir(path), w.sh.root, w.began) {
			return path
		}
	}
	return ""
}

func (w *watched) appeared(path string) error {
	return fmt.Errorf("the command was ended, because %s appeared while it ran: what is named like a secret cannot be hidden from a command that runs already. "+
		"What it printed since then is withheld, what it had done was done. It can be called again, and will not find that file", strings.TrimPrefix(path, w.sh.root+"/"))
}

// replaced describes why a sandbox killed a program, and puts aside what it must not have made. Other errors are
// returned as they are.
func (w *watched) replaced(err error) error {
	if w == nil || !errors.Is(err, sandbox.ErrReplaced) {
		return err
	}
	aside, failed := w.steering.PutAside(w.sh.root)
	switch names := strings.Join(aside, ", "); {
	case failed != nil:
		return fmt.Errorf("the command was ended, because it made %s, which git would obey; please remove it, since the host could not: %w", names, failed)
	case names != "":
		return fmt.Errorf("the command was ended, because it made %s, which git would obey. That was renamed; what else it had done was done", names)
	}
	return fmt.Errorf("the command was killed: %w. What it had done by then was done; look before you call it again", err)
}

func (w *watched) fail(err error) {
	if w.failure.CompareAndSwap(nil, &err) {
		w.kill()
	}
}

// clear marks the output up to an offset as free of secrets. Output of a program that has to be killed is never
// cleared.
func (w *watched) clear(to int64) {
	if w.failed() != nil {
		return
	}
	for {
		at := w.cleared.Load()
		if at >= to || w.cleared.CompareAndSwap(at, to) {
			return
		}
	}
}

// failed is the error for which a program was killed, or nil.
func (w *watched) failed() error {
	if w == nil {
		return nil
	}
	if err := w.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// check searches now, which either clears the output so far or kills the program.
func (w *watched) check(ctx context.Context) error {
	if w == nil {
		return nil
	}
	if w.failed() == nil && !w.ended.Load() {
		w.sh.lookAgain(ctx)
	}
	return w.failed()
}

// over searches for the last time, after the program has ended. It also ends with the host.
func (w *watched) over(ctx context.Context) error {
	if w == nil {
		return nil
	}
	err := w.check(ctx)
	w.ended.Store(true)
	w.sh.watch.mu.Lock()
	defer w.sh.watch.mu.Unlock()
	w.sh.watch.over = slices.DeleteFunc(w.sh.watch.over, func(o *watched) bool { return o == w })
	return err
}

// released is the length of the output that may be shown.
func (w *watched) released(printed int64) int64 {
	if w == nil {
		return printed
	}
	return min(printed, w.cleared.Load())
}
