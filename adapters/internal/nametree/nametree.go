// Package nametree answers which paths below a folder have a base name of some kind,
// however deep they are: names of secrets for the commands that must not find them,
// .git for those that must not change it.
//
// A [Tree] reads every folder once and remembers of it its times, its folders and the
// names that counted, nothing else. The next look reads only folders whose times say
// that a name was added, removed or renamed in them; it asks the kernel for the times
// of each folder and for nothing of the files. A folder that was changed at the time
// when it was read is read again, as its times may not show the next change.
//
// A look is complete or fails: with a [*TooLargeError] beyond the bounds, which names
// the folder that is worth excluding. Symbolic links are not followed: what one leads
// to inside of the tree is found under its own path. Folders of other file systems
// that are mounted in the tree belong to it.
//
// What it relies on: the file system keeps the times of folders. Those that do not,
// as some that are mounted over a network do, show changes only to a new Tree.
package nametree

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The bounds of a look that has no others.
const (
	// DefaultNames is how many names a tree may have.
	DefaultNames = 2_000_000
	// DefaultFolders is how many of them may be folders, each of which is remembered.
	DefaultFolders = 500_000
	// DefaultFound is how many of them may count: each costs whoever hides it.
	DefaultFound = 1000
	// DefaultWithin is how long a look may take. What it had read by then is kept, so
	// that the next one has less to do.
	DefaultWithin = 20 * time.Second
)

// settled is how old the times of a folder have to be when it is read, for its next
// change to show in them. The clocks of file systems tick every few milliseconds, those
// of some every two seconds.
const settled = 2100 * time.Millisecond

// workers read folders at the same time.
const workers = 4

// Kind is a set of kinds of names; 0: the name does not count.
type Kind uint8

// Closed is the kind of folders that cannot be searched: nobody knows what names they
// have. It belongs to the package; all others are the caller's.
const Closed Kind = 1 << 7

// Options of a tree.
type Options struct {
	// Kind says which kinds a name is of. It is called from several goroutines.
	Kind func(name string) Kind
	// Whole are the kinds whose folders are not looked into: they count as a whole.
	Whole Kind
	// Exclude are paths that are not looked into, absolute and clean.
	Exclude []string
	// Names, Folders, Found and Within bound a look; 0: the defaults.
	Names, Folders, Found int
	Within                time.Duration
}

// Path is one that counts.
type Path struct {
	Path string // absolute
	Kind Kind
	Dir  bool // a folder, and no link to one
	Link bool // a symbolic link
}

// TooLargeError says that a tree is beyond a bound.
type TooLargeError struct {
	Root string
	// Folder is the one that holds most of it, relative to Root: excluding it helps.
	Folder string
	Why    string
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s: %s; most of it is in the folder %s", e.Root, e.Why, e.Folder)
}

// Tree is a folder that is looked through again and again. It is safe for concurrent
// use; looks go one after the other.
type Tree struct {
	root string
	opts Options

	mu   sync.Mutex // held by a look
	top  *folder
	took time.Duration
}

// New makes a tree of a folder, an absolute path without symbolic links. It reads
// nothing yet.
func New(root string, o Options) *Tree {
	if o.Names <= 0 {
		o.Names = DefaultNames
	}
	if o.Folders <= 0 {
		o.Folders = DefaultFolders
	}
	if o.Found <= 0 {
		o.Found = DefaultFound
	}
	if o.Within <= 0 {
		o.Within = DefaultWithin
	}
	return &Tree{root: filepath.Clean(root), opts: o, top: &folder{}}
}

// Took is how long the last look took.
func (t *Tree) Took() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.took
}

// folder is what is known of one.
type folder struct {
	name  string
	stamp stamp
	// fresh: its times were so young when it was read that it is read again.
	fresh  bool
	closed bool // it could not be read
	names  int  // in it, those of its folders not among them
	found  []entry
	below  []*folder
}

// stamp is what changes when a name in a folder does.
type stamp struct {
	dev, ino     uint64
	mtime, ctime int64
	// barred: whoever has no power over the files of others cannot search it.
	barred bool
}

// entry is a name in a folder.
type entry struct {
	name      string
	kind      Kind
	dir, link bool
}

// look is one way through the tree.
type look struct {
	*Tree
	ctx     context.Context //nolint:containedctx // the life of a look
	began   time.Time
	names   atomic.Int64
	folders atomic.Int64
	stopped atomic.Pointer[error]
	queue   chan job
	open    sync.WaitGroup // jobs
}

type job struct {
	f    *folder
	path string
}

// A bound was reached.
var (
	errNames   = errors.New("too many names")
	errFolders = errors.New("too many folders")
)

// Find is all paths that count, in order.
func (t *Tree) Find(ctx context.Context) ([]Path, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	began := time.Now()
	defer func() { t.took = time.Since(began) }()
	limited, cancel := context.WithTimeout(ctx, t.opts.Within)
	defer cancel()
	l := &look{Tree: t, ctx: limited, began: began, queue: make(chan job, 1024)}
	err := l.run()
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("look through %s: %w", t.root, ctx.Err())
	case errors.Is(err, errNames):
		return nil, t.tooLarge(fmt.Sprintf("it has more than %d names", t.opts.Names), func(f *folder) int { return f.names })
	case errors.Is(err, errFolders):
		return nil, t.tooLarge(fmt.Sprintf("it has more than %d folders", t.opts.Folders), func(f *folder) int { return len(f.below) })
	case errors.Is(err, context.DeadlineExceeded):
		return nil, t.tooLarge(fmt.Sprintf("looking through it took longer than %s", t.opts.Within), func(f *folder) int { return f.names })
	case err != nil:
		return nil, fmt.Errorf("look through %s: %w", t.root, err)
	}
	var out []Path
	collect(t.top, t.root, false, &out)
	if len(out) > t.opts.Found {
		return nil, t.tooLarge(fmt.Sprintf("%d files and folders in it would have to be hidden, at most %d can be", len(out), t.opts.Found),
			func(f *folder) int { return len(f.found) })
	}
	slices.SortFunc(out, func(a, b Path) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// run looks at every folder that has to be looked at.
func (l *look) run() error {
	var readers sync.WaitGroup
	for range workers {
		readers.Go(func() {
			r := newReader(l.root)
			defer r.close()
			for j := range l.queue {
				l.visit(r, j)
				l.open.Done()
			}
		})
	}
	l.add(job{f: l.top, path: l.root})
	l.open.Wait()
	close(l.queue)
	readers.Wait()
	if err := l.stopped.Load(); err != nil {
		return *err
	}
	if l.top.closed || l.top.stamp == (stamp{}) {
		return errors.New("the folder cannot be read")
	}
	return nil
}

// add hands a folder to whoever is free. False: all are busy.
func (l *look) add(j job) bool {
	l.open.Add(1)
	select {
	case l.queue <- j:
		return true
	default:
		l.open.Done()
		return false
	}
}

func (l *look) stop(err error) { l.stopped.CompareAndSwap(nil, &err) }

// visit looks at a folder and at all below it, some of which others take over.
func (l *look) visit(r *reader, j job) {
	stack := []job{j}
	for len(stack) > 0 {
		j, stack = stack[len(stack)-1], stack[:len(stack)-1]
		if l.stopped.Load() != nil {
			return
		}
		if err := l.ctx.Err(); err != nil {
			l.stop(err)
			return
		}
		if err := l.refresh(r, j); err != nil {
			l.stop(err)
			return
		}
		if l.names.Add(int64(j.f.names)) > int64(l.opts.Names) {
			l.stop(errNames)
			return
		}
		if l.folders.Add(int64(len(j.f.below))) > int64(l.opts.Folders) {
			l.stop(errFolders)
			return
		}
		for _, below := range j.f.below {
			next := job{f: below, path: j.path + "/" + below.name}
			if len(l.queue) >= workers || !l.add(next) {
				stack = append(stack, next)
			}
		}
	}
}

// refresh makes what is known of a folder true again.
func (l *look) refresh(r *reader, j job) error {
	f := j.f
	if f.stamp != (stamp{}) && !f.fresh {
		if now, err := r.stamp(j.path); err == nil && now == f.stamp {
			return nil
		}
	}
	began := time.Now()
	list, at, err := r.read(j.path, l.opts.Kind)
	switch {
	case gone(err):
		*f = folder{name: f.name}
		return nil
	case denied(err):
		*f = folder{name: f.name, closed: true}
		return nil
	case err != nil:
		return err
	}
	// at is what the folder was before it was read, by what was opened.
	next := folder{name: f.name, stamp: at, names: list.names, fresh: began.UnixNano()-max(at.mtime, at.ctime) < int64(settled)}
	known := make(map[string]*folder, len(f.below))
	for _, b := range f.below {
		known[b.name] = b
	}
	for _, e := range list.found {
		if e.kind != 0 {
			next.found = append(next.found, e)
		}
		if !e.dir || e.kind&l.opts.Whole != 0 || slices.Contains(l.opts.Exclude, j.path+"/"+e.name) {
			continue
		}
		if b := known[e.name]; b != nil {
			next.below = append(next.below, b)
		} else {
			next.below = append(next.below, &folder{name: e.name})
		}
	}
	*f = next
	return nil
}

// longest is how long the path of something that counts may be, in bytes: the kernel
// takes no longer ones, whereas programs reach what lies deeper folder by folder.
const longest = 3500

// collect adds what counts below a folder. What lies in a folder that programs cannot
// search, or too deep for a path, cannot be named for itself: the folder counts as a
// whole then.
func collect(f *folder, path string, below bool, out *[]Path) {
	before := len(*out)
	for _, e := range f.found {
		*out = append(*out, Path{Path: path + "/" + e.name, Kind: e.kind, Dir: e.dir, Link: e.link})
	}
	for _, b := range f.below {
		collect(b, path+"/"+b.name, true, out)
	}
	apart := f.stamp.barred || len(path) > longest
	if below && (f.closed || apart && len(*out) > before) {
		*out = append((*out)[:before], Path{Path: path, Kind: Closed, Dir: true})
	}
}

// tooLarge names the smallest folder that holds at least half of everything.
func (t *Tree) tooLarge(why string, weight func(*folder) int) *TooLargeError {
	sums := map[*folder]int{}
	var sum func(f *folder) int
	sum = func(f *folder) int {
		n := weight(f)
		for _, b := range f.below {
			n += sum(b)
		}
		sums[f] = n
		return n
	}
	total := sum(t.top)
	at, path := t.top, ""
	for {
		var most *folder
		for _, b := range at.below {
			if most == nil || sums[b] > sums[most] {
				most = b
			}
		}
		if most == nil || path != "" && sums[most] < total/2 {
			break
		}
		at, path = most, filepath.Join(path, most.name)
	}
	if path == "" {
		path = "."
	}
	return &TooLargeError{Root: t.root, Folder: path, Why: why}
}
