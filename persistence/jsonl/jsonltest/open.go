package jsonltest

import (
	"time"

	"github.com/shipmyagent/shipmyagent/persistence/jsonl"
	"github.com/shipmyagent/shipmyagent/persistence/jsonl/internal/vfs"
)

var (
	_ vfs.FS     = (*Disk)(nil)
	_ vfs.Locker = (*Disk)(nil)
)

// Dir is the folder of the store on a disk.
const Dir = "/state"

// Open opens the file store on a disk, with defaults for what the options leave
// open: the folder, and a clock that stands still.
func Open(d *Disk, o jsonl.Options) (*jsonl.Store, error) {
	o.FS = d
	if o.Dir == "" {
		o.Dir = Dir
	}
	if o.Now == nil {
		o.Now = func() time.Time { return time.UnixMilli(1_700_000_000_000) }
	}
	if o.OpenFiles == 0 {
		o.OpenFiles = 256
	}
	return jsonl.Open(o)
}
