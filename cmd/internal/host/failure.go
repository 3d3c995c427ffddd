package host

import "fmt"

// Kind classifies why a host could not start or go on.
type Kind string

// The kinds.
const (
	KindFailed      Kind = "failed"
	KindConfig      Kind = "config"      // the project or its settings cannot be used
	KindCredential  Kind = "credential"  // a key or token was refused
	KindUnreachable Kind = "unreachable" // a service is away, a port is taken
	KindRunning     Kind = "running"     // another process works on the same state
)

// Failure says why a host could not start or go on, in words for people.
type Failure struct {
	Kind Kind
	What string
	Why  error  // nil: What says it all
	Help string // one command or step that helps
}

// Error implements error.
func (f *Failure) Error() string {
	if f.Why == nil {
		return f.What
	}
	return fmt.Sprintf("%s: %v", f.What, f.Why)
}

func (f *Failure) Unwrap() error { return f.Why }
