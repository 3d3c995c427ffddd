// Package skilllock stores the skills that people approved in one small document of the state
// folder, skills.lock, which people can read and compare.
//
// Any number of processes may change it. While it cannot be read, no skill counts as approved, and
// it is not overwritten until a person has repaired or removed it.
package skilllock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sort"

	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/document"
)

const (
	version = 1
	// maxBytes is the longest file that is read.
	maxBytes = 4 << 20
)

// Store implements [persistence.SkillStore].
type Store struct{ doc document.File[content] }

// content is the content of the file. A file of a newer version is refused, because a change would
// lose its new members.
type content struct {
	Version int                         `json:"v"`
	Skills  []persistence.SkillApproval `json:"skills"`
}

// New makes a store in a state folder. The first change makes the folder and the file.
func New(state string) *Store {
	path := filepath.Join(state, "skills.lock")
	return &Store{doc: document.File[content]{
		Path: path, Max: maxBytes, Lock: document.NewLock(filepath.Join(state, ".skills.lock.lock")),
		Decode: decode, Encode: document.Indented[content],
		Unreadable: func(err error) error {
			return fmt.Errorf("%w: %s: %w; repair the file or remove it, and every skill asks again", persistence.ErrSkillLock, path, err)
		},
	}}
}

// Path is the path of the file.
func (s *Store) Path() string { return s.doc.Path }

func decode(raw []byte) (content, error) {
	c := content{Version: version}
	if raw == nil {
		return c, nil
	}
	c.Version = 0
	if json.Unmarshal(raw, &c) != nil {
		return content{}, errDamaged
	}
	if c.Version != version {
		return content{}, fmt.Errorf("it has version %d, this program knows %d", c.Version, version)
	}
	seen := map[string]bool{}
	for _, a := range c.Skills {
		if a.Name == "" || a.Digest == "" || seen[a.Name] {
			return content{}, errDamaged
		}
		seen[a.Name] = true
	}
	byName(c.Skills)
	return c, nil
}

var errDamaged = errors.New("it is damaged")

func byName(list []persistence.SkillApproval) {
	sort.SliceStable(list, func(i, j int) bool { return list[i].Name < list[j].Name })
}

// SkillApprovals implements [persistence.SkillStore].
func (s *Store) SkillApprovals(context.Context) ([]persistence.SkillApproval, error) {
	c, err := s.doc.Read()
	return c.Skills, err
}

// ApproveSkill implements [persistence.SkillStore].
func (s *Store) ApproveSkill(ctx context.Context, approval persistence.SkillApproval) error {
	return s.change(ctx, func(c *content) error {
		c.Skills = append(without(c.Skills, approval.Name), approval)
		return nil
	})
}

// ForgetSkill implements [persistence.SkillStore].
func (s *Store) ForgetSkill(ctx context.Context, name string) (gone bool, err error) {
	err = s.change(ctx, func(c *content) error {
		rest := without(c.Skills, name)
		if gone = len(rest) < len(c.Skills); !gone {
			return document.ErrSame
		}
		c.Skills = rest
		return nil
	})
	return gone && err == nil, err
}

func without(list []persistence.SkillApproval, name string) []persistence.SkillApproval {
	return slices.DeleteFunc(slices.Clone(list), func(a persistence.SkillApproval) bool { return a.Name == name })
}

func (s *Store) change(ctx context.Context, change func(*content) error) error {
	err := s.doc.Change(ctx, func(c *content) error {
		err := change(c)
		byName(c.Skills)
		return err
	})
	if err != nil && !errors.Is(err, persistence.ErrSkillLock) {
		err = fmt.Errorf("change the agreements to skills: %w", err)
	}
	return err
}
