package console

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
)

// The exit codes of all commands. A service manager should not restart after CodeConfig and CodeCredential, since a
// retry would fail in the same way. It cannot tell CodeUsage from a crash, after which the runtime exits with 2.
const (
	CodeOK          = 0
	CodeFailed      = 1   // anything else
	CodeUsage       = 2   // unknown command, flag or argument
	CodeConfig      = 3   // the settings or the project cannot be used
	CodeCredential  = 4   // a key or token was refused
	CodeUnreachable = 5   // a service cannot be reached, or a port is in use
	CodeRunning     = 6   // another process uses the same state folder
	CodeWaiting     = 7   // the agent waits for a person's decision
	CodeInterrupted = 130 // Ctrl-C; other signals also give 128 plus their number
)

// Failure is an error for people.
type Failure struct {
	Code int
	What string // what failed, as a full clause
	Why  error  // the cause; nil if What is sufficient
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

// Because is the failure with its cause, or nil without one.
func (f Failure) Because(err error) error {
	if err == nil {
		return nil
	}
	f.Why = err
	return &f
}

// Signal is the cause of a context that was canceled by a signal.
type Signal struct{ os.Signal }

// Error implements error.
func (s Signal) Error() string { return "received " + s.String() }

// CodeOf is the exit code of an error.
func CodeOf(err error) int {
	if err == nil {
		return CodeOK
	}
	if s, ok := errors.AsType[Signal](err); ok { // other failures are a consequence of the signal
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

// Explain writes an error for people.
func (a *Console) Explain(err error) {
	if _, ok := errors.AsType[Signal](err); ok {
		return
	}
	a.Say("sma: %s", a.Words(strings.TrimSpace(err.Error())))
	if f, ok := errors.AsType[*Failure](err); ok && f.Help != "" {
		a.Say(a.Text("     try: %s", "     建议：%s"), a.Words(helpIn(f.Help, a.Again())))
	}
}

// helpIn completes a command with the flags that name the project, unless it has them already or is about no project.
func helpIn(help, flags string) string {
	if !strings.HasPrefix(help, "sma ") || strings.ContainsAny(help, ",/") || strings.HasSuffix(help, "--help") {
		return help
	}
	return help + flags
}
