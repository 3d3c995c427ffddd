package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/shipmyagent/shipmyagent/messages"
)

// stagingName is the folder beside the state that a restore works in. The agent cannot read folders with this
// name, and backups leave them out: they have the private texts of all chats, and remain after a failed restore.
const stagingName = ".ship.restoring"

// Target says where a backup goes to.
type Target struct {
	From           string // the folder of the backup
	Project, State string // the folders, absolute
	// OnlyState leaves the project's files as they are.
	OnlyState bool
}

// Restored is what a restore has put back.
type Restored struct {
	Made    time.Time          `json:"made"` // when the backup was made
	Files   int                `json:"files"`
	Damaged []messages.ChatKey `json:"damaged,omitempty"`
}

// ErrOccupied means that a restore would replace something.
var ErrOccupied = errors.New("a restore replaces nothing")

// Restore puts a backup back. It fails with [ErrNoBackup] or [ErrOccupied] before it has written anything. If it fails
// later, neither the state nor a file of the project is there.
func Restore(ctx context.Context, t Target) (Restored, error) {
	h, files, err := readList(t.From)
	if err != nil {
		return Restored{}, err
	}
	root, err := os.OpenRoot(t.From)
	if err != nil {
		return Restored{}, err
	}
	defer func() { _ = root.Close() }() // only read
	if t.OnlyState {
		files = stateOnly(files)
	}
	if err := t.check(ctx, root, files); err != nil {
		return Restored{}, err
	}
	staging := filepath.Join(filepath.Dir(t.State), stagingName)
	out := Restored{Made: h.At, Files: len(files)}
	err = t.putAll(ctx, root, files, staging, func() (err error) {
		if out.Damaged, err = damaged(ctx, staging); err != nil {
			return err
		}
		unix.Sync() // one for all files
		return os.Rename(staging, t.State)
	})
	if err != nil {
		return Restored{}, err
	}
	unix.Sync()
	return out, nil
}

// putAll writes the files, those of the state below staging, and then does the rest. Links come last, so that no file is
// written through one. If it fails, it removes the files of the project, which another restore would not replace.
func (t Target) putAll(ctx context.Context, from *os.Root, files []File, staging string, rest func() error) (err error) {
	if err := os.RemoveAll(staging); err != nil {
		return err
	}
	roots := map[string]*os.Root{}
	for name, dir := range map[string]string{stateName: staging, projectName: t.Project} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return err
		}
		defer func() { _ = root.Close() }() // its files are closed by themselves
		roots[name] = root
	}
	var done []string // of the project
	defer func() {
		for _, name := range done {
			if err != nil {
				_ = roots[projectName].Remove(name) // the error says what failed
			}
		}
	}()
	for _, links := range []bool{false, true} {
		for _, f := range files {
			if (f.Link != "") != links {
				continue
			}
			top, name, _ := strings.Cut(f.Path, "/")
			if err := context.Cause(ctx); err != nil {
				return err
			}
			if err := f.put(from, roots[top], name); err != nil {
				return err
			}
			if top == projectName {
				done = append(done, name)
			}
		}
	}
	return rest()
}

func stateOnly(files []File) []File {
	var out []File
	for _, f := range files {
		if strings.HasPrefix(f.Path, stateName+"/") {
			out = append(out, f)
		}
	}
	return out
}

// check reads the whole backup and compares it with the list, and with what is there already.
func (t Target) check(ctx context.Context, root *os.Root, files []File) error {
	if _, err := os.Lstat(t.State); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("%w: there is a state in %s", ErrOccupied, t.State), err)
	}
	for _, f := range files {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if f.Link == "" {
			if err := f.read(root, io.Discard); err != nil {
				return err
			}
		}
		if strings.HasPrefix(f.Path, stateName+"/") {
			continue
		}
		name := filepath.Join(t.Project, filepath.FromSlash(strings.TrimPrefix(f.Path, projectName+"/")))
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(fmt.Errorf("%w: there is a file %s", ErrOccupied, name), err)
		}
	}
	return nil
}

// put writes a file, which must not exist, completely or not at all.
func (f File) put(from, root *os.Root, to string) error {
	if err := root.MkdirAll(path.Dir(to), 0o700); err != nil {
		return err
	}
	if f.Link != "" {
		return root.Symlink(f.Link, to)
	}
	out, err := root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(f.read(from, out), out.Chmod(f.Mode.Perm()), out.Close()); err != nil {
		return errors.Join(err, root.Remove(to))
	}
	return nil
}
