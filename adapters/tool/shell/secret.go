package shell

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/secretfile"
)

const (
	// secretDepth is how deep below the workspace files named like secrets are
	// looked for, and secretMost how many entries are looked at.
	secretDepth = 4
	secretMost  = 5000
)

// secretName says that files of this name hold keys or passwords. What only may be one
// is left to programs: builds need it more often than not.
func secretName(name string) bool { return secretfile.Named(strings.ToLower(name)) }

// secretBelow says that a path below the workspace is, or lies in, something that
// is named like a secret.
func secretBelow(root, path string) bool {
	rel, ok := strings.CutPrefix(path, root+"/")
	return ok && slices.ContainsFunc(strings.Split(rel, "/"), secretName)
}

// secrets are the files and folders of a workspace that are named like secrets.
// It looks a few folders deep: what lies deeper is a dependency's more often than
// the project's.
func secrets(root string) []string {
	var out []string
	seen := 0
	_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error { // what cannot be read hides itself
		if seen++; seen > secretMost {
			return fs.SkipAll
		}
		if err != nil {
			return skip(e)
		}
		rel := strings.TrimPrefix(path, root+"/")
		if path != root && secretName(e.Name()) {
			out = append(out, path)
			return skip(e)
		}
		if e.IsDir() && (e.Name() == ".git" || e.Name() == "node_modules" || path != root && strings.Count(rel, "/")+1 >= secretDepth) {
			return fs.SkipDir
		}
		return nil
	})
	return out
}

// skip goes on behind an entry.
func skip(e fs.DirEntry) error {
	if e != nil && e.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// hides says that programs do not find a path.
func (s *Shell) hides(path string) bool {
	state := s.opts.State != "" && inside(path, s.opts.State) && !slices.ContainsFunc(s.opts.ReadOnly, func(r string) bool { return inside(path, r) })
	return state || slices.ContainsFunc(s.opts.Hidden, func(h string) bool { return inside(path, h) }) || secretBelow(s.root, path)
}

// hidden are the files and folders that a program must not find, as they are now.
// What is hidden is hidden whole, so of a folder with something to show in it the
// other entries are.
func (s *Shell) hidden() ([]string, error) {
	out := append(slices.Clone(s.opts.Hidden), secrets(s.root)...)
	if s.opts.State == "" {
		return out, nil
	}
	shown := slices.DeleteFunc(slices.Clone(s.opts.ReadOnly), func(r string) bool {
		_, err := os.Lstat(r)
		return err != nil || !inside(r, s.opts.State)
	})
	if len(shown) == 0 {
		return append(out, s.opts.State), nil
	}
	for _, dir := range s.opts.Private {
		if err := os.MkdirAll(filepath.Join(s.opts.State, dir), 0o700); err != nil {
			return nil, fmt.Errorf("make a folder that commands must not see: %w", err)
		}
	}
	entries, err := os.ReadDir(s.opts.State)
	if err != nil {
		return nil, fmt.Errorf("look at what commands must not see: %w", err)
	}
	for _, e := range entries {
		path := filepath.Join(s.opts.State, e.Name())
		if !slices.ContainsFunc(shown, func(r string) bool { return inside(r, path) }) {
			out = append(out, path)
		}
	}
	return out, nil
}

// readable are the files and folders that a program may only read: the host's own
// folder too when something in it is shown, so that nothing is made in it.
func (s *Shell) readable() []string {
	var out []string
	for _, r := range s.opts.ReadOnly {
		if _, err := os.Lstat(r); err != nil {
			continue
		}
		if out = append(out, r); inside(r, s.opts.State) && !slices.Contains(out, s.opts.State) {
			out = append(out, s.opts.State)
		}
	}
	return out
}
