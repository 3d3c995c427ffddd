package access

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/recent"
	"github.com/shipmyagent/shipmyagent/persistence/document"
)

var (
	// ErrTooMany means that somebody tried too many wrong codes.
	ErrTooMany = errors.New("too many wrong codes, wait an hour")
	// ErrCrowded means that too many people are waiting for approval.
	ErrCrowded = errors.New("too many people wait for approval")
)

// maxCodes is the maximum number of open codes of an account.
const maxCodes = 200

// Options of a [Store].
type Options struct {
	Now func() time.Time
}

// Store is the access file.
type Store struct {
	file document.File[*content]
	lock *document.Lock
	now  func() time.Time
	// tries counts wrong codes by bot and person.
	tries *recent.Map[string, attempts]

	mu    sync.RWMutex // guards the rest
	doc   *content
	stamp stamp
}

// Open reads the file, which need not exist; its folder is created.
func Open(path string, o Options) (*Store, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Store{file: newFile(path), lock: document.NewLock(path + ".lock"), now: o.Now, tries: recent.New[string, attempts](maxTriers)}
	if err := s.file.Disk.MakeDir(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("access: %w", err)
	}
	stamp, err := look(path)
	if err != nil {
		return nil, fmt.Errorf("access: %w", err)
	}
	if s.doc, err = s.file.Read(); err != nil {
		return nil, err
	}
	s.stamp = stamp
	return s, nil
}

// Role returns a person's role with a bot, as one of the platform.Role constants.
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

// GroupAllowed reports whether a group has access.
func (s *Store) GroupAllowed(bot, group string) bool {
	ok := false
	s.view(bot, func(a *Account) { ok = a.allows(group) })
	return ok
}

// Listens returns what the bot listens to in a group. If empty, the settings decide.
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

// Account returns a copy of a bot's state, without expired codes.
func (s *Store) Account(bot string) Account {
	var out Account
	s.view(bot, func(a *Account) {
		x := a.state(s.now())
		out = Account{
			Owner: x.Owner, Codes: x.Codes, Arrivals: x.Arrivals, Ended: x.Ended,
			People: slices.Clone(a.People), Groups: slices.Clone(a.Groups), Blocked: slices.Clone(a.Blocked),
		}
	})
	return out
}

// view passes the state of a bot to f, including changes by other processes.
func (s *Store) view(bot string, f func(*Account)) {
	s.refresh()
	s.mu.RLock()
	defer s.mu.RUnlock()
	if a := s.doc.Accounts[bot]; a != nil {
		f(a)
	}
}

// refresh reads the file again if it has changed. A file that cannot be read changes nothing.
func (s *Store) refresh() {
	now, err := look(s.file.Path)
	if err != nil {
		return
	}
	s.mu.RLock()
	same := now.same(s.stamp)
	s.mu.RUnlock()
	if same {
		return
	}
	doc, err := s.file.Read()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stamp = now
	if err == nil {
		s.doc = doc
	}
}

// errSame aborts a change without a write, because nothing would change.
var errSame = document.ErrSame

// change alters the state of a bot both in memory and in the file, or in neither.
func (s *Store) change(ctx context.Context, bot string, f func(*Account) error) error {
	return s.lock.Do(ctx, s.file.Disk, func() error {
		var after *content
		err := s.file.Change(ctx, func(c **content) error {
			after = *c
			return s.edit(*c, bot, f)
		})
		if err != nil {
			return err
		}
		stamp, err := look(s.file.Path) // while the lock keeps other processes from replacing the file
		s.mu.Lock()
		defer s.mu.Unlock()
		s.doc, s.stamp = after, stamp
		return err
	})
}

// edit changes the state of a bot, and removes expired codes and ended requests.
func (s *Store) edit(c *content, bot string, f func(*Account) error) error {
	a := c.Accounts[bot]
	if a == nil {
		a = &Account{}
		c.Accounts[bot] = a
	}
	before := len(a.Codes) + len(a.Ended)
	now := s.now()
	a.Codes = slices.DeleteFunc(a.Codes, func(c Code) bool { return !now.Before(c.Expires) })
	a.forgetEnded(now)
	err := f(a)
	if errors.Is(err, errSame) && before != len(a.Codes)+len(a.Ended) {
		return nil
	}
	return err
}
