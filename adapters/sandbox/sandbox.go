// Package sandbox is the contract for running a program of somebody else: a
// command that a model asked for, a server of tools. What runs sees and changes
// what its [Spec] names and nothing else, and nothing of it is left when it has
// ended. Implementations are one level deeper.
package sandbox

import (
	"context"
	"errors"
	"io"
	"time"
)

// ErrUnavailable is wrapped by errors of sandboxes that this machine cannot give.
// Its reader refuses to run the program; it never runs it without a sandbox.
var ErrUnavailable = errors.New("no sandbox is available")

// ErrReplaced is wrapped by errors of programs that were killed because a file
// that had to stay as it was for them, pinned or hidden, was replaced meanwhile.
var ErrReplaced = errors.New("a pinned or hidden file was replaced while the program ran")

// The limits that an [Exit] names.
const (
	LimitWall      = "wall"
	LimitCPU       = "cpu"
	LimitMemory    = "memory"
	LimitProcesses = "processes"
	LimitFileSize  = "file size"
)

// Sandbox starts programs. It is safe for concurrent use.
type Sandbox interface {
	// Name is what contains the programs, as people know it: bubblewrap, landlock, off.
	Name() string
	// Start begins a program. The end of ctx kills all of it. An error means that
	// nothing was begun.
	Start(ctx context.Context, s Spec) (Process, error)
}

// Process is a program that was begun.
type Process interface {
	// Wait returns when the program and everything that it began have ended and
	// its output was written. It is called once. An error means that the program
	// was killed because it could not be contained any longer, see [ErrReplaced].
	Wait() (Exit, error)
	// Kill ends the program and everything that it began. It may be called at any
	// time and more than once.
	Kill()
}

// Spec says what runs and what it may do. Paths are absolute.
type Spec struct {
	Argv []string
	Dir  string   // where it starts; in one of Writable, Readable and Own, or a folder around one, of which it sees that alone
	Env  []string // all of its environment, but for PWD, which is Dir
	// Writable and Readable are files and folders it may change or read, beside the
	// system's own programs and libraries, which it may read; of those that lie in
	// each other the innermost decides. Hidden ones look empty or absent, always,
	// whatever else is granted in them, and cannot be made by the program. A
	// writable path has to exist. A readable one that does not looks like an empty
	// folder where the program could make it otherwise, and is passed over elsewhere.
	// The folders between a writable one and what is only readable in it can be neither
	// moved nor replaced. None may lead out of a writable folder by a symbolic link.
	Writable, Readable, Hidden []string
	// Own are folders that it may change wherever they lie, in hidden ones too, and with
	// all that is in them. They have to exist, and no link may lead to them.
	Own []string
	// Pinned are files that it finds with these bytes, whatever becomes of them
	// meanwhile, and cannot change: what was checked is what runs. They may lie in
	// hidden folders.
	Pinned []Pin
	// Network gives it the host's network; without, there is nobody but itself, on a
	// loopback of its own.
	Network bool
	Limits  Limits

	// Stdin is read until the program ends; a Read that waits then is left alone. Nil: empty.
	Stdin          io.Reader
	Stdout, Stderr io.Writer // nil: dropped
}

// Pin is a file and the bytes that it has for a program.
type Pin struct {
	Path string
	Data []byte
}

// Limits bound what a program uses. A zero is the implementation's default, which
// is a bound too.
type Limits struct {
	Wall      time.Duration
	CPU       time.Duration
	Memory    int64 // bytes, of all its processes together
	FileSize  int64 // bytes of one file
	Processes int
	OpenFiles int
}

// Exit is how a program ended.
type Exit struct {
	Code   int    // -1: by a signal; 126 and 127: it could not be started, stderr says why
	Signal string // the signal's name, SIGKILL; empty: none
	// Limit names the limit that ended it, where that is known: LimitWall and so on.
	Limit string
}
