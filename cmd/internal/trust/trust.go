package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/shipmyagent/shipmyagent/config"
)

// Variable holds the digest of what is agreed to, for hosts without a store, such as
// containers. Only the environment of the process counts, never the .env of a project.
const Variable = "SMA_TRUST"

// maxFile bounds what is read of the store.
const maxFile = 4 << 20

// ErrNoPlace says that there is no folder outside of the project for the store.
var ErrNoPlace = errors.New("there is no place outside of the folder to remember it: set XDG_STATE_HOME, or give the digest in " + Variable)

// document is the file of the store.
type document struct {
	Version int               `json:"version"`
	Folders map[string]string `json:"folders"` // digest by resolved path
}

// Store is what was agreed to for one folder.
type Store struct {
	file   string
	folder string // resolved
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

// Check is nil if a folder may reach what its settings name. It is a
// [*config.UntrustedError] if that is not agreed to, with the reason why the store
// cannot be used if there is one.
func Check(env func(string) (string, bool), folder string, reaches []config.Reach) error {
	if len(reaches) == 0 {
		return nil
	}
	digest := config.Digest(reaches)
	if given, _ := env(Variable); given == digest {
		return nil
	}
	untrusted := &config.UntrustedError{Reaches: reaches}
	s, err := Open(env, folder)
	if errors.Is(err, ErrNoPlace) {
		return untrusted
	}
	if err != nil {
		return errors.Join(untrusted, err)
	}
	known, err := s.Digest()
	switch {
	case err != nil:
		return errors.Join(untrusted, err)
	case known != digest:
		return untrusted
	}
	return nil
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
	return s.change(func(d *document) { d.Folders[s.folder] = digest })
}

// Forget takes back what was agreed to for the folder.
func (s *Store) Forget() error {
	return s.change(func(d *document) { delete(d.Folders, s.folder) })
}

func (s *Store) change(edit func(*document)) error {
	if err := os.MkdirAll(filepath.Dir(s.file), 0o700); err != nil {
		return err
	}
	d, err := s.read()
	if err != nil {
		return err
	}
	edit(&d)
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return replace(s.file, append(text, '\n'))
}

// read reads the store, which is empty if there is none. A store that others can
// change says nothing.
func (s *Store) read() (document, error) {
	d := document{Version: 1, Folders: map[string]string{}}
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
	f, err := os.OpenFile(s.file, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err != nil {
		return d, err
	}
	defer func() { _ = f.Close() }() // it was only read
	if info, err = f.Stat(); err != nil {
		return d, err
	}
	if err := private(s.file, info); err != nil {
		return d, err
	}
	if !info.Mode().IsRegular() {
		return d, fmt.Errorf("%s is no regular file", s.file)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return d, err
	}
	if err := json.Unmarshal(text, &d); err != nil || d.Version != 1 || d.Folders == nil {
		return document{}, fmt.Errorf("%s cannot be read; remove it and agree again", s.file)
	}
	for folder, digest := range d.Folders {
		if !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(digest) {
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

// replace writes a file whole or not at all.
func replace(path string, text []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".trust-*") // of mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // a leftover has no effect
		}
	}()
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
