package shell

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
)

const (
	// maxFolders bounds the folders in which relative names of a command are looked up.
	maxFolders = 32
	// maxRead bounds the bytes of data files that are hashed; beyond that, files are identified by size and time.
	// maxPinned bounds the size of executed files.
	maxRead   = 256 << 20
	maxPinned = 128 << 20
)

// file is a file of the workspace that a command names.
type file struct {
	Path   string // relative to the workspace
	Digest string
}

// named is what a command names in the workspace: digests of all files, sorted, and the executed files with the
// content that was hashed.
type named struct {
	files []file
	pins  []sandbox.Pin
}

// look finds the files that a request's words name. It only reads.
func (s *Shell) look(r *request, dir string) (named, error) {
	f := finder{shell: s, bases: []string{dir}, found: map[string][]string{}}
	read := &reading{files: f.find, dir: dir, root: s.root, words: map[string]bool{}, runs: map[string]bool{}, read: map[nested]bool{}}
	scan := func() error {
		if r.Command != "" {
			return read.text(r.Command, 0)
		}
		for _, w := range r.Argv {
			read.name(w)
		}
		read.program(r.Argv, nil, true, 0)
		return read.err
	}
	if err := scan(); err != nil {
		return named{}, fmt.Errorf("the command cannot be read: %w", err)
	}
	// Other names may be relative to folders that the command names: cd x && ./y.
	for _, w := range slices.Sorted(maps.Keys(read.words)) {
		f.base(w)
	}
	if len(f.bases) > 1 {
		clear(f.found)
		clear(read.read)
		if err := scan(); err != nil {
			return named{}, fmt.Errorf("the command cannot be read: %w", err)
		}
	}
	paths := map[string]bool{}
	for w := range read.words {
		for _, p := range f.find(w) {
			paths[p] = true
		}
	}
	for p := range read.runs {
		paths[p] = true
	}
	if len(paths) > maxWords {
		return named{}, errManyWords
	}
	return s.digest(paths, func(p string) bool { return read.all || read.runs[p] })
}

// finder finds files of the workspace that the words of a command name.
type finder struct {
	shell *Shell
	bases []string // folders that names may be relative to
	// found caches the files by word, because a long command repeats words.
	found map[string][]string
}

// paths are the paths in the workspace that a word may mean.
func (f *finder) paths(word string) []string {
	if word == "" || len(word) > 4096 || strings.ContainsRune(word, 0) {
		return nil
	}
	var out []string
	add := func(p string) {
		if p = filepath.Clean(p); inside(p, f.shell.root) && !f.shell.hides(p) {
			out = append(out, p)
		}
	}
	if filepath.IsAbs(word) {
		add(word)
		if rel, err := filepath.Rel(f.shell.opts.Workspace, word); err == nil && filepath.IsLocal(rel) {
			add(filepath.Join(f.shell.root, rel))
		}
		return out
	}
	for _, base := range f.bases {
		add(filepath.Join(base, word))
	}
	return out
}

// find are the files that a word may name.
func (f *finder) find(word string) []string {
	found, ok := f.found[word]
	if !ok {
		found = slices.DeleteFunc(f.paths(word), func(p string) bool {
			info, err := os.Stat(p)
			return err != nil || !info.Mode().IsRegular()
		})
		f.found[word] = found
	}
	return found
}

// base adds a word that names a folder to the bases.
func (f *finder) base(word string) {
	for _, p := range f.paths(word) {
		info, err := os.Stat(p)
		if err == nil && info.IsDir() && !slices.Contains(f.bases, p) && len(f.bases) < maxFolders {
			f.bases = append(f.bases, p)
		}
	}
}

// digest reads files. A file that is executed is read once, so that its digest matches the content that the program
// gets.
func (s *Shell) digest(paths map[string]bool, runs func(string) bool) (named, error) {
	root, err := os.OpenRoot(s.root)
	if err != nil {
		return named{}, fmt.Errorf("open the workspace: %w", err)
	}
	defer func() { _ = root.Close() }() // opened for reading only
	var out named
	data, pinned := int64(maxRead), int64(maxPinned)
	for _, p := range slices.Sorted(maps.Keys(paths)) {
		rel := cmp.Or(strings.TrimPrefix(strings.TrimPrefix(p, s.root), "/"), ".")
		f, err := openFile(root, rel)
		if err != nil {
			continue // removed, or outside of the workspace
		}
		var bytes []byte
		entry := file{Path: rel}
		if runs(p) {
			entry.Digest, bytes, err = s.pin(f, p, &pinned)
			out.pins = append(out.pins, sandbox.Pin{Path: p, Data: bytes})
		} else {
			entry.Digest, err = sum(f, &data)
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return named{}, fmt.Errorf("check %s, which the command names: %w", rel, err)
		}
		out.files = append(out.files, entry)
	}
	return out, nil
}

// openFile opens a regular file, without blocking on anything else.
func openFile(root *os.Root, rel string) (*os.File, error) {
	f, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not an ordinary file")
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// pin reads a file that is executed. Its path must not contain symbolic links, because they could lead elsewhere when
// the command runs.
func (s *Shell) pin(f *os.File, path string, room *int64) (string, []byte, error) {
	if direct, err := filepath.EvalSymlinks(path); err != nil || direct != path {
		rel, relErr := filepath.Rel(s.root, direct)
		if err != nil || relErr != nil {
			return "", nil, errors.New("it could not be followed")
		}
		return "", nil, fmt.Errorf("a symbolic link leads to it; name the file itself, which is %s", rel)
	}
	data, err := io.ReadAll(io.LimitReader(f, *room+1))
	if err != nil {
		return "", nil, err
	}
	if *room -= int64(len(data)); *room < 0 {
		return "", nil, fmt.Errorf("files that a command executes have at most %d MiB", maxPinned>>20)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), data, nil
}

// sum is the digest of a data file.
func sum(f *os.File, room *int64) (string, error) {
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if info.Size() > *room {
		return fmt.Sprintf("%d bytes of %d", info.Size(), info.ModTime().UnixNano()), nil
	}
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, *room))
	*room -= n
	return hex.EncodeToString(h.Sum(nil)), err
}
