// Package skilllock keeps what people agreed to about skills in one small file of
// the state folder, skills.lock, that people can read and compare.
//
// Every change replaces the file as a whole: a new one is written and forced, then
// renamed, then the folder is forced. A lock beside it orders the changes of all
// processes. A file that cannot be read is never written over: it counts as no
// agreement until a person has looked at it.
package skilllock

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/gofrs/flock"

	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/document"
)

const (
	fileName = "skills.lock"
	version  = 1
	// maxBytes is the longest file that is read.
	maxBytes = 4 << 20
)

// Store implements [persistence.SkillStore].
type Store struct {
	state string
	disk  document.Disk
	mu    sync.Mutex // held with the lock file
}

// New makes a store in a state folder. It makes folder and file with the first
// change only.
func New(state string) *Store { return &Store{state: state} }

// Path is the file.
func (s *Store) Path() string { return filepath.Join(s.state, fileName) }

// file is the content of the file. Members of a newer version are not known here, so
// one is refused.
type file struct {
	Version int                         `json:"v"`
	Skills  []persistence.SkillApproval `json:"skills"`
}

// SkillApprovals implements [persistence.SkillStore].
func (s *Store) SkillApprovals(context.Context) ([]persistence.SkillApproval, error) {
	f, err := s.read()
	return f.Skills, err
}

func (s *Store) read() (file, error) {
	fail := func(why any) (file, error) {
		return file{}, fmt.Errorf("%w: %s: %v; repair the file or remove it, and every skill asks again", persistence.ErrSkillLock, s.Path(), why)
	}
	raw, err := document.Read(s.Path(), maxBytes)
	switch {
	case err != nil:
		return fail(err)
	case raw == nil:
		return file{Version: version}, nil
	}
	var f file
	d := json.NewDecoder(bytes.NewReader(raw))
	if err := d.Decode(&f); err != nil {
		return fail("it is damaged")
	}
	if f.Version != version {
		return fail(fmt.Sprintf("it has version %d, this program knows %d", f.Version, version))
	}
	seen := map[string]bool{}
	for _, a := range f.Skills {
		if a.Name == "" || a.Digest == "" || seen[a.Name] {
			return fail("it is damaged")
		}
		seen[a.Name] = true
	}
	byName(f.Skills)
	return f, nil
}

func byName(list []persistence.SkillApproval) {
	slices.SortFunc(list, func(a, b persistence.SkillApproval) int { return cmp.Compare(a.Name, b.Name) })
}

// ApproveSkill implements [persistence.SkillStore].
func (s *Store) ApproveSkill(ctx context.Context, approval persistence.SkillApproval) error {
	return s.change(ctx, func(list []persistence.SkillApproval) ([]persistence.SkillApproval, bool) {
		return append(without(list, approval.Name), approval), true
	})
}

// ForgetSkill implements [persistence.SkillStore].
func (s *Store) ForgetSkill(ctx context.Context, name string) (gone bool, err error) {
	err = s.change(ctx, func(list []persistence.SkillApproval) ([]persistence.SkillApproval, bool) {
		rest := without(list, name)
		gone = len(rest) < len(list)
		return rest, gone
	})
	return gone && err == nil, err
}

func without(list []persistence.SkillApproval, name string) []persistence.SkillApproval {
	return slices.DeleteFunc(slices.Clone(list), func(a persistence.SkillApproval) bool { return a.Name == name })
}

// change replaces the file, alone in all processes.
func (s *Store) change(ctx context.Context, work func([]persistence.SkillApproval) ([]persistence.SkillApproval, bool)) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.disk.MakeDir(s.state); err != nil {
		return fmt.Errorf("change the agreements to skills: %w", err)
	}
	lock := flock.New(filepath.Join(s.state, ".skills.lock.lock"), flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("change the agreements to skills: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	f, err := s.read()
	if err != nil {
		return err
	}
	next, changed := work(f.Skills)
	if !changed {
		return nil
	}
	byName(next)
	raw, err := json.MarshalIndent(file{version, next}, "", "  ")
	if err != nil { // Unreachable: strings and times
		return fmt.Errorf("change the agreements to skills: %w", err)
	}
	if err := s.disk.Write(s.Path(), append(raw, '\n')); err != nil {
		return fmt.Errorf("change the agreements to skills: %w", err)
	}
	return nil
}
