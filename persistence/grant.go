package persistence

import (
	"context"

	"github.com/shipmyagent/shipmyagent/messages"
)

// Grant is what a person allowed: commands that a rule covers run without asking, or files
// of a folder are sent, in one chat, for one person, for a time.
type Grant struct {
	// ID is that of the ingress or the decision that gave it: given again, it stays
	// as it was.
	ID     string `json:"id"`
	Person string `json:"person,omitempty"` // who gave it and for whose asking it counts, as <platform>-<userId>
	// For is for whose asking it counts, by the platform's id, when somebody else gave it;
	// empty: the person's own.
	For    string `json:"for,omitempty"`
	Folder string `json:"folder,omitempty"`
	Rule   string `json:"rule"`
	// FilesIn is what the grant is about in the place of a rule: files that are in this folder
	// of the project, with nothing in between, may be sent to the chat.
	FilesIn string `json:"filesIn,omitempty"`
	// Binds are what the rule is bound to when its program runs files: digests of all
	// that would take effect. None: the words alone decide.
	Binds []string `json:"binds,omitempty"`
	From  int64    `json:"from"` // unix milliseconds
	// Until is when it ends, in unix milliseconds. 0: it has no end; it is a rule of
	// the operator's, and what people agreed to run under it.
	Until int64 `json:"until,omitempty"`
	// Boot and Up are the running system and its clock, which nobody can set, when the
	// grant was given; empty: there is no such clock.
	Boot string `json:"boot,omitempty"`
	Up   int64  `json:"up,omitempty"` // milliseconds
	// N is what people call the grant by, as g and this number.
	N int `json:"n,omitempty"`
	// Revoked is when somebody took it back, in unix milliseconds; 0: nobody did. It
	// stays until it would have ended, so that its id and its number are not used again.
	Revoked int64 `json:"revoked,omitempty"`
}

// Covers says in a few words what the grant is about, for logs.
func (g Grant) Covers() string {
	if g.FilesIn != "" {
		return "files in " + g.FilesIn
	}
	return g.Rule
}

// NumberGrants gives a number to grants that have none, in place: those of older
// versions, and new ones. It numbers the same list the same way every time.
func NumberGrants(list []Grant) {
	last := 0
	for _, g := range list {
		last = max(last, g.N)
	}
	for i := range list {
		if list[i].N == 0 {
			last++
			list[i].N = last
		}
	}
}

// GrantStore keeps the grants of chats. A nil error means durable. Only the actor
// of a chat writes its grants; different chats may do so at once.
type GrantStore interface {
	// Grants are those of a chat as they were saved last. An error means that none of
	// them can be believed.
	Grants(ctx context.Context, key messages.ChatKey) ([]Grant, error)
	// SaveGrants puts others in their place. After a crash the old or the new ones are there.
	SaveGrants(ctx context.Context, key messages.ChatKey, grants []Grant) error
}
