// Package trustfile stores, outside of every project, that the owner approved what the settings of
// a folder may reach outside of it: one digest for each folder. A folder from others can change
// everything inside of itself, but not this file.
package trustfile

import (
	"context"
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

// Variable is the environment variable with the approved digest, for hosts without a store, such as
// containers. It is read from the environment of the process only, never from the .env of a project.
const Variable = "SMA_TRUST"

// maxFile is the longest file that is read.
const maxFile = 4 << 20

// ErrNoStateDir means that there is no folder outside of the project for the store.
var ErrNoStateDir = errors.New("there is no place outside of the folder to remember it: set XDG_STATE_HOME, or give the digest in " + Variable)

type content struct {
	Version int               `json:"version"`
	Folders map[string]string `json:"folders"` // digest by resolved path
}

// Store stores the approval of one folder.
type Store struct {
	doc    document.File[content]
	folder string // resolved
}

// Open finds the store for a folder. It makes no files. env is the environment of the process.
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
		return nil, ErrNoStateDir
	}
	path := filepath.Join(base, "sma", "trust.json")
	at, err := resolved(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	if rel, err := filepath.Rel(folder, at); err != nil || filepath.IsLocal(rel) {
		return nil, ErrNoStateDir
	}
	return &Store{folder: folder, doc: document.File[content]{
		Path: path, Max: maxFile, Lock: document.NewLock(filepath.Join(filepath.Dir(path), ".trust.lock")), Trust: func(info fs.FileInfo) error { return private(path, info) },
		Decode: func(raw []byte) (content, error) { return decode(raw, path) }, Encode: document.Indented[content],
	}}, nil
}

// resolved follows the symbolic links of a path, of which only the beginning may exist.
func resolved(path string) (string, error) {
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		to, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(to, rest), nil
		}
		// What is there now and is no link was made by another process a moment ago.
		info, lstat := os.Lstat(at)
		if lstat == nil && info.Mode()&fs.ModeSymlink != 0 || !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			return "", fmt.Errorf("find the place of what is agreed to: %w", err)
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// Agreed reports whether a digest is approved for a folder, in the environment or in the store. The
// error says why the store cannot be used. On a machine without a place for a store, nothing is
// approved.
func Agreed(env func(string) (string, bool), folder, digest string) (bool, error) {
	if given, _ := env(Variable); given == digest {
		return true, nil
	}
	s, err := Open(env, folder)
	if errors.Is(err, ErrNoStateDir) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	known, err := s.Digest()
	return err == nil && known == digest, err
}

// Digest returns the digest that is approved for the folder, or an empty one.
func (s *Store) Digest() (string, error) {
	if err := s.folderIsPrivate(); err != nil {
		return "", err
	}
	c, err := s.doc.Read()
	return c.Folders[s.folder], err
}

// Agree approves a digest for the folder.
func (s *Store) Agree(digest string) error {
	return s.change(func(c *content) { c.Folders[s.folder] = digest })
}

// Forget withdraws the approval of the folder.
func (s *Store) Forget() error {
	return s.change(func(c *content) { delete(c.Folders, s.folder) })
}

func (s *Store) change(edit func(*content)) error {
	if err := s.folderIsPrivate(); err != nil {
		return err
	}
	return s.doc.Change(context.Background(), func(c *content) error {
		edit(c)
		return nil
	})
}

// decode leaves out values that are not digests.
func decode(raw []byte, path string) (content, error) {
	c := content{Version: 1, Folders: map[string]string{}}
	if raw == nil {
		return c, nil
	}
	if err := json.Unmarshal(raw, &c); err != nil || c.Version != 1 || c.Folders == nil {
		return content{}, fmt.Errorf("%s cannot be read; remove it and agree again", path)
	}
	digests := regexp.MustCompile(`^[0-9a-f]{64}$`)
	for folder, digest := range c.Folders {
		if !digests.MatchString(digest) {
			delete(c.Folders, folder)
		}
	}
	return c, nil
}

// folderIsPrivate refuses a store in a folder that others can change. The folder may be missing.
func (s *Store) folderIsPrivate() error {
	dir := filepath.Dir(s.doc.Path)
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return private(dir, info)
}

// private refuses a file or folder that another user may have written.
func private(path string, info fs.FileInfo) error {
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("others can change %s, so it is not used; run: chmod go-w %s", path, path)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() && stat.Uid != 0 {
		return fmt.Errorf("%s belongs to somebody else, so it is not used", path)
	}
	return nil
}
