package files

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

const (
	// maxEntries is how many entries of a tree one call visits at most.
	maxEntries = 200_000
	// maxFolder is how many entries of one folder are read at most.
	maxFolder = 50_000
)

// identity identifies a file regardless of its names.
type identity struct{ dev, ino uint64 }

// names is the number of names that a file has in the project, and one of them that must not be read, if any.
type names struct {
	found   uint64
	guarded string
}

// otherNames refuses a file that has another name which must not be read, or which is outside of the project and
// therefore unknown.
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

// collect finds all files with several names, including those in closed folders.
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

// entry is an entry of a folder.
type entry struct {
	parts []string
	dir   *os.Root
	info  fs.FileInfo // of the entry itself, even if it is a link
}

func (e entry) path() string { return strings.Join(e.parts, "/") }

// each visits everything below a folder, ordered by name, without following links. It enters the folders for which
// visit returns true. It returns early, without an error, when the limit of entries is reached.
func (t *tree) each(dir *os.Root, parts []string, depth int, left *int, visit func(entry) (bool, error)) error {
	list, err := entries(dir)
	if err != nil || depth > maxParts {
		return nil // skip a folder that cannot be read
	}
	t.cut = t.cut || len(list) == maxFolder
	for _, name := range list {
		if *left--; *left < 0 {
			return nil
		}
		info, err := dir.Lstat(name)
		if err != nil {
			continue // removed meanwhile
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
			continue // removed or replaced meanwhile
		}
		err = t.each(next, e.parts, depth+1, left, visit)
		_ = next.Close() // opened for reading only
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
	defer func() { _ = f.Close() }() // opened for reading only
	list, err := f.Readdirnames(maxFolder)
	slices.Sort(list)
	if len(list) > 0 {
		return list, nil
	}
	return nil, err
}
