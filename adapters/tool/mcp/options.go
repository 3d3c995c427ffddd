package mcp

import (
	"log/slog"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/picture"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Options say what a [Manager] works with. State, Files, Logs, Folder,
// Store, Sandbox and Logger are required.
type Options struct {
	// State is the folder of homes, packages and pins, Files that of what servers hand over, Logs
	// that of what programs say beside the protocol.
	State, Files, Logs string
	// Project is the folder in which relative paths of arguments start; empty: none does.
	Project string
	Store   *Store
	// Folder is where the files of a chat's results are, below Files, with slashes.
	Folder func(messages.ChatKey) (string, error)
	// Shelf makes pictures of the images that servers hand over, which models are shown;
	// nil: they are only kept.
	Shelf *picture.Shelf
	// Sandbox starts programs. Nothing runs without it.
	Sandbox sandbox.Sandbox
	// Hidden are files and folders that no program sees, whatever it may read.
	Hidden []string
	// ReadOnly are those that none may change or make in a folder that it may write;
	// nil: there are none.
	ReadOnly func() []string
	// Path is where programs are looked for, and their PATH.
	Path string
	// Reserved are the names of the host's own tools.
	Reserved []string
	// Changed is called after the tools that are offered have changed; nil: nobody is.
	Changed func()
	Version string
	Logger  *slog.Logger
	Metrics *Metrics
	Limits  Limits
}

// Limits bound servers. A zero is the default.
type Limits struct {
	Message  int           // bytes of one message; 8 MiB
	Start    time.Duration // until a server has listed its tools; 30 s
	Pause    time.Duration // before the first new start; 1 s
	MaxPause time.Duration // before any: a minute for programs, five for addresses
	Starts   int           // of a program within Window; 6: the first and five more
	Window   time.Duration // 10 minutes
	Patience time.Duration // of a call for a server that is down, and has been for longer than Lately; 15 s
	Lately   time.Duration // 2 minutes
	Fetch    time.Duration // until a server's packages are fetched; 5 minutes
	Calls    int           // of a server at once; 16
	Relist   time.Duration // between two lists that a server asks for; 1 s
}

func (l Limits) withDefaults() Limits {
	set := func(v *time.Duration, d time.Duration) {
		if *v <= 0 {
			*v = d
		}
	}
	count := func(v *int, n int) {
		if *v <= 0 {
			*v = n
		}
	}
	count(&l.Message, 8<<20)
	count(&l.Starts, 6)
	count(&l.Calls, 16)
	set(&l.Start, 30*time.Second)
	set(&l.Pause, time.Second)
	set(&l.Window, 10*time.Minute)
	set(&l.Patience, 15*time.Second)
	set(&l.Lately, 2*time.Minute)
	set(&l.Fetch, 5*time.Minute)
	set(&l.Relist, time.Second)
	return l
}

// pause is how long to wait before the nth new start in a row, from 0.
func (l Limits) pause(n int, program bool) time.Duration {
	most := l.MaxPause
	switch {
	case most > 0:
	case program:
		most = time.Minute
	default:
		most = 5 * time.Minute
	}
	d := l.Pause
	for range min(n, 16) {
		if d *= 4; d >= most {
			break
		}
	}
	return min(d, most)
}
