package persistence

import (
	"context"
	"errors"
	"time"
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
