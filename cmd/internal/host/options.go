package host

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/config"
)

// Options say what a host runs. Dir, State, Settings and Logger are required.
type Options struct {
	Dir      string // the project's folder, absolute
	State    string // its state folder, absolute
	Settings *config.Loaded
	// Reload reads the settings again after their files changed; nil disables it.
	Reload func() (*config.Loaded, error)
	// Trust says whether the folder may reach outside of it as its settings want. It is called at the start and for
	// every change, if there is anything to agree to. Without it, such a folder is refused.
	Trust   func(reaches []config.Reach) error
	Version string
	Logger  *slog.Logger
	// Log makes the logger follow changed settings; nil if it cannot.
	Log func(config.Log)
	// Questions are what commands in other terminals can ask this process, by name, about its settings with its
	// environment and flags, and what the console can ask about the project's files. of is the part of them that is
	// asked about; an empty one is all. The answers contain no secrets.
	Questions map[string]func(ctx context.Context, of string) any
	// Orders are what people can tell this process in the console, by name: about what is not a chat's. order is JSON.
	Orders map[string]func(ctx context.Context, order []byte) (any, error)
	// Only names the platforms to run; all that are enabled if it is empty.
	Only []string
	// Open lets anyone on this machine use the web page without a token, unless a setting gives one. It is for the
	// demonstration and cannot be set in the settings.
	Open bool
	// Model, if not nil, replaces the model of the settings.
	Model model.Model

	// fetchable are addresses that web_fetch may connect to in tests, in addition to the public internet.
	fetchable []netip.AddrPort
}

// Kind classifies why a host could not start or continue.
type Kind string

// The kinds.
const (
	KindFailed      Kind = "failed"
	KindConfig      Kind = "config"      // the project or its settings cannot be used
	KindCredential  Kind = "credential"  // a key or token was refused
	KindUnreachable Kind = "unreachable" // a service cannot be reached, or a port is in use
	KindRunning     Kind = "running"     // another process uses the same state folder
)

// Failure says why a host could not start or continue, in words for people.
type Failure struct {
	Kind Kind
	What string
	Why  error  // nil if What is sufficient
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
