//go:build linux

package box

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox/internal/hold"
)

// Plan is what a program sees. It is mounted in this order: links and binds; masks over them, and own folders; the binds
// inside of hidden folders, and their masks; and pins.
type Plan struct {
	Links []Link
	Files []File // system files with made-up content
	Binds []Bind
	Masks []Mask
	Own   []Bind
	Pins  []Pin

	kept    []place  // paths of the host that must exist while something is mounted on them
	watched []string // paths of the host whose names must not change meanwhile
	absent  []string // those of them that must not exist
}

// Link is a symbolic link of the system.
type Link struct{ Target, Path string }

// File is a file with made-up content.
type File struct{ Path, Text string }

// Bind makes a file or a folder of the host visible.
type Bind struct {
	Source, Dest string
	Dir          bool
	Writable     bool
	Granted      bool // by the Spec; the others belong to the system
	// Dev and Ino identify the Source that was checked; it must still be the same.
	Dev, Ino uint64
}

// Mask covers a file or a folder by an empty one.
type Mask struct {
	Dest string
	Dir  bool
}

// Pin covers a file by given content.
type Pin struct {
	Dest string
	Data []byte
	Mode uint32
}

// grant is a path of a Spec, as written and without links.
type grant struct {
	spelled, real string
	writable      bool
	dir           bool
	dev, ino      uint64
}

// place is a path of the host. dir says that it has to be created as a folder.
type place struct {
	path string
	dir  bool
}

// NewPlan determines what a program sees.
func NewPlan(s sandbox.Spec) (*Plan, error) {
	if err := checkSpec(s); err != nil {
		return nil, err
	}
	s.Readable = slices.Concat(s.Readable, s.Shown)
	grants, err := grantsOf(s)
	if err != nil {
		return nil, err
	}
	p := systemPlan(s.Network)
	p.bind(grants)
	if err := p.own(s.Own, true); err != nil {
		return nil, err
	}
	if err := p.own(s.Shown, false); err != nil {
		return nil, err
	}
	if !p.shows(s.Dir) && !p.leads(s.Dir) {
		return nil, fmt.Errorf("the folder to start in, %s, is neither writable nor readable", s.Dir)
	}
	if err := p.hide(s.Hidden, false); err != nil {
		return nil, err
	}
	absent, err := absentOf(s.Readable)
	if err != nil {
		return nil, err
	}
	if err := p.hide(absent, true); err != nil {
		return nil, err
	}
	if err := p.steady(absent); err != nil {
		return nil, err
	}
	p.absent = s.Absent
	p.watched = append(p.watched, s.Absent...)
	for _, b := range p.Binds { // the kernel removes the mount if somebody outside replaces its place
		if b.Granted && !b.Writable && slices.ContainsFunc(p.Binds, func(w Bind) bool { return w.Writable && within(b.Source, w.Source) }) {
			p.watched = append(p.watched, b.Source)
			p.kept = append(p.kept, place{b.Source, b.Dir}) // it may be there for another program only
		}
	}
	if !p.leads(s.Dir) && (p.masked(realOf(s.Dir)) || p.masked(filepath.Clean(s.Dir))) {
		return nil, fmt.Errorf("the folder to start in, %s, is hidden", s.Dir)
	}
	if err := p.pin(s.Pinned); err != nil {
		return nil, err
	}
	return p, nil
}

func checkSpec(s sandbox.Spec) error {
	if len(s.Argv) == 0 || s.Argv[0] == "" {
		return errors.New("there is no program to run")
	}
	for _, text := range slices.Concat(s.Argv, s.Env) {
		if strings.ContainsRune(text, 0) {
			return errors.New("an argument or a variable has a NUL in it")
		}
	}
	for _, v := range s.Env {
		if name, _, ok := strings.Cut(v, "="); !ok || name == "" {
			return errors.New("a variable of the environment does not have the form NAME=value")
		}
	}
	paths := slices.Concat([]string{s.Dir}, s.Writable, s.Readable, s.Hidden, s.Own, s.Shown, s.Absent)
	for _, pin := range s.Pinned {
		paths = append(paths, pin.Path)
	}
	for _, path := range paths {
		if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
			return fmt.Errorf("the path %q is not absolute", path)
		}
	}
	return nil
}

// grantsOf resolves the granted paths, sorted so that outer ones come first.
func grantsOf(s sandbox.Spec) ([]grant, error) {
	var out []grant
	add := func(path string, writable bool) error {
		g := grant{spelled: filepath.Clean(path), writable: writable}
		var err error
		if g.real, err = filepath.EvalSymlinks(path); err != nil {
			if !writable && errors.Is(err, os.ErrNotExist) {
				return nil
			}
			return fmt.Errorf("a folder of the program: %w", err)
		}
		for _, no := range []string{"/proc", "/sys", "/dev"} {
			if g.real == "/" || within(g.real, no) {
				return fmt.Errorf("%s can be granted to no program", g.real)
			}
		}
		if writable && s.Root != "" && !within(g.real, s.Root) && passes(g.spelled, s.Root) {
			return fmt.Errorf("%s leads out of the folder %s by a symbolic link", g.spelled, s.Root)
		}
		b := Bind{Source: g.real}
		if err := b.identify(); err != nil {
			return err
		}
		g.dir, g.dev, g.ino = b.Dir, b.Dev, b.Ino
		out = append(out, g)
		return nil
	}
	for _, path := range s.Writable {
		if err := add(path, true); err != nil {
			return nil, err
		}
	}
	for _, path := range s.Readable {
		if err := add(path, false); err != nil {
			return nil, err
		}
	}
	for _, g := range out {
		for _, w := range out {
			if w.writable && (within(g.spelled, w.spelled) || within(g.spelled, w.real)) && !within(g.real, w.real) {
				return nil, fmt.Errorf("%s leads out of the writable folder %s by a symbolic link", g.spelled, w.spelled)
			}
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return len(out[i].real) < len(out[j].real) })
	return out, nil
}

// passes reports whether a path as it is written is, or is below, a name of a folder.
func passes(path, folder string) bool {
	for at := path; at != "/"; at = filepath.Dir(at) {
		if realOf(at) == folder {
			return true
		}
	}
	return false
}

// openPlain opens a path without following any links in it.
func openPlain(path string) (*os.File, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// Open opens a source, if it still is the file or folder that was checked.
func Open(b Bind) (*os.File, error) {
	f, err := openPlain(b.Source)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, errors.Join(fmt.Errorf("look at %s: %w", b.Source, err), f.Close())
	}
	if uint64(st.Dev) != b.Dev || st.Ino != b.Ino {
		return nil, errors.Join(fmt.Errorf("%s was replaced meanwhile", b.Source), f.Close())
	}
	return f, nil
}

// bind mounts each grant at its own path as written, and inside of each other grant that contains it. Otherwise the
// outer grant's rights would apply there.
func (p *Plan) bind(grants []grant) {
	at := map[string]Bind{}
	put := func(g grant, dest string) {
		at[dest] = Bind{Source: g.real, Dest: dest, Dir: g.dir, Writable: g.writable, Granted: true, Dev: g.dev, Ino: g.ino}
	}
	for _, g := range grants {
		if !g.writable && p.isSystem(g.real) && p.isSystem(g.spelled) {
			continue // it is visible already
		}
		put(g, g.real)
		inside := func(o grant) bool {
			return o.spelled != g.spelled && (within(g.spelled, o.spelled) || within(g.spelled, o.real))
		}
		if !slices.ContainsFunc(grants, inside) {
			put(g, g.spelled) // otherwise a link leads to it
		}
	}
	for _, g := range grants {
		for _, outer := range grants {
			if outer.real != g.real && within(g.real, outer.real) {
				put(g, outer.spelled+g.real[len(outer.real):])
			}
		}
	}
	granted := make([]Bind, 0, len(at))
	for _, b := range at {
		granted = append(granted, b)
	}
	sortBinds(granted)
	p.Binds = append(p.Binds, granted...)
}

// own adds folders that are visible in hidden ones: the program's own, and those that it may read.
func (p *Plan) own(folders []string, writable bool) error {
	for _, path := range folders {
		path = filepath.Clean(path)
		if realOf(path) != path || path == "/" || slices.ContainsFunc([]string{"/proc", "/sys", "/dev"}, func(no string) bool { return within(path, no) }) {
			return fmt.Errorf("%s can neither be a program's own folder nor be shown", path)
		}
		b := Bind{Source: path, Dest: path, Writable: writable, Granted: true}
		if err := b.identify(); err != nil {
			return err
		}
		if !b.Dir {
			return fmt.Errorf("%s can neither be a program's own folder nor be shown: it is a file", path)
		}
		p.Own = append(p.Own, b)
	}
	sortBinds(p.Own)
	return nil
}

// leads reports whether a folder is, is inside, or contains something that is visible at its own path and not hidden.
func (p *Plan) leads(dir string) bool {
	dir = filepath.Clean(dir)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return false
	}
	return slices.ContainsFunc(p.Own, func(b Bind) bool { return within(dir, b.Dest) || within(b.Dest, dir) }) ||
		slices.ContainsFunc(p.Binds, func(b Bind) bool { return b.Granted && within(b.Dest, dir) && !p.masked(b.Dest) })
}

// sortBinds sorts granted binds after the system's, and outer ones before inner ones.
func sortBinds(binds []Bind) {
	sort.SliceStable(binds, func(i, j int) bool {
		a, b := binds[i], binds[j]
		if !a.Granted || !b.Granted {
			return !a.Granted && b.Granted
		}
		return cmp.Or(cmp.Compare(len(a.Dest), len(b.Dest)), cmp.Compare(a.Dest, b.Dest)) < 0
	})
}

// isSystem reports whether a path is visible as a part of the system, which is readable.
func (p *Plan) isSystem(path string) bool {
	return slices.ContainsFunc(p.Binds, func(b Bind) bool { return !b.Granted && within(path, b.Dest) && b.Dest == b.Source }) ||
		slices.ContainsFunc(p.Links, func(l Link) bool { return within(path, l.Path) })
}

// shows reports whether a path is visible under any name.
func (p *Plan) shows(path string) bool { return len(p.places(path)) > 0 }

// places are the names under which a path of the host is visible.
func (p *Plan) places(path string) []string {
	resolved := realOf(path)
	var out []string
	for _, b := range p.Binds {
		if within(resolved, b.Source) {
			out = append(out, b.Dest+resolved[len(b.Source):])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// owner is the innermost bind that contains a place.
func (p *Plan) owner(dest string) *Bind {
	var out *Bind
	for i, b := range p.Binds {
		if within(dest, b.Dest) {
			out = &p.Binds[i]
		}
	}
	return out
}

// absentOf returns the paths that do not exist.
func absentOf(paths []string) ([]string, error) {
	var out []string
	for _, path := range paths {
		switch _, err := os.Stat(path); {
		case errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENOTDIR):
			out = append(out, path)
		case err != nil:
			return nil, fmt.Errorf("look at what may be read: %w", err)
		}
	}
	return out, nil
}

// steady mounts the folders between a writable folder and a read-only path in it at their own places, because a mount
// point can be neither moved nor removed. It does the same for paths that do not exist.
func (p *Plan) steady(absent []string) error {
	var inner []string
	for _, b := range p.Binds {
		if b.Granted && !b.Writable {
			inner = append(inner, b.Dest)
		}
	}
	for _, path := range absent {
		inner = append(inner, p.places(firstMissing(realOf(path)))...)
	}
	known := map[string]bool{}
	for _, b := range p.Binds {
		known[b.Dest] = true
	}
	binds := slices.Clone(p.Binds)
	for _, dest := range inner {
		for at := filepath.Dir(dest); !known[at]; at = filepath.Dir(at) {
			outer := p.owner(at)
			if outer == nil || !outer.Writable || p.masked(at) {
				break
			}
			b := Bind{Source: outer.Source + at[len(outer.Dest):], Dest: at, Dir: true, Writable: true, Granted: true}
			if err := b.identify(); err != nil {
				return err
			}
			known[at] = true
			binds = append(binds, b)
		}
	}
	sortBinds(binds)
	p.Binds = binds
	return nil
}

// identify records the identity of the source.
func (b *Bind) identify() error {
	f, err := openPlain(b.Source)
	if err != nil {
		return fmt.Errorf("a folder of the program: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only checked
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return fmt.Errorf("look at %s: %w", b.Source, err)
	}
	b.Dir = st.Mode&unix.S_IFMT == unix.S_IFDIR
	b.Dev, b.Ino = uint64(st.Dev), st.Ino //nolint:unconvert // the types differ between machines
	return nil
}

// hide masks what must not be visible. What does not exist is masked by a file or a folder.
func (p *Plan) hide(hidden []string, folder bool) error {
	for _, path := range hidden {
		path = filepath.Clean(path)
		info, err := os.Stat(path)
		absent := err != nil && (errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENOTDIR))
		if err != nil && !absent {
			return fmt.Errorf("look at what is to be hidden: %w", err)
		}
		resolved := realOf(path)
		if absent {
			path, resolved = firstMissing(path), firstMissing(resolved)
		}
		for _, dest := range p.places(resolved) {
			writable := p.owner(dest).Writable
			if absent && !writable {
				continue // it does not exist and cannot be created
			}
			if writable {
				p.kept = append(p.kept, place{resolved, folder})
			}
			p.watched = append(p.watched, path, resolved)
			p.Masks = append(p.Masks, Mask{Dest: dest, Dir: absent && folder || !absent && info.IsDir()})
		}
	}
	sort.Slice(p.Masks, func(i, j int) bool {
		a, b := p.Masks[i].Dest, p.Masks[j].Dest
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) < 0
	})
	p.Masks = slices.Compact(p.Masks)
	all := make(map[string]bool, len(p.Masks))
	for _, m := range p.Masks {
		all[m.Dest] = true
	}
	p.Masks = slices.DeleteFunc(p.Masks, func(m Mask) bool {
		for at := m.Dest; at != "/"; {
			if at = filepath.Dir(at); all[at] {
				return !p.shown(m.Dest, at)
			}
		}
		return false
	})
	p.watched = unique(p.watched)
	return nil
}

// masked reports whether a place is masked.
func (p *Plan) masked(dest string) bool {
	return slices.ContainsFunc(p.Masks, func(m Mask) bool { return within(dest, m.Dest) && !p.shown(dest, m.Dest) })
}

// shown reports whether a place inside of a folder is visible although the folder is masked.
func (p *Plan) shown(dest, folder string) bool {
	return slices.ContainsFunc(p.Own, func(b Bind) bool { return !b.Writable && within(dest, b.Dest) && within(b.Dest, folder) })
}

// Layers are the masks below and above the folders that are visible in hidden ones.
func (p *Plan) Layers() (below, above []Mask) {
	for _, m := range p.Masks {
		if p.shown(m.Dest, "/") {
			above = append(above, m)
		} else {
			below = append(below, m)
		}
	}
	return below, above
}

// pin mounts the content of pins at all names of their files.
func (p *Plan) pin(pins []sandbox.Pin) error {
	for _, pin := range pins {
		path := filepath.Clean(pin.Path)
		mode := uint32(0o555)
		info, err := os.Stat(path)
		switch {
		case err == nil && !info.Mode().IsRegular():
			return fmt.Errorf("%s is to be pinned and is not a file", path)
		case err == nil:
			mode = uint32(info.Mode().Perm())&0o555 | 0o400
		case !errors.Is(err, os.ErrNotExist):
			return fmt.Errorf("look at what is to be pinned: %w", err)
		}
		resolved := realOf(path)
		places := p.places(resolved)
		if err != nil && len(places) > 0 && firstMissing(resolved) != resolved {
			return fmt.Errorf("%s is to be pinned and its folder does not exist", path)
		}
		for _, dest := range places {
			if !p.masked(dest) {
				p.kept = append(p.kept, place{path: resolved})
				p.watched = append(p.watched, path, resolved)
			}
		}
		if len(places) == 0 {
			places = []string{path} // in a folder that is not visible otherwise
		}
		for _, dest := range places {
			p.Pins = append(p.Pins, Pin{Dest: dest, Data: pin.Data, Mode: mode})
		}
	}
	p.watched = unique(p.watched)
	return nil
}

// held converts the pins for package hold.
func (p *Plan) held() []hold.Pin {
	out := make([]hold.Pin, len(p.Pins))
	for i, pin := range p.Pins {
		out[i] = hold.Pin{Path: pin.Dest, Data: pin.Data}
	}
	return out
}

// systems are the system's folders, which do not change meanwhile.
func (p *Plan) systems() []string {
	var out []string
	for _, b := range p.Binds {
		if !b.Granted && b.Dir {
			out = append(out, b.Dest)
		}
	}
	return out
}

// firstMissing is the first part of a path that does not exist, or the path itself.
func firstMissing(path string) string {
	for {
		parent := filepath.Dir(path)
		if _, err := os.Lstat(parent); err == nil || parent == path {
			return path
		}
		path = parent
	}
}

// realOf resolves links in the existing part of a path.
func realOf(path string) string {
	path = filepath.Clean(path)
	for rest := ""; ; {
		if r, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Join(r, rest)
		}
		if path == "/" {
			return filepath.Join(path, rest)
		}
		rest = filepath.Join(filepath.Base(path), rest)
		path = filepath.Dir(path)
	}
}

// within reports whether a path is folder or below it.
func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}

func unique(in []string) []string {
	slices.Sort(in)
	return slices.Compact(in)
}
