package shell

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/internal/nametree"
	"github.com/shipmyagent/shipmyagent/adapters/steering"
	"github.com/shipmyagent/shipmyagent/messages/secretfile"
)

const (
	// secretKind marks names that commands must not find.
	secretKind nametree.Kind = 1 << iota
	// steeringKind marks names of files that commands must not change.
	steeringKind
)

// names are the paths that commands must not find or not change at the moment.
type names struct {
	secrets  []string // files and folders that are named like secrets, at any depth
	steering []string // those that control other programs, see package steering
}

// secretName reports whether files of this name contain keys or passwords, or belong to a host. Files that only might
// be secret are left to programs, because builds usually need them.
func secretName(name string) bool {
	name = secretfile.Normalize(name)
	return secretfile.Named(name) || secretfile.Own(name)
}

func nameKind(name string) (kind nametree.Kind) {
	if secretName(name) {
		kind = secretKind
	}
	if steering.Named(name) {
		kind |= steeringKind
	}
	return kind
}

// secretBelow reports whether a path is, or is inside, something below root that is named like a secret.
func secretBelow(root, path string) bool {
	rel, ok := strings.CutPrefix(path, root+"/")
	return ok && slices.ContainsFunc(strings.Split(rel, "/"), secretName)
}

// roots are the folders that are searched for secrets: the workspace, and what commands may read outside of it or in
// the host's own folder.
func (s *Shell) roots() []string {
	out := []string{s.root}
	for _, r := range append(slices.Clone(s.opts.ReadOnly), s.opts.Skills) {
		target, err := filepath.EvalSymlinks(r)
		if err != nil || r != s.opts.Skills && inside(target, s.root) {
			continue
		}
		if info, err := os.Stat(target); err == nil && info.IsDir() && !slices.Contains(out, target) {
			out = append(out, target)
		}
	}
	return out
}

// tree is the cached tree of a folder.
func (s *Shell) tree(root string) *nametree.Tree {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.trees[root]
	if t == nil {
		o := nametree.Options{Kind: nameKind, Whole: secretKind, Exclude: slices.Clone(s.opts.Exclude)}
		if s.opts.State != "" && s.opts.State != root {
			o.Exclude = append(o.Exclude, s.opts.State) // it is hidden, except for those that have their own root
		}
		t = nametree.New(root, o)
		s.trees[root] = t
	}
	return t
}

// names searches all folders. An error means that the secrets are unknown.
func (s *Shell) names(ctx context.Context) (names, error) {
	var out names
	for _, root := range s.roots() {
		found, err := s.tree(root).Find(ctx)
		if large, ok := errors.AsType[*nametree.TooLargeError](err); ok {
			return names{}, s.tooLarge(large)
		}
		if err != nil {
			if _, gone := os.Lstat(root); root != s.root && errors.Is(gone, fs.ErrNotExist) {
				continue
			}
			return names{}, fmt.Errorf("look for files that commands must not find: %w", err)
		}
		for _, p := range found {
			if p.Path == s.opts.State || slices.Contains(s.opts.Exclude, p.Path) || p.Link && leadsNowhere(p.Path) {
				continue
			}
			if p.Kind&^steeringKind != 0 { // or the folder cannot be read
				out.secrets = append(out.secrets, p.Path)
			}
			if p.Kind&steeringKind != 0 {
				out.steering = append(out.steering, p.Path)
			}
		}
	}
	return out, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// leadsNowhere reports whether no program can follow a symbolic link. A link to a file that does not exist yet does
// not count, since the file may be created.
func leadsNowhere(link string) bool {
	_, err := os.Stat(link)
	return err != nil && !errors.Is(err, fs.ErrNotExist)
}

// tooLarge says what to do about a folder that is too large to be searched.
func (s *Shell) tooLarge(e *nametree.TooLargeError) error {
	folder := filepath.Join(e.Root, e.Folder)
	if rel, err := filepath.Rel(s.root, folder); err == nil && filepath.IsLocal(rel) {
		folder = rel
	}
	return fmt.Errorf("nothing runs here, because it is not known which files have to be hidden from commands: %s. Most of it is in the folder %q; "+
		"whoever runs this host can move it out of the project, or hide it from commands as a whole with permissions.exec.exclude in ship.json", e.Why, folder)
}

// hides reports whether a path is hidden from programs.
func (s *Shell) hides(path string) bool {
	within := func(dir string) bool { return inside(path, dir) }
	if slices.ContainsFunc(s.opts.Hidden, within) || slices.ContainsFunc(s.opts.Exclude, within) {
		return true
	}
	if s.opts.State != "" && inside(path, s.opts.State) {
		return !inside(path, s.opts.Skills) || secretBelow(s.opts.Skills, path)
	}
	return secretBelow(s.root, path)
}

// hidden returns the files and folders that a program must not find at the moment, and all names that matter.
func (s *Shell) hidden(ctx context.Context) (all []string, found names, err error) {
	if !s.contains() {
		return nil, names{}, nil // without a sandbox nothing can be hidden
	}
	if found, err = s.names(ctx); err != nil {
		return nil, names{}, err
	}
	out := slices.Concat(s.opts.Hidden, found.secrets)
	for _, folder := range s.opts.Exclude {
		if _, err := os.Lstat(folder); err == nil {
			out = append(out, folder)
		}
	}
	if s.opts.State != "" {
		out = append(out, s.opts.State)
	}
	slices.Sort(out)
	return slices.Compact(out), found, nil
}

// steering are the files that a program must not change or create. If a symbolic link that a program could replace leads
// to one of them, it is an error.
func (s *Shell) steering(found names) (steering.Files, error) {
	if !s.contains() {
		return steering.Files{}, nil
	}
	files := steering.In(s.root, found.steering, s.opts.ReadOnly)
	if len(files.Loose) > 0 {
		return files, fmt.Errorf("nothing runs here, because %s is a symbolic link: a command could put something else in its place, which the agent or programs of people would obey. "+
			"Whoever works on the project can put there what it leads to", strings.TrimPrefix(files.Loose[0], s.root+"/"))
	}
	return files, nil
}
