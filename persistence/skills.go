package persistence

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
)

// ErrSkillLock is wrapped by errors of agreements to skills that cannot be read.
// Until a person has repaired them nothing counts as agreed to.
var ErrSkillLock = errors.New("the agreements to skills cannot be read")

// SkillApproval says that a person agreed to a skill as it is at one digest.
type SkillApproval struct {
	Name   string    `json:"name"`
	Digest string    `json:"digest"`
	Folder string    `json:"folder,omitempty"` // where it was found
	At     time.Time `json:"at"`
	Where  string    `json:"where,omitempty"` // the chat, or the command line
}

// SkillStore keeps what people agreed to, one digest a skill. A nil error means
// durable. It is safe for concurrent use, also by several processes.
type SkillStore interface {
	// SkillApprovals are all of them, sorted by name.
	SkillApprovals(ctx context.Context) ([]SkillApproval, error)
	// ApproveSkill takes the place of what was agreed to under the name.
	ApproveSkill(ctx context.Context, approval SkillApproval) error
	// ForgetSkill reports whether there was something to forget.
	ForgetSkill(ctx context.Context, name string) (bool, error)
}

// MaxPinned is how many skills a chat has loaded at once; one more puts the oldest
// away.
const MaxPinned = 8

// pin obeys an order. A skill that is loaded again as it is keeps its place, so
// that the system text stays as it was.
func (s *State) pin(order messages.SkillOrder) {
	pin := messages.SkillPin(order)
	if order.Name == "" || slices.Contains(s.Pinned, pin.String()) {
		return
	}
	s.Pinned = slices.DeleteFunc(slices.Clone(s.Pinned), func(p string) bool { return messages.ParseSkillPin(p).Name == order.Name })
	if order.Digest != "" {
		s.Pinned = append(s.Pinned, pin.String())
	}
	s.Pinned = s.Pinned[max(0, len(s.Pinned)-MaxPinned):]
}

// Pins are the skills that the chat has loaded, in the order of loading.
func (s *State) Pins() []messages.SkillPin {
	out := make([]messages.SkillPin, len(s.Pinned))
	for i, p := range s.Pinned {
		out[i] = messages.ParseSkillPin(p)
	}
	return out
}
