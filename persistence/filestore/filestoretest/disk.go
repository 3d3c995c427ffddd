package filestoretest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/vfs"
)

// Disk is a file system in memory that can lose its power. It is safe for concurrent use;
// concurrent operations have no fixed order.
type Disk struct {
	mu    sync.Mutex
	root  *node
	names []naming // not fsynced yet, in order
	locks map[string]bool
	off   bool
	count int64
	fail  func(Op) error
	after func(Op)
	past  map[string][]string // earlier contents of files; nil if they are not kept
}

// node is a file, or a folder if it has entries.
type node struct {
	file    contents
	entries map[string]*node // as read now
	disk    map[string]*node // as they are on the disk
}

type naming struct {
	dir  *node
	name string
	node *node  // nil if the name is removed
	from string // the old name of a rename
}

func (op naming) apply(entries map[string]*node) {
	if op.from != "" {
		delete(entries, op.from)
	}
	if op.node == nil {
		delete(entries, op.name)
		return
	}
	entries[op.name] = op.node
}

// NewDisk returns an empty disk.
func NewDisk() *Disk { return &Disk{root: newFolder()} }

func newFolder() *node {
	return &node{entries: map[string]*node{}, disk: map[string]*node{}}
}

// Kill returns the disk after the end of the process that used it: everything written can still be
// read, and is as durable as before. Locks and open files are gone. The disk itself does not
// change; see [Disk.PowerOff].
func (d *Disk) Kill() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	seen := map[*node]*node{}
	var clone func(old *node) *node
	clone = func(old *node) *node {
		if old == nil || seen[old] != nil {
			return seen[old]
		}
		n := &node{}
		seen[old] = n
		if old.entries == nil {
			n.file = old.file.clone()
			return n
		}
		n.entries, n.disk = map[string]*node{}, map[string]*node{}
		for name, e := range old.entries {
			n.entries[name] = clone(e)
		}
		for name, e := range old.disk {
			n.disk[name] = clone(e)
		}
		return n
	}
	out := &Disk{root: clone(d.root), past: d.past}
	for _, op := range d.names {
		op.dir, op.node = clone(op.dir), clone(op.node)
		out.names = append(out.names, op)
	}
	return out
}

// PowerOff makes every operation on the disk fail from now on, so that whoever still has it open
// cannot use it.
func (d *Disk) PowerOff() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.off = true
}

// errOff is the error of every operation on a disk without power.
var errOff = errors.New("the simulated disk is off")

// do runs an operation within the lock, unless a fault is injected.
func (d *Disk) do(kind Kind, name string, off int64, size int, fn func(fault error) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.off {
		return &fs.PathError{Op: string(kind), Path: name, Err: errOff}
	}
	d.count++
	op := Op{N: d.count, Kind: kind, Name: name, Offset: off, Size: size}
	err := fn(d.fault(op))
	d.tell(op)
	if _, typed := errors.AsType[*fs.PathError](err); err == nil || typed || errors.Is(err, io.EOF) {
		return err
	}
	return &fs.PathError{Op: string(kind), Path: name, Err: err}
}

// simple runs an operation that has no effect if a fault is injected.
func (d *Disk) simple(kind Kind, name string, fn func() error) error {
	return d.do(kind, name, 0, 0, func(fault error) error {
		if fault != nil {
			return fault
		}
		return fn()
	})
}

func (d *Disk) find(name string) (*node, error) {
	at := d.root
	for part := range strings.SplitSeq(path.Clean("/"+name), "/") {
		if part == "" {
			continue
		}
		if at.entries == nil {
			return nil, syscall.ENOTDIR
		}
		if at = at.entries[part]; at == nil {
			return nil, syscall.ENOENT
		}
	}
	return at, nil
}

// folder finds the folder that a name is in.
func (d *Disk) folder(name string) (dir *node, base string, err error) {
	name = path.Clean("/" + name)
	dir, err = d.find(path.Dir(name))
	if err == nil && dir.entries == nil {
		err = syscall.ENOTDIR
	}
	return dir, path.Base(name), err
}

// rename changes names without an fsync.
func (d *Disk) rename(op naming) {
	op.apply(op.dir.entries)
	d.names = append(d.names, op)
}

// OpenFile implements the store's file system.
func (d *Disk) OpenFile(name string, flag int) (f vfs.File, err error) {
	err = d.simple(OpOpen, name, func() error {
		dir, base, err := d.folder(name)
		if err != nil {
			return err
		}
		n := dir.entries[base]
		switch {
		case n == nil && flag&os.O_CREATE == 0:
			return syscall.ENOENT
		case n == nil:
			n = &node{}
			d.rename(naming{dir: dir, name: base, node: n})
		case flag&os.O_EXCL != 0:
			return syscall.EEXIST
		case n.entries != nil:
			return syscall.EISDIR
		case flag&os.O_TRUNC != 0:
			d.keep(name, n)
			n.file.truncate(0)
		}
		f = &file{disk: d, node: n, name: name, writable: flag&(os.O_RDWR|os.O_WRONLY) != 0}
		return nil
	})
	return f, err
}

// Rename implements the store's file system, within one folder.
func (d *Disk) Rename(from, to string) error {
	return d.simple(OpRename, to, func() error {
		dir, old, err := d.folder(from)
		if err != nil {
			return err
		}
		target, base, err := d.folder(to)
		switch {
		case err != nil:
			return err
		case target != dir:
			return syscall.EXDEV // not needed by the store, so its crash states are not modelled
		case dir.entries[old] == nil:
			return syscall.ENOENT
		case dir.entries[base] != nil && dir.entries[base].entries != nil:
			return syscall.EISDIR
		}
		d.keep(to, dir.entries[base])
		d.rename(naming{dir: dir, name: base, node: dir.entries[old], from: old})
		return nil
	})
}

// Remove implements the store's file system.
func (d *Disk) Remove(name string) error {
	return d.simple(OpRemove, name, func() error {
		dir, base, err := d.folder(name)
		if err != nil {
			return err
		}
		switch n := dir.entries[base]; {
		case n == nil:
			return syscall.ENOENT
		case len(n.entries) > 0:
			return syscall.ENOTEMPTY
		}
		d.keep(name, dir.entries[base])
		d.rename(naming{dir: dir, name: base})
		return nil
	})
}

// Mkdir implements the store's file system.
func (d *Disk) Mkdir(name string) error {
	return d.simple(OpMkdir, name, func() error {
		dir, base, err := d.folder(name)
		if err != nil {
			return err
		}
		if dir == d.root && base == "/" || dir.entries[base] != nil {
			return syscall.EEXIST
		}
		d.rename(naming{dir: dir, name: base, node: newFolder()})
		return nil
	})
}

// ReadDir implements the store's file system.
func (d *Disk) ReadDir(name string) (out []fs.DirEntry, err error) {
	err = d.simple(OpReadDir, name, func() error {
		n, err := d.find(name)
		if err == nil && n.entries == nil {
			err = syscall.ENOTDIR
		}
		if err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(n.entries)) {
			out = append(out, fs.FileInfoToDirEntry(info{name: name, node: n.entries[name]}))
		}
		return nil
	})
	return out, err
}

// SyncDir implements the store's file system.
func (d *Disk) SyncDir(name string) error {
	return d.do(OpSyncDir, name, 0, 0, func(fault error) error {
		n, err := d.find(name)
		if err == nil && n.entries == nil {
			err = syscall.ENOTDIR
		}
		if err != nil {
			return errors.Join(fault, err)
		}
		if fault == nil {
			d.syncDir(n)
		}
		return fault
	})
}

func (d *Disk) syncDir(n *node) {
	var rest []naming
	for _, op := range d.names {
		if op.dir == n {
			op.apply(n.disk)
		} else {
			rest = append(rest, op)
		}
	}
	d.names = rest
}

// Lstat implements the store's file system.
func (d *Disk) Lstat(name string) (out fs.FileInfo, err error) {
	err = d.simple(OpLstat, name, func() error {
		n, err := d.find(name)
		if err == nil {
			out = info{name: path.Base(name), node: n, size: n.file.size}
		}
		return err
	})
	return out, err
}

// TryLock implements the store's lock.
func (d *Disk) TryLock(name string) (unlock func() error, ok bool, err error) {
	f, err := d.OpenFile(name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, false, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.locks[name] {
		return nil, false, nil
	}
	if d.locks == nil {
		d.locks = map[string]bool{}
	}
	d.locks[name] = true
	return func() error {
		d.mu.Lock()
		delete(d.locks, name)
		d.mu.Unlock()
		return f.Close()
	}, true, nil
}

type info struct {
	name string
	node *node
	size int64
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.node.entries != nil }
func (i info) Sys() any           { return nil }

func (i info) Mode() fs.FileMode {
	if i.IsDir() {
		return fs.ModeDir | 0o700
	}
	return 0o600
}

var _ vfs.FS = (*Disk)(nil)

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
	stdtest.Must(tb, err)
	return s
}

// In returns the file store of a folder, which is closed with the test.
func In(tb testing.TB, dir string) *filestore.Store {
	tb.Helper()
	s, err := filestore.Open(filestore.Options{Dir: dir})
	stdtest.Must(tb, err)
	tb.Cleanup(func() { _ = s.Close() }) // some tests have closed it
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

// Keep makes the disk record, from now on, the contents of each file whenever it is truncated,
// replaced or removed, for [Disk.Written].
func (d *Disk) Keep() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.past = map[string][]string{}
}

// Written returns the contents of files, by name, since [Disk.Keep]: one text for every time that a
// file was truncated, replaced or removed, and a last one for its current contents.
func (d *Disk) Written() map[string][]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := maps.Clone(d.past)
	d.root.each("", func(name string, n *node) {
		out[name] = append(slices.Clip(out[name]), n.file.text())
	})
	return out
}

// keep records the contents of a file before they are lost.
func (d *Disk) keep(name string, n *node) {
	if d.past != nil && n != nil && n.entries == nil && n.file.size > 0 {
		d.past[name] = append(d.past[name], n.file.text())
	}
}

func (c *contents) text() string {
	b := make([]byte, c.size)
	c.read(b, 0)
	return string(b)
}

// each calls fn for every file below a node, sorted by name.
func (n *node) each(name string, fn func(string, *node)) {
	if n.entries == nil {
		fn(name, n)
		return
	}
	for _, entry := range slices.Sorted(maps.Keys(n.entries)) {
		n.entries[entry].each(name+"/"+entry, fn)
	}
}
