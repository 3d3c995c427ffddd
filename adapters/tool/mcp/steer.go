package mcp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/internal/nametree"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/steering"
)

// lookEvery is the time between two looks for new files that a running server must not change.
const lookEvery = time.Minute

// linkless resolves the links of paths that settings name. A path of the project must not lead out of it by a link:
// whoever may write to the project would choose what a server reads and changes.
func (c *client) linkless(paths []string) ([]string, error) {
	out := make([]string, len(paths))
	for i, path := range paths {
		out[i] = realPath(path)
		if root := realPath(c.o.Project); root != "" && (under(path, c.o.Project) || under(path, root)) && !under(out[i], root) {
			return nil, fmt.Errorf("%s is, or is behind, a symbolic link that leads out of the project; name what it leads to, %s, if %s may use that", path, out[i], c.server.Name)
		}
	}
	return out, nil
}

// confine adds what the server must not change to its permissions. write is what it may write, without links.
func (c *client) confine(ctx context.Context, spec *sandbox.Spec) (files steering.Files, write []string, err error) {
	if _, err := c.linkless(c.server.readable()); err != nil {
		return files, nil, err
	}
	if write, err = c.linkless(c.server.Write); err != nil {
		return files, nil, err
	}
	if files, err = c.steering(ctx, write); err != nil {
		return files, nil, err
	}
	spec.Readable, spec.Absent = append(spec.Readable, files.Kept...), files.Absent
	return files, write, nil
}

// newNames is the tree in which the files are found that the server must not change.
func (c *client) newNames() *nametree.Tree {
	return nametree.New(realPath(c.o.Project), nametree.Options{
		Exclude: slices.Concat(resolved(c.o.Hidden), c.excluded()),
		Kind: func(name string) nametree.Kind {
			if steering.Named(name) {
				return 1
			}
			return 0
		},
	})
}

// resolved are paths without links in the folders that lead to them.
func resolved(paths []string) []string {
	out := make([]string, len(paths))
	for i, path := range paths {
		out[i] = filepath.Join(realPath(filepath.Dir(path)), filepath.Base(path))
	}
	return out
}

// excluded are the folders that are not searched, without those that the server was granted by name.
func (c *client) excluded() []string {
	return slices.DeleteFunc(resolved(c.o.Exclude), func(folder string) bool {
		_, err := os.Lstat(folder)
		return err != nil || slices.ContainsFunc(c.server.Write, func(w string) bool { return under(realPath(w), folder) })
	})
}

// steering are the project's files that the server could change or make with what it may write, without links, but must
// not. An error says that they are not known, or that a link to one of them can be replaced.
func (c *client) steering(ctx context.Context, write []string) (steering.Files, error) {
	root := realPath(c.o.Project)
	beyond := func(path string) bool {
		return !slices.ContainsFunc(write, func(folder string) bool { return under(path, folder) })
	}
	if root == "" || c.o.Sandbox.Name() == "off" || !slices.ContainsFunc(write, func(folder string) bool { return under(root, folder) || under(folder, root) }) {
		return steering.Files{}, nil
	}
	found, err := c.names.Find(ctx)
	if err != nil {
		return steering.Files{}, fmt.Errorf("it is not known which files %s must not change: %w", c.server.Name, err)
	}
	var named []string
	own := c.excluded()
	for _, p := range found {
		if p.Kind == nametree.Closed {
			own = append(own, p.Path) // what is in it is unknown
		} else {
			named = append(named, p.Path)
		}
	}
	files := steering.In(root, named, append(own, resolved(c.o.ReadOnly)...))
	files.Kept, files.Loose, files.Absent = slices.DeleteFunc(files.Kept, beyond), slices.DeleteFunc(files.Loose, beyond), slices.DeleteFunc(files.Absent, beyond)
	if len(files.Loose) > 0 {
		return files, fmt.Errorf("%s is a symbolic link in a folder that %s may write: it could put something else there, which the agent or programs of people would obey; put there what it leads to",
			files.Loose[0], c.server.Name)
	}
	return files, nil
}

// replaced says why the sandbox ended the server, and puts aside what the server must not have made. outside says that
// it made nothing.
func (c *client) replaced(files steering.Files, err error) (how string, outside bool) {
	aside, failed := files.PutAside(realPath(c.o.Project))
	switch names := strings.Join(aside, ", "); {
	case failed != nil:
		return fmt.Sprintf("it was ended, because %s appeared, which git would obey; please remove it, since that failed: %v", names, failed), false
	case names != "":
		return fmt.Sprintf("it was ended, because %s appeared, which git would obey; that was renamed", names), false
	}
	return "it was ended: " + err.Error(), true
}

// outgrown says why a server has to be started anew, or returns "": there are new files that it must not change. It is
// not interrupted in a call.
func (c *client) outgrown(ctx context.Context, e *end) string {
	if e == nil || len(c.calls) > 0 {
		return ""
	}
	files, err := c.steering(ctx, e.write)
	switch {
	case ctx.Err() != nil:
		return ""
	case err != nil:
		return c.server.line(err.Error())
	}
	for _, path := range files.Kept {
		if !slices.ContainsFunc(e.spec.Readable, func(kept string) bool { return under(path, kept) }) {
			return fmt.Sprintf("it is started anew, because it must not change %s, which is new", path)
		}
	}
	return ""
}
