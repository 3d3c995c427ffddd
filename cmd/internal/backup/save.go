package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/secretfile"
	"github.com/shipmyagent/shipmyagent/persistence/chatpath"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
)

const (
	// settled is how long the files of a chat must not have changed: longer than the clock of a file system takes
	// to advance, so that a change while they are copied has another time.
	settled = 20 * time.Millisecond
	// attempts is how often a chat is copied again because it changed meanwhile.
	attempts = 200
)

// Options say what to copy, and where to.
type Options struct {
	Project, State string // the folders, absolute
	To             string // the folder of the backup, which must not exist or be empty
	Version        string // of the program
	// Progress, if not nil, is called after each chat.
	Progress func(done, of int)
}

// Report is what a backup holds.
type Report struct {
	Folder string `json:"folder"`
	Chats  int    `json:"chats"`
	Files  int    `json:"files"`
	Bytes  int64  `json:"bytes"`
	// Damaged are chats with damage. They were copied as they are.
	Damaged []messages.ChatKey `json:"damaged,omitempty"`
	// Skipped are files that are no regular files or links, such as sockets of the project.
	Skipped []string `json:"skipped,omitempty"`
}

type saving struct {
	Options
	state, project *os.Root
	files          []File
	report         Report
}

// Save makes a backup and verifies the chats in it. If it fails, what was copied so far stays, without a list.
func Save(ctx context.Context, o Options) (Report, error) {
	s := &saving{Options: o, report: Report{Folder: o.To}}
	if err := s.makeFolder(); err != nil {
		return Report{}, err
	}
	var err error
	if s.state, err = os.OpenRoot(o.State); err != nil {
		return Report{}, err
	}
	defer func() { _ = s.state.Close() }() // only read
	if s.project, err = os.OpenRoot(o.Project); err != nil {
		return Report{}, err
	}
	defer func() { _ = s.project.Close() }() // only read
	err = s.save(ctx)
	return s.report, err
}

func (s *saving) save(ctx context.Context) (err error) {
	began := time.Now()
	if err := s.chats(ctx); err != nil {
		return err
	}
	if err := s.tree(ctx, s.state, stateName, skipsState); err != nil {
		return err
	}
	if err := s.tree(ctx, s.project, projectName, s.skipsProject); err != nil {
		return err
	}
	unix.Sync() // one for all files
	if err := writeList(s.To, head{version, began.UTC(), s.Version}, s.files); err != nil {
		return fmt.Errorf("write the list of the backup: %w", err)
	}
	for _, f := range s.files {
		s.report.Bytes += f.Bytes
	}
	s.report.Files = len(s.files)
	s.report.Damaged, err = damaged(ctx, filepath.Join(s.To, stateName))
	return err
}

// makeFolder makes the folder of the backup, which must be outside of what is copied: what is inside is read by the
// agent, and would be part of the next backup.
func (s *saving) makeFolder() error {
	for _, dir := range []string{s.Project, s.State} {
		if rel, err := filepath.Rel(dir, s.To); err == nil && filepath.IsLocal(rel) {
			return fmt.Errorf("%s is inside of %s, which is to be copied", s.To, dir)
		}
	}
	if err := os.MkdirAll(s.To, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(s.To)
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s is not empty", s.To)
	}
	return err
}

func (s *saving) chats(ctx context.Context) error {
	inspector, err := filestore.Inspect(filestore.Options{Dir: s.State})
	if err != nil {
		return err
	}
	var keys []messages.ChatKey
	for key, err := range inspector.Chats(ctx) {
		if err != nil {
			return err
		}
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for n, key := range keys {
		if err := s.chat(ctx, key); err != nil {
			return fmt.Errorf("copy the chat %s: %w", key, err)
		}
		if s.Progress != nil {
			s.Progress(n+1, len(keys))
		}
	}
	s.report.Chats = len(keys)
	return nil
}

// chat copies the files of a chat in a moment in which none of them changes, with the mark of a chat that has work.
func (s *saving) chat(ctx context.Context, key messages.ChatKey) error {
	folder, err := chatpath.Encode(key)
	if err != nil {
		return err
	}
	parts := []string{path.Join("chat", folder), path.Join("open", strconv.Itoa(int(chatpath.Shard(key))), folder)}
	for range attempts {
		before, err := s.look(parts)
		if err != nil {
			return err
		}
		if wait := settled - time.Since(before.changed); 0 < wait && wait <= settled { // not if the clock is behind the files
			if err := pause(ctx, wait); err != nil {
				return err
			}
			continue
		}
		files, err := s.copyAll(ctx, before.names)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		after, lookErr := s.look(parts)
		if lookErr != nil {
			return lookErr
		}
		if err == nil && before.same(after) {
			s.files = append(s.files, files...)
			return nil
		}
	}
	return errors.New("it changed all the time; try again when it is quieter")
}

// seen is what the files of a chat are at a moment.
type seen struct {
	names   []string // below the state, with slashes, regular files only
	infos   map[string]fs.FileInfo
	changed time.Time // the newest change
}

func (s seen) same(o seen) bool {
	if len(s.infos) != len(o.infos) {
		return false
	}
	for name, a := range s.infos {
		b, ok := o.infos[name]
		if !ok || !os.SameFile(a, b) || a.Size() != b.Size() || !a.ModTime().Equal(b.ModTime()) {
			return false
		}
	}
	return true
}

// look lists files, and what is below folders. Those that do not exist are left out.
func (s *saving) look(parts []string) (seen, error) {
	out := seen{infos: map[string]fs.FileInfo{}}
	for _, part := range parts {
		err := fs.WalkDir(s.state.FS(), part, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			out.infos[name] = info
			if info.ModTime().After(out.changed) {
				out.changed = info.ModTime()
			}
			if info.Mode().IsRegular() {
				out.names = append(out.names, name)
			}
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return seen{}, err
		}
	}
	return out, nil
}

// copyAll copies files of the state.
func (s *saving) copyAll(ctx context.Context, names []string) ([]File, error) {
	var files []File
	for _, name := range names {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		f, err := s.copyFile(s.state, name, path.Join(stateName, name))
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// tree copies a folder without what is skipped.
func (s *saving) tree(ctx context.Context, from *os.Root, to string, skips func(name string, d fs.DirEntry) bool) error {
	return fs.WalkDir(from.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed meanwhile
		}
		if err = errors.Join(err, context.Cause(ctx)); err != nil {
			return err
		}
		if skips(name, d) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return nil
		}
		return s.single(from, name, path.Join(to, name))
	})
}

// single copies a file that is no part of a chat.
func (s *saving) single(from *os.Root, name, to string) error {
	f, err := s.copyFile(from, name, to)
	switch {
	case errors.Is(err, fs.ErrNotExist): // removed meanwhile
		return nil
	case errors.Is(err, errIrregular):
		s.report.Skipped = append(s.report.Skipped, to)
		return nil
	case err != nil:
		return err
	}
	s.files = append(s.files, f)
	return nil
}

// skipsState leaves out the chats, also those that have begun since the others were copied, what belongs to a process,
// and what is made again.
func skipsState(name string, d fs.DirEntry) bool {
	return slices.Contains([]string{"chat", "open", "lock", "index"}, name) || d.Type()&fs.ModeSocket != 0
}

// skipsProject leaves out the state, older states, and what other tools keep and restore.
func (s *saving) skipsProject(name string, d fs.DirEntry) bool {
	base := path.Base(name)
	return d.IsDir() && (filepath.Join(s.Project, filepath.FromSlash(name)) == s.State || secretfile.Aside(base) || slices.Contains([]string{".git", "node_modules"}, base))
}

var errIrregular = errors.New("not a regular file")

// copyFile copies a file or link to the backup. Of a file that grows meanwhile it copies what there was.
func (s *saving) copyFile(from *os.Root, name, to string) (File, error) {
	info, err := from.Lstat(name)
	if err != nil {
		return File{}, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := from.Readlink(name)
		return File{Path: to, Link: target}, err
	}
	if !info.Mode().IsRegular() {
		return File{}, errIrregular
	}
	in, err := from.Open(name)
	if err != nil {
		return File{}, err
	}
	defer func() { _ = in.Close() }()      // only read
	if info, err = in.Stat(); err != nil { // it may have been replaced
		return File{}, err
	}
	dest := filepath.Join(s.To, filepath.FromSlash(to))
	if err := os.MkdirAll(filepath.Dir(dest), 0o700); err != nil {
		return File{}, err
	}
	sum, n, err := writeFile(dest, info.Mode().Perm(), in, info.Size())
	return File{Path: to, Mode: info.Mode().Perm(), Bytes: n, SHA256: sum}, err
}

// writeFile writes at most n bytes to a file, replacing an earlier attempt.
func writeFile(name string, mode fs.FileMode, from io.Reader, n int64) (sum string, written int64, err error) {
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode|0o200)
	if err != nil {
		return "", 0, err
	}
	sum, written, err = copyBytes(out, from, n)
	return sum, written, errors.Join(err, out.Close())
}

// copyBytes copies at most n bytes and returns their SHA-256.
func copyBytes(to io.Writer, from io.Reader, n int64) (sum string, written int64, err error) {
	hash := sha256.New()
	written, err = io.Copy(io.MultiWriter(to, hash), io.LimitReader(from, n))
	return hex.EncodeToString(hash.Sum(nil)), written, err
}

// damaged verifies every chat of a state.
func damaged(ctx context.Context, state string) ([]messages.ChatKey, error) {
	inspector, err := filestore.Inspect(filestore.Options{Dir: state})
	if err != nil {
		return nil, err
	}
	var bad []messages.ChatKey
	for key, err := range inspector.Chats(ctx) {
		if err != nil {
			return nil, err
		}
		report, err := inspector.Verify(ctx, key)
		if err != nil {
			return nil, err
		}
		if len(report.Damage()) > 0 {
			bad = append(bad, key)
		}
	}
	slices.Sort(bad)
	return bad, nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
