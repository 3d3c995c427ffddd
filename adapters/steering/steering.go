// Package steering knows the files of a project that programs of people obey without
// asking: settings and hooks of version stores, editors, assistants and shells. It is the
// only such list: commands in a sandbox cannot change these files, nor make them, and the
// file tools say what they are.
package steering

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/secretfile"
)

// gitFolder is the version store whose programs run what its settings name.
const gitFolder = ".git"

// maxPointer is the most that is read of a file that says where a version store is.
const maxPointer = 4 << 10

// asideSuffix is added to the names of files that were put aside.
const asideSuffix = ".put-aside"

// Names are the files and folders that a project may have at its top.
func Names() []string {
	return []string{
		gitFolder, ".claude", ".codex", ".cursor", ".devcontainer", ".envrc", ".gemini", ".husky", ".idea", ".mcp.json", ".vscode", ".zed",
	}
}

// Named says that a part of a path has one of these names, however it is spelled.
func Named(part string) bool { return slices.Contains(Names(), secretfile.Normalize(part)) }

// Files are the files of a folder that control other programs, and the files that would.
type Files struct {
	// Kept have to stay as they are. Those that do not exist must not come to exist.
	Kept []string
	// Loose are symbolic links that lead to some of them and that can be replaced, since they are in no folder that is
	// kept. Links of nested folders, which are not the project's own, are not among them.
	Loose []string
	// Absent must not come to exist either, but nothing can be put in their place: git would fail on anything there.
	Absent []string
}

// In returns the files of a project that control other programs. named are the paths below root, without links, for
// which [Named] is true, and own are other files and folders of the project that have to be kept.
func In(root string, named, own []string) Files {
	out := Files{Kept: slices.Clone(own)}
	for _, path := range own {
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 && inside(path, root) {
			out.Loose = append(out.Loose, path)
		}
	}
	var top, nested []string
	for _, path := range named {
		keep, absent := within(path)
		out.Absent = append(out.Absent, absent...)
		if filepath.Dir(path) == root {
			top = append(top, keep...)
		} else {
			nested = append(nested, keep...)
		}
	}
	for _, name := range Names() {
		path := filepath.Join(root, name)
		if _, err := os.Lstat(path); err != nil { // a program could create it
			top = append(top, path)
		}
	}
	kept, loose := links(root, top)
	nested, _ = links(root, nested)
	out.Kept, out.Loose = slices.Concat(out.Kept, kept, nested), append(out.Loose, loose...)
	return out
}

// within are the paths to keep as they are for one that is named like that: itself, or
// what steers git in a version store. What does not exist is among them where git would
// obey it if it did. absent are the pointers to settings elsewhere, which a version store usually does
// not have.
func within(path string) (keep, absent []string) {
	if secretfile.Normalize(filepath.Base(path)) != gitFolder {
		return []string{path}, nil
	}
	info, err := os.Lstat(path)
	switch {
	case err == nil && info.IsDir():
		return ofStore(path, filepath.Dir(path))
	case err == nil && info.Mode().IsRegular():
		if store := pointed(path); store != "" {
			keep, absent = ofStore(store, filepath.Dir(path))
		}
		return append([]string{path}, keep...), absent
	}
	return []string{path}, nil
}

// ofStore is what steers git in a version store, and in its working folder by the settings of the
// store. The stores of submodules and of other working folders are kept whole.
func ofStore(dir, work string) (keep, absent []string) {
	keep = []string{filepath.Join(dir, "config"), filepath.Join(dir, "hooks"), filepath.Join(dir, "info")}
	for _, name := range []string{"config.worktree", "commondir", "modules", "worktrees"} {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); err == nil {
			keep = append(keep, path)
		} else if name == "config.worktree" || name == "commondir" {
			absent = append(absent, path)
		}
	}
	for _, name := range []string{"config", "config.worktree"} {
		keep = append(keep, led(filepath.Join(dir, name), work)...)
	}
	return keep, absent
}

// pointed is the version store that a file named .git leads to, or "".
func pointed(file string) string {
	f, err := os.Open(file) //nolint:gosec // it is read for one line, and only a path is taken from it
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // nothing was written
	text := make([]byte, maxPointer)
	n, _ := f.Read(text) // nothing read is not a pointer
	line, _, _ := bytes.Cut(text[:n], []byte("\n"))
	to, ok := strings.CutPrefix(string(line), "gitdir:")
	if to = strings.TrimSpace(to); !ok || to == "" {
		return ""
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(file), to)
	}
	if info, err := os.Stat(to); err != nil || !info.IsDir() {
		return ""
	}
	return to
}

// PutAside renames the files that came to exist although they must not, so that git does not obey them, and returns
// their paths relative to root.
func (f Files) PutAside(root string) (aside []string, err error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	for _, path := range f.Absent {
		rel, ok := strings.CutPrefix(path, root+"/")
		if _, gone := dir.Lstat(rel); !ok || gone != nil {
			continue
		}
		aside = append(aside, rel)
		err = errors.Join(err, dir.RemoveAll(rel+asideSuffix), dir.Rename(rel, rel+asideSuffix))
	}
	return aside, errors.Join(err, dir.Close())
}
