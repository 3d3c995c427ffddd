package platform

import "context"

// Administered is a platform that knows who administers its groups. It is optional,
// and safe for concurrent use.
type Administered interface {
	// Admins asks the service who administers a group now: the platform's own ids of
	// people, never of bots, nor of administrators who do not show who they are. A chat
	// that is no group has none. An error says that nobody knows; it is safe to ask again.
	Admins(ctx context.Context, chat string) ([]string, error)
}
