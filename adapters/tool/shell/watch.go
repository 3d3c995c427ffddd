package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// What is named like a secret is hidden from a program when it begins. A name that
// appears later cannot be: so all folders are looked through again and again while
// programs run, and a program that could find such a name is ended. What it printed
// is given to somebody only after a look that began later and found nothing, so that
// a secret is not in it, however fast the program was.

const (
	// watchEvery is the shortest pause between two looks, watchMost the longest.
	watchEvery = 50 * time.Millisecond
	watchMost  = 5 * time.Second
	// watchShare is how many times as long as a look the pause after it is.
	watchShare = 10
)

// watch watches over programs.
type watch struct {
	mu    sync.Mutex
	over  []*watched
	awake bool // a goroutine looks
}

// watched is a program that is watched over. nil: there is nothing to hide from it.
type watched struct {
	sh    *Shell
	known []string // what is hidden from it, or was made by it, sorted
	// planted is what git obeyed already when it began, and steering what it cannot change.
	planted, steering []string
	began             time.Time
	kill              func()
	// own says that what appears in folders that were made since it began is taken for
	// its own work, as an installation's is.
	own bool
	end func() int64 // the place behind all that it has printed

	// cleared is up to where its output was seen to hold no secret.
	cleared atomic.Int64
	failure atomic.Pointer[error] // why it was ended
	ended   atomic.Bool
}

// watchOver begins to watch over a program that was started after a look.
func (s *Shell) watchOver(w *watched) {
	slices.Sort(w.known)
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	s.watch.over = append(s.watch.over, w)
	s.mu.Lock() // so that nothing begins when Close waits
	defer s.mu.Unlock()
	if !s.watch.awake && s.ctx.Err() == nil {
		s.watch.awake = true
		s.work.Go(s.keepLooking)
	}
}

// keepLooking looks until no program is left.
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

// lookAgain looks for secrets, ends the programs that could find one that is new, and
// clears what the others had printed before.
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
		} else if name := w.plants(found.planted); name != "" {
			w.fail(w.uproot(name))
		} else if name := w.strange(found.secrets); name != "" {
			w.fail(w.appeared(name))
		} else {
			w.clear(printed[i])
		}
	}
}

// strange is a secret that is not hidden from a program; empty: there is none.
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

// plants is a file that git would obey, in a version store that was there before the
// program, and that is new; empty: there is none.
func (w *watched) plants(found []string) string {
	for _, path := range found {
		if !slices.Contains(w.planted, path) && slices.Contains(w.steering, filepath.Join(filepath.Dir(path), "config")) {
			return path
		}
	}
	return ""
}

// uproot removes such a file, and says so.
func (w *watched) uproot(path string) error {
	rel := strings.TrimPrefix(path, w.sh.root+"/")
	root, err := os.OpenRoot(w.sh.root)
	if err == nil {
		err = errors.Join(root.RemoveAll(rel), root.Close())
	}
	if err != nil {
		return fmt.Errorf("the command was ended, because it made %s, which git would obey; please remove it, since the host could not: %w", rel, err)
	}
	return fmt.Errorf("the command was ended, because it made %s, which git would obey. That was removed; what else it had done was done", rel)
}

func (w *watched) fail(err error) {
	if w.failure.CompareAndSwap(nil, &err) {
		w.kill()
	}
}

// clear notes that what was printed up to a place is no secret. What is printed after a
// program has to be ended never is.
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

// failed is why a program was ended; nil: it was not.
func (w *watched) failed() error {
	if w == nil {
		return nil
	}
	if err := w.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// check looks now, so that what was printed up to now is cleared, or the program ended.
func (w *watched) check(ctx context.Context) error {
	if w == nil {
		return nil
	}
	if w.failed() == nil && !w.ended.Load() {
		w.sh.lookAgain(ctx)
	}
	return w.failed()
}

// over looks for the last time. The program has ended. It ends with the host too.
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

// released is up to where what a program printed may be shown.
func (w *watched) released(printed int64) int64 {
	if w == nil {
		return printed
	}
	return min(printed, w.cleared.Load())
}
