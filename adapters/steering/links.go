package steering

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// links completes paths that have to be kept as they are: what symbolic links in the folders among them lead to in root
// is kept, too, even if it does not exist. The root must not contain links. Paths that a link leads to which itself is
// not kept are left out, since whoever may write to root could replace that link; loose are those links.
func links(root string, paths []string) (kept, loose []string) {
	paths = slices.Clone(paths)
	among := func(path string) bool {
		return slices.ContainsFunc(paths, func(p string) bool { return inside(path, p) })
	}
	for i := 0; i < len(paths); i++ {
		path := paths[i]
		link := firstLink(root, path)
		switch {
		case link == "":
			kept = append(kept, path)
			for _, target := range targets(root, path) {
				if !among(target) {
					paths = append(paths, target)
				}
			}
		case among(filepath.Dir(link)):
			if target := filepath.Join(target(link), path[len(link):]); inside(target, root) && !among(target) {
				paths = append(paths, target)
			}
		default:
			loose = append(loose, link)
		}
	}
	return kept, loose
}

// targets are the paths in root that links in a folder lead to, except for its parent folders.
func targets(root, folder string) []string {
	if !inside(folder, root) {
		return nil
	}
	var out []string
	_ = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil: // it does not exist, or is unreadable, for commands as well
		case e.IsDir() && e.Name() == "objects" && strings.Contains(path, "/"+gitFolder+"/modules/"):
			return fs.SkipDir // nothing in it steers, and it is large
		case e.Type()&fs.ModeSymlink != 0:
			if to := target(path); inside(to, root) && !inside(folder, to) {
				out = append(out, to)
			}
		}
		return nil
	})
	return out
}

// target is the path that a link names.
func target(link string) string {
	to, err := os.Readlink(link)
	if err == nil && !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(link), to)
	}
	return filepath.Clean(to)
}

// firstLink is the first symbolic link in the part of a path that is below root, or "".
func firstLink(root, path string) string {
	rel, ok := strings.CutPrefix(path, root+"/")
	for at := root; ok && rel != ""; {
		var part string
		part, rel, _ = strings.Cut(rel, "/")
		at = filepath.Join(at, part)
		if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return at
		}
	}
	return ""
}

// inside reports whether a path is dir or below it. Both must be clean.
func inside(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
