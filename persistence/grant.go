package persistence

import (
	"context"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/permission"
)

// GrantStore stores the grants of chats. A nil error means durable. Only the actor of a chat writes
// its grants; different chats may do so concurrently.
type GrantStore interface {
	// Grants returns the grants of a chat as last saved. After an error none of them can be trusted.
	Grants(ctx context.Context, key messages.ChatKey) ([]permission.Grant, error)
	// SaveGrants replaces all grants. After a crash either the old or the new ones exist.
	SaveGrants(ctx context.Context, key messages.ChatKey, grants []permission.Grant) error
}
