package platform

import "context"

// Administered is a platform that can list the administrators of its groups. It is optional, and
// safe for concurrent use.
type Administered interface {
	// Admins asks the service for the current administrators of a group: the platform's own ids of
	// people, without bots and anonymous administrators. A chat that is not a group has no
	// administrators. An error means that the list is unknown; calling again is safe.
	Admins(ctx context.Context, chat string) ([]string, error)
}
