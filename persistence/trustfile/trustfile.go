// Package trustfile remembers, outside of every project, what its owner agreed to that the
// settings of a folder reach outside of it: one digest for a folder. A folder from others
// can change everything inside of itself, and nothing here.
package trustfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"syscall"

	"github.com/shipmyagent/shipmyagent/persistence/document"
)

// Variable holds the digest of what is agreed to, for hosts without a store, such as
// containers. Only the environment of the process counts, never the .env of a project.
const Variable = "SMA_TRUST"

// maxFile bounds what is read of the store.
const maxFile = 4 << 20

// ErrNoPlace says that there is no folder outside of the project for the store.
var ErrNoPlace = errors.New("there is no place outside of the folder to remember it: set XDG_STATE_HOME, or give the digest in " + Variable)

// content is the file of the store.
type content struct {
	Version int               `json:"version"`
	Folders map[string]string `json:"folders"` // digest by resolved path
}

// Store is what was agreed to for one folder.
type Store struct {
	file   string
	folder string // resolved
	disk   document.Disk
}

// Open finds the store for a folder. It makes nothing. env is that of the process.
func Open(env func(string) (string, bool), folder string) (*Store, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	if folder, err = filepath.EvalSymlinks(folder); err != nil {
		return nil, err
	}
	base, _ := env("XDG_STATE_HOME")
	if home, _ := env("HOME"); !filepath.IsAbs(base) && filepath.IsAbs(home) {
		base = filepath.Join(home, ".local", "state")
	}
	if !filepath.IsAbs(base) {
		return nil, ErrNoPlace
	}
	s := &Store{file: filepath.Join(base, "sma", "trust.json"), folder: folder}
	at, err := resolved(filepath.Dir(s.file))
	if err != nil {
		return nil, err
	}
	if rel, err := filepath.Rel(folder, at); err != nil || filepath.IsLocal(rel) {
		return nil, ErrNoPlace
	}
	return s, nil
}

// resolved is where a path leads, of which only the beginning may exist.
func resolved(path string) (string, error) {
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		to, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(to, rest), nil
		}
		if _, lstat := os.Lstat(at); lstat == nil || !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			return "", fmt.Errorf("find the place of what is agreed to: %w", err)
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// Agreed reports whether a digest is agreed to for a folder, in the environment or in the
// store. The error says why the store cannot be used; a machine that has no place for one
// has agreed to nothing.
func Agreed(env func(string) (string, bool), folder, digest string) (bool, error) {
	if given, _ := env(Variable); given == digest {
		return true, nil
	}
	s, err := Open(env, folder)
	if errors.Is(err, ErrNoPlace) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	known, err := s.Digest()
	return err == nil && known == digest, err
}

// Digest is what was agreed to for the folder; empty: nothing.
func (s *Store) Digest() (string, error) {
	d, err := s.read()
	if err != nil {
		return "", err
	}
	return d.Folders[s.folder], nil
}

// Agree remembers a digest for the folder.
func (s *Store) Agree(digest string) error {
	return s.change(func(d *content) { d.Folders[s.folder] = digest })
}

// Forget takes back what was agreed to for the folder.
func (s *Store) Forget() error {
	return s.change(func(d *content) { delete(d.Folders, s.folder) })
}

func (s *Store) change(edit func(*content)) error {
	d, err := s.read()
	if err != nil {
		return err
	}
	edit(&d)
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return s.disk.Write(s.file, append(text, '\n'))
}

// read reads the store, which is empty if there is none. A store that others can
// change says nothing.
func (s *Store) read() (content, error) {
	d := content{Version: 1, Folders: map[string]string{}}
	info, err := os.Stat(filepath.Dir(s.file))
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err == nil {
		err = private(filepath.Dir(s.file), info)
	}
	if err != nil {
		return d, err
	}
	text, err := document.ReadOwn(s.file, maxFile, func(info fs.FileInfo) error { return private(s.file, info) })
	if err != nil || text == nil {
		return d, err
	}
	if err := json.Unmarshal(text, &d); err != nil || d.Version != 1 || d.Folders == nil {
		return content{}, fmt.Errorf("%s cannot be read; remove it and agree again", s.file)
	}
	digests := regexp.MustCompile(`^[0-9a-f]{64}$`)
	for folder, digest := range d.Folders {
		if !digests.MatchString(digest) {
			delete(d.Folders, folder)
		}
	}
	return d, nil
}

// private refuses what somebody else may have written.
func private(path string, info fs.FileInfo) error {
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("others can change %s, so it says nothing; run: chmod go-w %s", path, path)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() && stat.Uid != 0 {
		return fmt.Errorf("%s belongs to somebody else, so it says nothing", path)
	}
	return nil
}
