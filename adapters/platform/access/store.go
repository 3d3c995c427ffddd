package access

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/recent"
)

var (
	// ErrTooMany means that somebody tried too many wrong codes.
	ErrTooMany = errors.New("too many wrong codes, wait an hour")
	// ErrCrowded means that too many people wait for approval.
	ErrCrowded = errors.New("too many people wait for approval")
)

// maxCodes is how many codes of an account may be open.
const maxCodes = 200

// lockRetry is how often a lock that another process holds is tried again.
const lockRetry = 20 * time.Millisecond

// Options of a [Store].
type Options struct {
	Now func() time.Time
}

// Store is the access file.
type Store struct {
	path string
	now  func() time.Time
	lock *flock.Flock
	// tries are wrong codes by bot and person.
	tries *recent.Map[string, attempts]

	writing sync.Mutex // one change at a time within this process

	mu    sync.RWMutex // guards the rest
	doc   *document
	stamp stamp
}

// Open reads the file, which need not exist; its folder is made.
func Open(path string, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return nil, fmt.Errorf("access: %w", err)
	}
	s := &Store{path: path, now: o.Now, lock: flock.New(path+".lock", flock.SetPermissions(fileMode)), tries: recent.New[string, attempts](maxTriers)}
	stamp, err := look(path)
	if err != nil {
		return nil, fmt.Errorf("access: %w", err)
	}
	if s.doc, err = read(path); err != nil {
		return nil, fmt.Errorf("access: %w", err)
	}
	s.stamp = stamp
	return s, nil
}

// Role is what a person is to a bot: platform.RoleOwner, platform.RoleApproved or platform.RoleStranger.
func (s *Store) Role(bot, person string) string {
	role := platform.RoleStranger
	s.view(bot, func(a *Account) { role = a.role(person) })
	return role
}

func (a *Account) role(person string) string {
	switch {
	case person == "":
		return platform.RoleStranger
	case a.Owner != nil && a.Owner.ID == person:
		return platform.RoleOwner
	case slices.ContainsFunc(a.People, func(p Person) bool { return p.ID == person }):
		return platform.RoleApproved
	case slices.ContainsFunc(a.Blocked, func(p Person) bool { return p.ID == person }):
		return platform.RoleBlocked
	}
	return platform.RoleStranger
}

// GroupAllowed reports whether a group was let in.
func (s *Store) GroupAllowed(bot, group string) bool {
	ok := false
	s.view(bot, func(a *Account) { ok = a.allows(group) })
	return ok
}

// Listens is what the bot listens to in a group; empty: as the settings say.
func (s *Store) Listens(bot, group string) string {
	how := ""
	s.view(bot, func(a *Account) {
		for _, g := range a.Groups {
			if g.ID == group {
				how = g.Listens
			}
		}
	})
	return how
}

func (a *Account) allows(group string) bool {
	return slices.ContainsFunc(a.Groups, func(g Group) bool { return g.ID == group })
}

// Account returns a copy of a bot's state, with the codes that still hold.
func (s *Store) Account(bot string) Account {
	var out Account
	s.view(bot, func(a *Account) {
		out = Account{People: slices.Clone(a.People), Groups: slices.Clone(a.Groups), Blocked: slices.Clone(a.Blocked), Arrivals: slices.Clone(a.Arrivals), Ended: slices.Clone(a.Ended)}
		if a.Owner != nil {
			owner := *a.Owner
			out.Owner = &owner
		}
		for _, c := range a.Codes {
			if s.now().Before(c.Expires) {
				out.Codes = append(out.Codes, c)
			}
		}
	})
	return out
}

// view reads the state of a bot, after another process's change if there was one.
func (s *Store) view(bot string, f func(*Account)) {
	s.refresh()
	s.mu.RLock()
	defer s.mu.RUnlock()
	if a := s.doc.Accounts[bot]; a != nil {
		f(a)
	}
}

// refresh reads a file that has changed. One that cannot be read changes nothing.
func (s *Store) refresh() {
	now, err := look(s.path)
	if err != nil {
		return
	}
	s.mu.RLock()
	same := now.same(s.stamp)
	s.mu.RUnlock()
	if same {
		return
	}
	doc, err := read(s.path)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stamp = now
	if err == nil {
		s.doc = doc
	}
}

// errSame ends a change that changes nothing.
var errSame = errors.New("nothing to change")

// change alters the state of a bot, in memory and in the file, or in neither.
func (s *Store) change(ctx context.Context, bot string, f func(*Account) error) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if _, err := s.lock.TryLockContext(ctx, lockRetry); err != nil {
		return fmt.Errorf("access: lock: %w", err)
	}
	defer s.lock.Unlock() //nolint:errcheck // closing the descriptor unlocks too
	doc, err := read(s.path)
	if err != nil {
		return fmt.Errorf("access: %w", err)
	}
	a := doc.Accounts[bot]
	if a == nil {
		a = &Account{}
		doc.Accounts[bot] = a
	}
	before := len(a.Codes) + len(a.Ended)
	now := s.now()
	a.Codes = slices.DeleteFunc(a.Codes, func(c Code) bool { return !now.Before(c.Expires) })
	a.forgetEnded(now)
	if err := f(a); errors.Is(err, errSame) && before == len(a.Codes)+len(a.Ended) {
		return nil
	} else if err != nil && !errors.Is(err, errSame) {
		return err
	}
	if err := doc.write(s.path); err != nil {
		return fmt.Errorf("access: %w", err)
	}
	stamp, err := look(s.path)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doc, s.stamp = doc, stamp
	if err != nil {
		return fmt.Errorf("access: %w", err)
	}
	return nil
}
