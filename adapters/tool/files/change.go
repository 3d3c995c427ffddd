package files

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

// changer is what the tools have in common that change a file.
type changer struct {
	tool.Described

	w *Workspace
	// input reads from a call which file to change, and how.
	input func(tool.Call) (path string, how rewrite, err error)
}

// CheckCall implements [tool.Checker]. Every change needs approval or is refused.
func (c *changer) CheckCall(call tool.Call) tool.Verdict {
	path, _, err := c.input(call)
	if err != nil {
		return tool.Verdict{Decision: tool.Deny, Reason: err.Error()}
	}
	return c.w.check(path)
}

func (c *changer) Explain(call tool.Call) (tool.Explanation, error) {
	path, how, err := c.input(call)
	if err != nil {
		return tool.Explanation{}, err
	}
	planned, err := c.w.plan(path, how)
	if err != nil {
		return tool.Explanation{}, err
	}
	defer planned.close()
	return planned.explain()
}

func (c *changer) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	path, how, err := c.input(call)
	if err != nil {
		return tool.Result{}, err
	}
	made, err := c.w.apply(ctx, call, path, how)
	if err != nil {
		return tool.Result{}, err
	}
	return made.result()
}

// change is what a call would change in a file.
type change struct {
	tree   *tree
	place  *place
	ward   ward
	before []byte // the old content; nil if it is absent or must not be read
	size   int64
	sum    string // digest of the file's bytes, or "absent"
	after  []byte
}

func (c *change) close() {
	c.place.close()
	c.tree.close()
}

func (c *change) absent() bool { return c.place.info == nil }

// rewrite makes the new content of a file from the old one. If the file must not be read, old is nil and hidden is
// true.
type rewrite func(old []byte, absent, hidden bool) ([]byte, error)

// plan determines what a call would do, without side effects.
func (w *Workspace) plan(asked string, how rewrite) (*change, error) {
	asked, err := w.local(asked)
	if err != nil {
		return nil, err
	}
	t, err := w.tree()
	if err != nil {
		return nil, err
	}
	p, err := t.find(asked)
	if err != nil {
		t.close()
		return nil, err
	}
	c := &change{tree: t, place: p, ward: w.guard.of(p.path), sum: "absent"}
	if err := c.fill(how); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *change) fill(how rewrite) error {
	if err := refused(c.place.path, c.ward.noWrite); err != nil {
		return err
	}
	old, err := c.read()
	if err != nil {
		return err
	}
	hidden := c.ward.noRead != ""
	if !hidden {
		c.before = old
	}
	if c.after, err = how(c.before, c.absent(), hidden); err != nil {
		return err
	}
	switch {
	case len(c.after) > maxText:
		return fmt.Errorf("%w: %s would have %s; files up to %s can be written", tool.ErrInput, shown(c.place.path), bytesOf(int64(len(c.after))), bytesOf(maxText))
	case !c.absent() && digest(c.after) == c.sum:
		return fmt.Errorf("%w: %s holds exactly that already; nothing is to be changed", tool.ErrInput, shown(c.place.path))
	}
	return nil
}

// read reads the file and its digest. The host may read a file that the model may not, to detect that it has changed
// since a person agreed.
func (c *change) read() ([]byte, error) {
	if c.absent() {
		return nil, nil
	}
	f, err := c.tree.look(c.place)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read from
	data, err := io.ReadAll(io.LimitReader(f, maxText+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", shown(c.place.path), cause(err))
	case len(data) > maxText:
		return nil, fmt.Errorf("%s has %s; files up to %s can be changed", shown(c.place.path), bytesOf(c.place.info.Size()), bytesOf(maxText))
	}
	c.sum, c.size = digest(data), int64(len(data))
	return data, nil
}

// bind is the digest of everything that a decision is bound to: the path, the old and the new content.
func (c *change) bind() string {
	return "file-" + digest([]byte(strings.Join([]string{c.place.path, c.sum, digest(c.after)}, "\x00")))
}

// explain describes the change to people.
func (c *change) explain() (tool.Explanation, error) {
	about := struct {
		New, Steers, Binary bool

		Path, Behaviour, Hidden, Sum string
		Before, After                int64
		Folders                      int
	}{
		New: c.absent(), Steers: c.ward.steers, Path: tool.Shorten(c.place.path, 120), Behaviour: c.ward.behaviour,
		Before: c.size, After: int64(len(c.after)), Folders: len(c.place.missing),
	}
	before := c.before
	switch {
	case c.ward.noRead != "" && !c.absent():
		about.Hidden, about.Sum = "tasks", c.sum
	case c.before != nil && kindOf(c.before[:min(len(c.before), sniffed)]) != "":
		about.Binary, about.Sum, before = true, c.sum, nil
	}
	exact := plain(c.place.path) + "\n" + unified(before, c.after)
	if len(exact) > tool.MaxExact && before != nil { // what would be written may be short enough
		about.Hidden, about.Sum = "long", c.sum
		exact = plain(c.place.path) + "\n" + unified(nil, c.after)
	}
	e, err := tool.Describe(WriteName, about)
	e.Exact, e.Bind = exact, c.bind()
	return e, err
}

// unified is the unified diff of two texts, without its header.
func unified(before, after []byte) string {
	_, hunks, _ := bytes.Cut(diff.Diff("", before, "", after), []byte("+++ \n"))
	return string(hunks)
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func (c *change) sizes() string {
	if c.absent() {
		return fmt.Sprintf("new, %d bytes", len(c.after))
	}
	return fmt.Sprintf("%d bytes before, %d bytes after", c.size, len(c.after))
}

// apply makes the change that a person agreed to, if nothing else changed.
func (w *Workspace) apply(ctx context.Context, call tool.Call, asked string, how rewrite) (*change, error) {
	if call.Bind == "" {
		return nil, fmt.Errorf("%w: nobody agreed to this change", ErrChanged)
	}
	c, err := w.plan(asked, how)
	if err != nil {
		return nil, err
	}
	at := c.place.path
	c.close()
	free, err := w.changes.Take(ctx, at)
	if err != nil {
		return nil, err
	}
	defer free()
	// Plan again in its turn, because another change of the file may just have ended.
	if c, err = w.plan(asked, how); err != nil {
		return nil, err
	}
	defer c.close()
	if c.bind() != call.Bind {
		return nil, fmt.Errorf("%w: %s has changed since a person agreed to this; look at it again and make a new call, which asks again", ErrChanged, shown(c.place.path))
	}
	if err := c.write(ctx, w, asked); err != nil {
		return nil, fmt.Errorf("write %s: %w", shown(c.place.path), err)
	}
	return c, nil
}

// write replaces the content of the file atomically. Until then the new content of a file that exists is in the host's
// own folder, where programs in the sandbox can neither change nor replace it, unless that is on another file system.
func (c *change) write(ctx context.Context, w *Workspace, asked string) error {
	dir, err := c.folders()
	if err != nil {
		return err
	}
	from := dir
	if w.opts.Stored.Root != "" && !c.absent() {
		if err := tool.MakeFolder(w.opts.Stored.Root, "."); err != nil {
			return err
		}
		if from, err = os.OpenRoot(w.opts.Stored.Root); err != nil {
			return cause(err)
		}
		defer func() { _ = from.Close() }() // opened for reading only
	}
	err = c.through(ctx, w, asked, from, dir)
	if errors.Is(err, syscall.EXDEV) {
		err = c.through(ctx, w, asked, dir, dir)
	}
	if err != nil {
		return err
	}
	return syncFolder(dir)
}

// through writes the new content to a temporary file in the folder from, and moves it to its place in dir.
func (c *change) through(ctx context.Context, w *Workspace, asked string, from, dir *os.Root) error {
	mode := fs.FileMode(0o644)
	if !c.absent() {
		mode = c.place.info.Mode().Perm()
	}
	temp := ".sma-" + rand.Text() + ".tmp"
	err := fresh(from, dir, temp, mode, !c.absent(), c.after)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = w.replace(c.place.path, func() error {
			if err := c.still(w, asked, dir); err != nil {
				return err
			}
			return c.put(from, dir, temp)
		})
	}
	if err != nil {
		return errors.Join(err, gone(from, temp))
	}
	return nil
}

// replace calls do, by which another file gets the name of a path, when no program is left that must not change it.
func (w *Workspace) replace(path string, do func() error) error {
	if w.opts.Replace == nil {
		return do()
	}
	dir, err := filepath.EvalSymlinks(w.opts.Dir)
	if err != nil {
		return cause(err)
	}
	return w.opts.Replace(filepath.Join(dir, path), do)
}

// folders creates the missing folders of the path and returns the folder of the file.
func (c *change) folders() (*os.Root, error) {
	dir := c.place.dir
	for _, name := range c.place.missing {
		if err := dir.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("make the folder %s: %w", shown(name), cause(err))
		}
		if err := syncFolder(dir); err != nil {
			return nil, err
		}
		info, err := dir.Lstat(name)
		if err != nil || !info.IsDir() { // for example a link
			return nil, ErrMoved
		}
		next, err := openFolder(dir, name, info)
		if err != nil {
			return nil, err
		}
		c.place.held = append(c.place.held, next)
		dir = next
	}
	return dir, nil
}

// fresh writes a new file, which is for the folder dir, and syncs it to disk. If keep is set, mode is applied regardless
// of the umask.
func fresh(from, dir *os.Root, name string, mode fs.FileMode, keep bool, data []byte) error {
	f, err := from.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return cause(err)
	}
	inherit(f, dir)
	if keep {
		err = f.Chmod(mode)
	}
	if err == nil {
		_, err = f.Write(data)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return cause(err)
	}
	return nil
}

// still checks immediately before the effect that the path still leads to the same folder and that the file has not
// changed.
func (c *change) still(w *Workspace, asked string, dir *os.Root) error {
	local, err := w.local(asked)
	if err != nil {
		return err // Unreachable: it was valid before
	}
	p, err := c.tree.find(local)
	if err != nil {
		return err
	}
	defer p.close()
	now := change{tree: c.tree, place: p, ward: c.ward, sum: "absent"}
	mine, err := dir.Stat(".")
	if err != nil {
		return cause(err)
	}
	there, err := p.dir.Stat(".")
	if err != nil {
		return cause(err)
	}
	if p.path != c.place.path || len(p.missing) > 0 || !os.SameFile(mine, there) {
		return ErrMoved
	}
	if _, err := now.read(); err != nil {
		return err
	}
	if now.sum != c.sum {
		return fmt.Errorf("%w: it has just changed", ErrChanged)
	}
	return nil
}

// put moves the new file to its final name. It does not overwrite a file that was created meanwhile, if the file
// system supports hard links.
func (c *change) put(from, dir *os.Root, temp string) error {
	if c.absent() {
		err := dir.Link(temp, c.place.name)
		switch {
		case err == nil:
			return gone(dir, temp)
		case errors.Is(err, fs.ErrExist):
			return fmt.Errorf("%w: there is a file by now", ErrChanged)
		}
		// The file system has no hard links.
		if _, err := dir.Lstat(c.place.name); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: there is a file by now", ErrChanged)
		}
	}
	return rename(from, dir, temp, c.place.name)
}

func gone(dir *os.Root, name string) error {
	if err := dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cause(err)
	}
	return nil
}

func syncFolder(dir *os.Root) error {
	f, err := dir.Open(".")
	if err != nil {
		return cause(err)
	}
	err = f.Sync()
	if err = errors.Join(err, f.Close()); err != nil {
		return cause(err)
	}
	return nil
}

// check decides about a change by its path alone. Links are resolved when the change is explained, and again when it
// is made.
func (w *Workspace) check(asked string) tool.Verdict {
	local, err := w.local(asked)
	if err != nil {
		return tool.Verdict{Decision: tool.Deny, Reason: err.Error()}
	}
	at := w.guard.of(path.Clean(local))
	switch {
	case at.noWrite != "":
		return tool.Verdict{Decision: tool.Deny, Reason: refused(local, at.noWrite).Error()}
	case at.behaviour != "":
		return tool.Verdict{Decision: tool.Ask, Reason: "it changes how the agent behaves"}
	case at.steers:
		return tool.Verdict{Decision: tool.Ask, Reason: "it changes what editors, assistants or shells of people obey"}
	default:
		return tool.Verdict{Decision: tool.Ask, Reason: "it changes a file"}
	}
}

// written is the result of a change for the model.
type written struct {
	Written string `json:"written"`
	Bytes   int    `json:"bytes"`
	Lines   int    `json:"lines"`
	Created bool   `json:"created,omitempty"`
}

func (c *change) result() (tool.Result, error) {
	lines := bytes.Count(c.after, []byte("\n"))
	if n := len(c.after); n > 0 && c.after[n-1] != '\n' {
		lines++
	}
	out := written{Written: c.place.path, Bytes: len(c.after), Lines: lines, Created: c.absent()}
	return reply(out, fmt.Sprintf("%s: %s", shown(c.place.path), c.sizes()))
}
