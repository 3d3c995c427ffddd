package actortest

import (
	"context"
	"slices"
	"sync"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/permission"
)

// Grants are the grants of chats, in memory. They survive a World, like files survive a process.
type Grants struct {
	mu   sync.Mutex
	list map[messages.ChatKey][]permission.Grant
}

// NewGrants returns a store without grants.
func NewGrants() *Grants { return &Grants{list: map[messages.ChatKey][]permission.Grant{}} }

// Grants implements [persistence.GrantStore].
func (g *Grants) Grants(_ context.Context, key messages.ChatKey) ([]permission.Grant, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.list[key]), nil
}

// SaveGrants implements [persistence.GrantStore].
func (g *Grants) SaveGrants(_ context.Context, key messages.ChatKey, grants []permission.Grant) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.list[key] = slices.Clone(grants)
	return nil
}
