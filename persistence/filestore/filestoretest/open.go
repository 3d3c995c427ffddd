package filestoretest

import (
	"fmt"
	"testing"

	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/vfs"
)

var (
	_ vfs.FS     = (*Disk)(nil)
	_ vfs.Locker = (*Disk)(nil)
)

// Dir is the folder of the store on a disk.
const Dir = "/state"

// Open opens the file store on a disk, with defaults.
func Open(d *Disk, o filestore.Options) (*filestore.Store, error) {
	o.FS = d
	if o.Dir == "" {
		o.Dir = Dir
	}
	if o.OpenFiles == 0 {
		o.OpenFiles = 256
	}
	return filestore.Open(o)
}

// New returns a file store on an empty disk in memory, for tests that need any store.
func New(tb testing.TB) *filestore.Store {
	tb.Helper()
	s, err := Open(NewDisk(), filestore.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// Files describes every file as it can be read now, one line each and sorted by name: name, size
// and contents, shortened if they are long.
func (d *Disk) Files() []string {
	const longest = 700
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []string
	d.root.each("", func(name string, n *node) {
		text := n.file.text()
		out = append(out, fmt.Sprintf("%s (%d bytes) %q", name, len(text), text[:min(len(text), longest)]))
	})
	return out
}
