package mcp

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/picture"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

// Options configure a [Manager]. State, Logs, Files, Store, Sandbox and Logger are required.
type Options struct {
	// State is the folder of homes, packages and pins, and Logs that of the logs of servers.
	State, Logs string
	// Files are the files of chats, to which those of servers are added.
	Files tool.ChatFiles
	// Project is the folder for relative paths in arguments, if any.
	Project string
	Store   *Store
	// Shelf makes pictures of the images that servers return, to show them to models. Without it, they are only
	// stored.
	Shelf *picture.Shelf
	// Sandbox starts programs. Nothing runs without it.
	Sandbox sandbox.Sandbox
	// Hidden are files and folders that no program can see, whatever it may read.
	Hidden []string
	// ReadOnly are files and folders that no program may change or create, even in folders that it may write, besides the
	// files of the project that package steering knows.
	ReadOnly []string
	// Exclude are folders of the project that are too large to be searched for these files. Only servers
	// that were granted them by name may write there.
	Exclude []string
	// Path is the search path for programs, and their PATH.
	Path string
	// Reserved are the names of the host's own tools.
	Reserved []string
	// Changed, if not nil, is called after the set of offered tools has changed.
	Changed func()
	Version string
	Logger  *slog.Logger
	Metrics *Metrics
	Limits  Limits
}

// Limits of servers. Zero fields have the defaults that are noted here.
type Limits struct {
	Message  int           // bytes of one message; 8 MiB
	Start    time.Duration // for a server to list its tools; 30 s
	Pause    time.Duration // before the first restart; 1 s
	MaxPause time.Duration // before any restart; a minute for programs, five for addresses
	Starts   int           // of a program within Window; 6, which allows five restarts
	Window   time.Duration // 10 minutes
	Patience time.Duration // of a call for a server that has been down for longer than Lately; 15 s
	Lately   time.Duration // 2 minutes
	Fetch    time.Duration // for downloading a server's packages; 5 minutes
	Calls    int           // of a server in parallel; 16
	Relist   time.Duration // between two lists that a server requests; 1 s
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Message: cmp.Or(l.Message, 8<<20), Start: cmp.Or(l.Start, 30*time.Second), Pause: cmp.Or(l.Pause, time.Second), MaxPause: l.MaxPause,
		Starts: cmp.Or(l.Starts, 6), Window: cmp.Or(l.Window, 10*time.Minute), Patience: cmp.Or(l.Patience, 15*time.Second),
		Lately: cmp.Or(l.Lately, 2*time.Minute), Fetch: cmp.Or(l.Fetch, 5*time.Minute), Calls: cmp.Or(l.Calls, 16), Relist: cmp.Or(l.Relist, time.Second),
	}
}

// pause is how long to wait before the nth restart in a row, counting from 0.
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
