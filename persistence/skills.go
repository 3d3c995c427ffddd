package persistence

import (
	"context"
	"errors"
	"time"
)

// ErrSkillLock is wrapped by errors of skill approvals that cannot be read. Until a person has
// repaired them, no skill counts as approved.
var ErrSkillLock = errors.New("the agreements to skills cannot be read")

// SkillApproval records that a person approved a skill at one digest.
type SkillApproval struct {
	Name   string    `json:"name"`
	Digest string    `json:"digest"`
	Folder string    `json:"folder,omitempty"` // where it was found
	At     time.Time `json:"at"`
	Where  string    `json:"where,omitempty"` // the chat, or the command line
}

// SkillStore stores skill approvals, one digest per skill. A nil error means durable. It is safe
// for concurrent use, also by several processes.
type SkillStore interface {
	// SkillApprovals returns all of them, sorted by name.
	SkillApprovals(ctx context.Context) ([]SkillApproval, error)
	// ApproveSkill replaces the approval of that name.
	ApproveSkill(ctx context.Context, approval SkillApproval) error
	// ForgetSkill reports whether there was an approval to delete.
	ForgetSkill(ctx context.Context, name string) (bool, error)
}
