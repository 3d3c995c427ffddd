package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// The exit codes of all commands. A service manager should not restart after
// CodeUsage, CodeConfig and CodeCredential: trying again changes nothing.
const (
	CodeOK          = 0
	CodeFailed      = 1   // anything else
	CodeUsage       = 2   // unknown command, flag or argument
	CodeConfig      = 3   // the settings or the project cannot be used
	CodeCredential  = 4   // a key or token was refused
	CodeUnreachable = 5   // a service cannot be reached, a port is taken
	CodeRunning     = 6   // another process works on the same state
	CodeWaiting     = 7   // the agent waits for a person's decision
	CodeInterrupted = 130 // Ctrl-C; other signals are 128 and their number, too
)

// Failure is an error for people.
type Failure struct {
	Code int
	What string // what failed, a full clause
	Why  error  // the cause; nil: What says it all
	Help string // one command or step that helps; may be empty
}

// Error implements error.
func (f *Failure) Error() string {
	if f.Why == nil {
		return f.What
	}
	return f.What + ": " + f.Why.Error()
}

func (f *Failure) Unwrap() error { return f.Why }

// Signal is the cause of a context that a signal ended.
type Signal struct{ os.Signal }

// Error implements error.
func (s Signal) Error() string { return "received " + s.String() }

// codeOf is the exit code of an error.
func codeOf(err error) int {
	if err == nil {
		return CodeOK
	}
	if s, ok := errors.AsType[Signal](err); ok { // whatever else failed, failed for it
		if n, ok := s.Signal.(syscall.Signal); ok {
			return 128 + int(n)
		}
		return CodeInterrupted
	}
	if f, ok := errors.AsType[*Failure](err); ok {
		return f.Code
	}
	if errors.Is(err, context.Canceled) {
		return CodeInterrupted
	}
	return CodeFailed
}

// explain writes an error for people.
func explain(w io.Writer, err error) {
	if _, ok := errors.AsType[Signal](err); ok {
		return
	}
	_, _ = fmt.Fprintf(w, "sma: %s\n", strings.TrimSpace(err.Error())) // stderr is all there is
	if f, ok := errors.AsType[*Failure](err); ok && f.Help != "" {
		_, _ = fmt.Fprintf(w, "     try: %s\n", f.Help)
	}
}

// usage is a fault of the command line.
func usage(err error, command string) error {
	if _, ok := errors.AsType[*Failure](err); ok {
		return err
	}
	return &Failure{Code: CodeUsage, What: err.Error(), Help: command + " --help"}
}
