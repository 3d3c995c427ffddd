// Package sandbox is the contract for running untrusted programs: commands that a model asked for, and MCP servers. A
// program sees and changes only what its [Spec] names, and no process of it is left after its end. Implementations
// are one level deeper.
package sandbox

import (
	"context"
	"errors"
	"io"
	"time"
)

// ErrUnavailable is wrapped by errors of sandboxes that do not work on this machine. Callers must not run the program
// without a sandbox instead.
var ErrUnavailable = errors.New("no sandbox is available")

// ErrReplaced is wrapped by errors about programs that were killed because a pinned, hidden or read-only file was
// replaced, or an absent one made, while they ran.
var ErrReplaced = errors.New("a file that a program must not see or change was replaced while it ran")

// The limits that can be in an [Exit].
const (
	LimitWall      = "wall"
	LimitCPU       = "cpu"
	LimitMemory    = "memory"
	LimitProcesses = "processes"
	LimitFileSize  = "file size"
)

// Sandbox starts programs. It is safe for concurrent use.
type Sandbox interface {
	// Name identifies the kind of sandbox for people: bubblewrap, landlock or off.
	Name() string
	// Start starts a program. All of it is killed when ctx ends. After an error, nothing was started.
	Start(ctx context.Context, s Spec) (Process, error)
}

// Process is a program that was started.
type Process interface {
	// Wait returns when the program and all processes that it started have ended, and its output was written. It is
	// called once. An error means that the program was killed because it could no longer be contained, see
	// [ErrReplaced].
	Wait() (Exit, error)
	// Kill kills the program and all processes that it started. It may be called at any time and more than once.
	Kill()
}

// Spec says what runs and what it may do. Paths are absolute.
type Spec struct {
	Argv []string
	Dir  string   // working folder: in Writable, Readable or Own, or a parent folder of one, of which the program then sees only that
	Env  []string // its complete environment, except for PWD, which is Dir
	// Writable and Readable are files and folders that it may change or read, in addition to the system's programs
	// and libraries, which it may read. If they are nested, the innermost applies. Hidden ones always look empty or
	// absent, whatever else is granted in them, and the program cannot create them. A writable path must exist. A
	// readable path that does not exist looks like an empty folder if the program could otherwise create it, and is
	// ignored elsewhere. The folders between a writable folder and a read-only path in it can be neither moved nor
	// replaced. No path may lead out of a writable folder by a symbolic link.
	Writable, Readable, Hidden []string
	// Root, if not empty, is a folder, without links, that others write to: no path of Writable may lead out of it by a
	// symbolic link.
	Root string
	// Absent are files that do not exist, in folders that do, and that must not come to exist while the program runs, even
	// though it could make them: it is killed when one does.
	Absent []string
	// Own are folders that it may change with all their content, even inside of hidden ones. They must exist, and
	// their paths must not contain links.
	Own []string
	// Shown are folders that it may read, even inside of hidden ones, except for what is hidden in them. They must
	// exist, and their paths must not contain links.
	Shown []string
	// Pinned are files that always have this content for the program, whatever happens to them meanwhile, and that it
	// cannot change, so that what was checked is what runs. They may be in hidden folders.
	Pinned []Pin
	// Network gives it access to the host's network; otherwise it has only its own loopback interface.
	Network bool
	Limits  Limits

	// Stdin is read until the program ends; a pending Read is then abandoned. Nil is an empty input.
	Stdin          io.Reader
	Stdout, Stderr io.Writer // nil discards the output
}

// Pin is a file and its content for a program.
type Pin struct {
	Path string
	Data []byte
}

// Limits limit what a program uses. Zero fields have the implementation's defaults, which are limits as well.
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
	Code   int    // -1 after a signal; 126 and 127 if it could not be started, with the reason on stderr
	Signal string // name of the signal, such as SIGKILL, or empty
	// Limit names the limit that ended it, if known: LimitWall and so on.
	Limit string
}
