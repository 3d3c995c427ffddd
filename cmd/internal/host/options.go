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
	// Reload reads the settings anew when their files change; nil: never.
	Reload func() (*config.Loaded, error)
	// Trust says whether the folder may reach outside of it as its settings want; nil:
	// it may not. It is asked at the start and for every change, never for nothing.
	Trust   func(reaches []config.Reach) error
	Version string
	Logger  *slog.Logger
	// Level is the logger's level; nil: it cannot be changed.
	Level *slog.LevelVar
	// Questions are what commands in other terminals ask this process, by name: about its
	// settings, as its environment and flags make them. Their answers hold no secret.
	Questions map[string]func(ctx context.Context) any
	// Only names the platforms to run; nil: all that are on.
	Only []string
	// Open lets everybody on this machine use the web page without a token, if no setting
	// gives one. It is for the demonstration, and no setting can turn it on.
	Open bool
	// Model stands in for the one of the settings; nil: that one.
	Model model.Model

	// fetchable are addresses of tests that web_fetch may connect to beside the
	// public internet.
	fetchable []netip.AddrPort
}

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
