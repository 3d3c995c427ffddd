package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"
)

const (
	// maxLinks is how many links one path may contain.
	maxLinks = 40
	// maxParts is the maximum depth of a path.
	maxParts = 128
)

// tree is the project's folder during one call.
type tree struct {
	root  *os.Root
	guard guard
	links map[identity]*names // files with several names; nil until they are needed
	cut   bool                // a folder has more entries than are read
}

func (w *Workspace) tree() (*tree, error) {
	root, err := os.OpenRoot(w.opts.Dir)
	if err != nil {
		return nil, fmt.Errorf("open the project's folder: %w", cause(err))
	}
	return &tree{root: root, guard: w.guard}, nil
}

func (t *tree) close() { _ = t.root.Close() } // opened for reading only

// place is a file or folder of the tree, by a path without links.
type place struct {
	path    string      // with slashes; "." is the project's folder
	dir     *os.Root    // its parent folder, or the last existing folder of the path
	missing []string    // missing folders below dir
	name    string      // in its parent folder; "." for the project's folder
	info    fs.FileInfo // nil if it does not exist
	held    []*os.Root
}

func (p *place) close() {
	for _, r := range p.held {
		_ = r.Close() // opened for reading only
	}
}

// find walks a path. It fails if the path leads out of the project, but not if the file does not exist.
func (t *tree) find(path string) (*place, error) {
	w := walk{tree: t, asked: path, queue: split(path)}
	p, err := w.run()
	if err != nil {
		for _, r := range w.held {
			_ = r.Close() // opened for reading only
		}
		return nil, err
	}
	p.held = w.held
	return p, nil
}

// walk is the state of walking a path: held and parts grow with every folder.
type walk struct {
	tree  *tree
	asked string
	queue []string
	held  []*os.Root
	parts []string
	links int
}

func (w *walk) dir() *os.Root {
	if len(w.held) == 0 {
		return w.tree.root
	}
	return w.held[len(w.held)-1]
}

func (w *walk) run() (*place, error) {
	for len(w.queue) > 0 {
		part := w.queue[0]
		w.queue = w.queue[1:]
		if part == ".." {
			if len(w.held) == 0 {
				return nil, w.out()
			}
			_ = w.dir().Close() // opened for reading only
			w.held, w.parts = w.held[:len(w.held)-1], w.parts[:len(w.parts)-1]
			continue
		}
		info, err := w.dir().Lstat(part)
		if errors.Is(err, fs.ErrNotExist) && strings.ContainsRune(part, utf8.RuneError) {
			part = listedAs(w.dir(), part)
			info, err = w.dir().Lstat(part)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return w.absent(part)
		case err != nil:
			return nil, fmt.Errorf("look at %s: %w", shown(w.asked), cause(err))
		case info.Mode()&fs.ModeSymlink != 0:
			if err := w.follow(part); err != nil {
				return nil, err
			}
		case len(w.queue) == 0:
			return &place{path: strings.Join(append(slices.Clone(w.parts), part), "/"), dir: w.dir(), name: part, info: info}, nil
		default:
			if err := w.enter(part, info); err != nil {
				return nil, err
			}
		}
	}
	info, err := w.dir().Stat(".")
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", shown(w.asked), cause(err))
	}
	path := strings.Join(w.parts, "/")
	if path == "" {
		path = "."
	}
	return &place{path: path, dir: w.dir(), name: ".", info: info}, nil
}

// listedAs returns the only name in a folder that is shown as the given one, because it is no UTF-8, or the name itself.
func listedAs(dir *os.Root, shown string) string {
	list, _ := entries(dir) // without them it does not exist
	found := slices.DeleteFunc(list, func(name string) bool { return string([]rune(name)) != shown })
	if len(found) != 1 {
		return shown
	}
	return found[0]
}

// follow inserts the target of a link before the rest of the path.
func (w *walk) follow(part string) error {
	target, err := w.dir().Readlink(part)
	if err != nil {
		return fmt.Errorf("%w (%s)", ErrMoved, shown(w.asked))
	}
	if w.links++; w.links > maxLinks {
		return fmt.Errorf("%w: %s leads over too many links", ErrRefused, shown(w.asked))
	}
	if filepath.IsAbs(target) {
		return w.out()
	}
	w.queue = append(split(filepath.ToSlash(target)), w.queue...)
	return nil
}

// enter enters a folder, if it is still the one that was checked.
func (w *walk) enter(part string, info fs.FileInfo) error {
	if !info.IsDir() {
		return fmt.Errorf("%s: %s is not a folder", shown(w.asked), shown(strings.Join(append(slices.Clone(w.parts), part), "/")))
	}
	if len(w.parts) >= maxParts {
		return fmt.Errorf("%w: %s is too deep", ErrRefused, shown(w.asked))
	}
	next, err := openFolder(w.dir(), part, info)
	if err != nil {
		return fmt.Errorf("open %s: %w", shown(w.asked), err)
	}
	w.held, w.parts = append(w.held, next), append(w.parts, part)
	return nil
}

// absent returns the place of a file that does not exist; its folders may be missing, too.
func (w *walk) absent(part string) (*place, error) {
	rest := append([]string{part}, w.queue...)
	if slices.Contains(rest, "..") {
		return nil, fmt.Errorf("%s: %w", shown(w.asked), fs.ErrNotExist)
	}
	if len(w.parts)+len(rest) > maxParts {
		return nil, fmt.Errorf("%w: %s is too deep", ErrRefused, shown(w.asked))
	}
	last := len(rest) - 1
	return &place{
		path: strings.Join(append(slices.Clone(w.parts), rest...), "/"),
		dir:  w.dir(), missing: rest[:last], name: rest[last],
	}, nil
}

func (w *walk) out() error {
	return fmt.Errorf("%w: %s leads out of the project", ErrRefused, shown(w.asked))
}

// openFolder opens a folder, if it is still the one that was checked.
func openFolder(dir *os.Root, name string, info fs.FileInfo) (*os.Root, error) {
	next, err := dir.OpenRoot(name + "/.") // only a folder: to open a pipe would wait for ever
	if err != nil {
		return nil, cause(err)
	}
	if now, err := next.Stat("."); err != nil || !os.SameFile(info, now) {
		_ = next.Close() // opened for reading only
		return nil, ErrMoved
	}
	return next, nil
}

// open opens a file for the model to read.
func (t *tree) open(p *place) (*os.File, error) {
	if err := refused(p.path, t.guard.of(p.path).noRead); err != nil {
		return nil, err
	}
	return t.look(p)
}

// look opens a file if it is still the one that was checked, and if none of its other names must not be read.
func (t *tree) look(p *place) (*os.File, error) {
	switch {
	case p.info == nil:
		return nil, fmt.Errorf("%w: there is no file %s", fs.ErrNotExist, shown(p.path))
	case p.info.IsDir():
		return nil, fmt.Errorf("%s is a folder; use %s", shown(p.path), ListName)
	case !p.info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: %s is not an ordinary file", ErrRefused, shown(p.path))
	}
	// O_NONBLOCK keeps the call from blocking on a pipe that replaced the file.
	f, err := p.dir.OpenFile(p.name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", shown(p.path), cause(err))
	}
	if err := t.same(p, f); err != nil {
		_ = f.Close() // opened for reading only
		return nil, err
	}
	return f, nil
}

// same compares an open file with what its path led to before and after it was opened. It checks the other names each
// time, so that removing a name in between cannot hide it.
func (t *tree) same(p *place, f *os.File) error {
	open, err := f.Stat()
	if err != nil {
		return fmt.Errorf("look at %s: %w", shown(p.path), cause(err))
	}
	after, err := p.dir.Lstat(p.name)
	if err != nil || !os.SameFile(p.info, open) || !os.SameFile(p.info, after) {
		return fmt.Errorf("%w (%s)", ErrMoved, shown(p.path))
	}
	for _, info := range []fs.FileInfo{p.info, open, after} {
		if err := t.otherNames(p.path, info); err != nil {
			return err
		}
	}
	return nil
}

// split splits a path into its parts, without empty ones and ".".
func split(path string) []string {
	return slices.DeleteFunc(strings.Split(path, "/"), func(s string) bool { return s == "" || s == "." })
}

// cause is an error without its path, which may be a path of the host.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}
