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

// stagingName is the folder, next to the state and in the project, that a restore works in. The agent cannot read folders
// with this name, and backups leave them out: they have the private texts of all chats, and remain if the process is killed.
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

// Unfinished reports whether a restore into a state folder has begun and has not put it in place.
func Unfinished(state string) bool {
	_, missing := os.Lstat(state)
	_, staging := os.Lstat(filepath.Join(filepath.Dir(state), stagingName))
	return missing != nil && staging == nil
}

// Restore puts a backup back. It fails with [ErrNoBackup] or [ErrOccupied] before it has written anything. If it fails
// later, neither the state nor a file of the project is there. What a killed process has put back does not matter to the
// next restore of the same backup.
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
	out := Restored{Made: h.At, Files: len(files)}
	if out.Damaged, err = t.putAll(ctx, root, files); err != nil {
		return Restored{}, err
	}
	unix.Sync()
	return out, nil
}

// putAll writes all files into staging folders and then moves them to their places. Links come last, so that no file is written
// through one.
func (t Target) putAll(ctx context.Context, from *os.Root, files []File) (bad []messages.ChatKey, err error) {
	roots := map[string]*os.Root{}
	for name, dir := range map[string]string{stateName: filepath.Dir(t.State), projectName: t.Project} {
		staging := filepath.Join(dir, stagingName)
		if err := os.RemoveAll(staging); err != nil {
			return nil, err
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		if roots[name], err = os.OpenRoot(dir); err != nil {
			return nil, err
		}
		defer func() { _ = errors.Join(os.RemoveAll(staging), roots[name].Close()) }() // what stays is closed to the agent
	}
	if err := roots[stateName].MkdirAll(path.Join(stagingName, stateName), 0o700); err != nil {
		return nil, err
	}
	for _, links := range []bool{false, true} {
		for _, f := range files {
			if (f.Link != "") != links {
				continue
			}
			top, _, _ := strings.Cut(f.Path, "/")
			if err := context.Cause(ctx); err != nil {
				return nil, err
			}
			if err := f.put(from, roots[top]); err != nil {
				return nil, err
			}
		}
	}
	state := filepath.Join(filepath.Dir(t.State), stagingName, stateName)
	if bad, err = damaged(ctx, state); err != nil {
		return nil, err
	}
	unix.Sync() // one for all files
	return bad, place(ctx, roots[projectName], files, func() error { return os.Rename(state, t.State) })
}

// place moves the files of the project to their places, and then does the rest. If it fails, it takes them back.
func place(ctx context.Context, project *os.Root, files []File, rest func() error) (err error) {
	var done []string
	defer func() {
		for _, name := range done {
			if err != nil {
				_ = project.Remove(name) // the error says what failed
			}
		}
	}()
	for _, f := range files {
		name, ok := strings.CutPrefix(f.Path, projectName+"/")
		if !ok {
			continue
		}
		there, err := f.there(project, name)
		if err = errors.Join(err, context.Cause(ctx)); err != nil {
			return err
		}
		if there {
			continue
		}
		if err := errors.Join(project.MkdirAll(path.Dir(name), 0o700), project.Rename(path.Join(stagingName, f.Path), name)); err != nil {
			return err
		}
		done = append(done, name)
	}
	unix.Sync()
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
	project, err := os.OpenRoot(t.Project)
	if err == nil {
		defer func() { _ = project.Close() }() // only read
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
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
		if name, ok := strings.CutPrefix(f.Path, projectName+"/"); ok && project != nil {
			if _, err := f.there(project, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// there reports whether a file is in its place already. It fails with [ErrOccupied] if something else is.
func (f File) there(project *os.Root, name string) (bool, error) {
	info, err := project.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	same := false
	switch {
	case err != nil:
	case f.Link != "":
		to, err := project.Readlink(name)
		same = err == nil && to == f.Link
	case info.Mode().IsRegular():
		same = File{Path: name, Bytes: f.Bytes, SHA256: f.SHA256}.read(project, io.Discard) == nil
	}
	if same {
		return true, nil
	}
	return false, errors.Join(fmt.Errorf("%w: there is a file %s", ErrOccupied, filepath.Join(project.Name(), name)), err)
}

// put writes a file into a staging folder.
func (f File) put(from, root *os.Root) error {
	to := path.Join(stagingName, f.Path)
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
	return errors.Join(f.read(from, out), out.Chmod(f.Mode.Perm()), out.Close())
}
