package files

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

const (
	// maxEntries is how many entries of a tree are looked at in one call.
	maxEntries = 200_000
	// maxFolder is how many entries of one folder are looked at.
	maxFolder = 50_000
)

// identity is a file whatever its name is.
type identity struct{ dev, ino uint64 }

// names is how many names of a file the project has, and one that is guarded.
type names struct {
	found   uint64
	guarded string
}

// otherNames refuses a file that has a second name which must not be read, or
// which is not in the project, where nobody can say what it is.
func (t *tree) otherNames(path string, info fs.FileInfo) error {
	id, count, ok := identify(info)
	if !ok || count < 2 {
		return nil
	}
	if t.links == nil {
		t.links = map[identity]*names{}
		if err := t.collect(); err != nil {
			return err
		}
	}
	switch n := t.links[id]; {
	case n == nil || n.found < count:
		return fmt.Errorf("%w: %s is the same file as one outside of the project (a hard link); a copy of it can be read", ErrRefused, shown(path))
	case n.guarded != "":
		return fmt.Errorf("%w: %s is the same file as %s (a hard link)", ErrRefused, shown(path), shown(n.guarded))
	}
	return nil
}

// collect looks for all files with several names, in guarded folders too.
func (t *tree) collect() error {
	left := maxEntries
	err := t.each(t.root, nil, 0, &left, func(e entry) (bool, error) {
		if e.info.IsDir() {
			return true, nil
		}
		id, count, ok := identify(e.info)
		if !ok || count < 2 {
			return false, nil
		}
		n := t.links[id]
		if n == nil {
			n = &names{}
			t.links[id] = n
		}
		n.found++
		if path := e.path(); t.guard.of(path).noRead != "" {
			n.guarded = path
		}
		return false, nil
	})
	if err == nil && left <= 0 {
		err = fmt.Errorf("%w: the file has several names (hard links), and the project is too large to look for all of them", ErrRefused)
	}
	return err
}

// entry is something in a folder.
type entry struct {
	parts []string
	dir   *os.Root
	info  fs.FileInfo // of the entry itself, also if it is a link
}

func (e entry) path() string { return strings.Join(e.parts, "/") }

// each visits what is below a folder, in the order of names, without following
// links. A folder is entered when visit says so. It ends early, without an error,
// when nothing is left of the number of entries.
func (t *tree) each(dir *os.Root, parts []string, depth int, left *int, visit func(entry) (bool, error)) error {
	list, err := entries(dir)
	if err != nil || depth > maxParts {
		return nil // a folder that cannot be read has nothing to show
	}
	for _, name := range list {
		if *left--; *left < 0 {
			return nil
		}
		info, err := dir.Lstat(name)
		if err != nil {
			continue // it is gone
		}
		e := entry{parts: append(slices.Clone(parts), name), dir: dir, info: info}
		enter, err := visit(e)
		if err != nil {
			return err
		}
		if !enter || !info.IsDir() {
			continue
		}
		next, err := openFolder(dir, name, info)
		if err != nil {
			continue // gone, or another one by now
		}
		err = t.each(next, e.parts, depth+1, left, visit)
		_ = next.Close() // only read from
		if err != nil {
			return err
		}
	}
	return nil
}

func entries(dir *os.Root) ([]string, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read from
	list, err := f.Readdirnames(maxFolder)
	slices.Sort(list)
	if len(list) > 0 {
		return list, nil
	}
	return nil, err
}
