// Package nametree finds the paths below a folder whose base names are of some kind, at any depth:
// names of secrets, for commands that must not find them, or .git, for commands that must not
// change it.
//
// A [Tree] reads every folder once and keeps only its times, its folders and the matching names.
// The next look reads only folders whose times say that a name was added, removed or renamed in
// them; it asks the kernel for the times of each folder but never accesses the files. A folder that
// changed around the time when it was read is read again, because its times may not show the next
// change.
//
// A look is complete or fails. Beyond the limits it fails with a [*TooLargeError], which names the
// folder to exclude. Symbolic links are not followed: a target inside the tree is found under its
// own path. File systems mounted in the tree are part of it.
//
// The file system has to maintain the times of folders. With one that does not, such as some
// network file systems, only a new Tree sees changes.
package nametree

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxNames is how many names a tree may have.
	maxNames = 2_000_000
	// maxFolders is how many of them may be folders, each of which is kept in memory.
	maxFolders = 500_000
	// maxFound is how many of them may match: hiding each of them has a cost.
	maxFound = 1000
	// within is how long a look may take. What it has read by then is kept, so that the next
	// look has less to do.
	within = 20 * time.Second
)

// settled is how old the times of a folder have to be when it is read, so that they will show its
// next change. The clocks of file systems tick every few milliseconds, some only every two seconds.
const settled = 2100 * time.Millisecond

// workers is how many goroutines read folders.
const workers = 4

// Kind is a set of kinds of names; a name of kind 0 does not match.
type Kind uint8

// Closed is the kind of folders that cannot be searched, so that the names in them are unknown. It
// is reserved for the package; all other kinds are the caller's.
const Closed Kind = 1 << 7

// Options of a tree.
type Options struct {
	// Kind returns the kinds of a name. It is called from several goroutines.
	Kind func(name string) Kind
	// Whole are the kinds whose folders are not searched: they match as a whole.
	Whole Kind
	// Exclude are paths that are not searched, absolute and clean.
	Exclude []string
}

// Path is a matching path.
type Path struct {
	Path string // absolute
	Kind Kind
	Dir  bool // a folder, not a link to one
	Link bool // a symbolic link
}

// TooLargeError means that a tree exceeds a limit.
type TooLargeError struct {
	Root string
	// Folder contains most of the tree, relative to Root; excluding it helps.
	Folder string
	Why    string
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s: %s; most of it is in the folder %s", e.Root, e.Why, e.Folder)
}

// Tree is a folder that is searched repeatedly. It is safe for concurrent use; looks run one after
// the other.
type Tree struct {
	root string
	opts Options
	// The limits of a look.
	maxNames, maxFolders, maxFound int

	mu  sync.Mutex // locked during a look
	top *folder
}

// New returns a tree for a folder, an absolute path without symbolic links. It reads nothing yet.
func New(root string, o Options) *Tree {
	return &Tree{root: filepath.Clean(root), opts: o, maxNames: maxNames, maxFolders: maxFolders, maxFound: maxFound, top: &folder{}}
}

// folder is what is known about a folder.
type folder struct {
	name  string
	stamp stamp
	// fresh: the folder has to be read again, because its times were too recent when it was read.
	fresh  bool
	closed bool // it could not be read
	names  int  // in it, without those of its folders
	found  []entry
	below  []*folder
}

// stamp changes whenever a name in a folder does.
type stamp struct {
	dev, ino     uint64
	mtime, ctime int64
	// barred: processes without power over the files of others cannot search it.
	barred bool
}

// entry is a name in a folder.
type entry struct {
	name      string
	kind      Kind
	dir, link bool
}

// look is one pass through the tree.
type look struct {
	*Tree
	ctx     context.Context //nolint:containedctx // the life of a look
	names   atomic.Int64
	folders atomic.Int64
	stopped atomic.Pointer[error]
	queue   chan job
	open    sync.WaitGroup // unfinished jobs
}

type job struct {
	f    *folder
	path string
}

// A limit was reached.
var (
	errNames   = errors.New("too many names")
	errFolders = errors.New("too many folders")
)

// Find returns all matching paths, in order.
func (t *Tree) Find(ctx context.Context) ([]Path, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	l := &look{Tree: t, ctx: limited, queue: make(chan job, 1024)}
	err := l.run()
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("look through %s: %w", t.root, ctx.Err())
	case errors.Is(err, errNames):
		return nil, t.tooLarge(fmt.Sprintf("it has more than %d names", t.maxNames), func(f *folder) int { return f.names })
	case errors.Is(err, errFolders):
		return nil, t.tooLarge(fmt.Sprintf("it has more than %d folders", t.maxFolders), func(f *folder) int { return len(f.below) })
	case errors.Is(err, context.DeadlineExceeded):
		return nil, t.tooLarge(fmt.Sprintf("looking through it took longer than %s", within), func(f *folder) int { return f.names })
	case err != nil:
		return nil, fmt.Errorf("look through %s: %w", t.root, err)
	}
	var out []Path
	collect(t.top, t.root, false, &out)
	if len(out) > t.maxFound {
		return nil, t.tooLarge(fmt.Sprintf("%d files and folders in it would have to be hidden, at most %d can be", len(out), t.maxFound),
			func(f *folder) int { return len(f.found) })
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Path < out[j].Path })
	return out, nil
}

// run checks every folder that has to be checked.
func (l *look) run() error {
	var readers sync.WaitGroup
	for range workers {
		readers.Go(func() {
			r := newReader(l.root)
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

// add hands a folder to an idle worker. It returns false if all are busy.
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

// visit checks a folder and everything below it, some of which other workers take over.
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
		if l.names.Add(int64(j.f.names)) > int64(l.maxNames) {
			l.stop(errNames)
			return
		}
		if l.folders.Add(int64(len(j.f.below))) > int64(l.maxFolders) {
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

// refresh updates what is known about a folder.
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
	// at is the stamp of the opened folder from before it was read.
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

// longest is the maximum length of a matching path, in bytes: the kernel accepts no longer paths,
// but programs reach deeper files folder by folder.
const longest = 3500

// collect adds the matches below a folder. Matches in a folder that programs cannot search, or too
// deep for a path, cannot be named individually: the folder then matches as a whole.
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

// tooLarge names the smallest folder that contains at least half of everything.
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
