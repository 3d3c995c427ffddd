package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/shipmyagent/shipmyagent/adapters/internal/quoted"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

const (
	// defaultDepth is the depth of calls that set none.
	defaultDepth = 2
	// maxListed is the maximum number of entries in one result.
	maxListed = 300
)

// errEnough ends a walk.
var errEnough = errors.New("enough")

// List is the tool list_files.
type List struct {
	tool.Described

	w *Workspace
}

type listResult struct {
	Source  string   `json:"source"`
	Note    string   `json:"note"`
	Next    int      `json:"next,omitempty"`
	Entries []listed `json:"entries"`
}

// listed is an entry of a folder; the path of a folder ends in a slash.
type listed struct {
	Path string `json:"path"`
	Size *int64 `json:"size,omitempty"` // of files
	Kind string `json:"kind,omitempty"` // link or other
	// Closed says that tools can neither read it nor list its content.
	Closed bool `json:"closed,omitempty"`
}

// Invoke implements [tool.Tool].
func (l *List) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	in := struct {
		Path        string
		Depth, From int
	}{Depth: defaultDepth, From: 1}
	if err := call.Read(&in); err != nil {
		return tool.Result{}, err
	}
	t, p, err := l.w.open(in.Path)
	if err != nil {
		return tool.Result{}, err
	}
	defer t.close()
	defer p.close()
	out := listResult{Source: "folder " + p.path, Note: note, Entries: []listed{}}
	number, used, top := 0, 0, len(split(p.path))
	err = t.below(ctx, p, func(e entry) (bool, error) {
		item := t.listed(e)
		if number++; number >= in.From {
			size := quoted.Len(item.Path) + 60
			if len(out.Entries) >= maxListed || used+size > room && len(out.Entries) > 0 {
				out.Next = number
				return false, errEnough
			}
			used += size
			out.Entries = append(out.Entries, item)
		}
		return !item.Closed && len(e.parts)-top < in.Depth, nil
	})
	switch {
	case errors.Is(err, errTooMany):
		out.Note += " The folder is too large; not all of it was looked at."
	case err != nil && !errors.Is(err, errEnough):
		return tool.Result{}, err
	}
	return reply(out, fmt.Sprintf("%s: %d entries", shown(p.path), len(out.Entries)))
}

func (t *tree) listed(e entry) listed {
	path := e.path()
	item := listed{Path: path, Closed: t.guard.of(path).noRead != ""}
	switch mode := e.info.Mode(); {
	case mode.IsDir():
		item.Path += "/"
		item.Closed = item.Closed && !opens(path)
	case mode.IsRegular():
		size := e.info.Size()
		item.Size = &size
	case mode&fs.ModeSymlink != 0:
		item.Kind = "link"
	default:
		item.Kind = "other"
	}
	return item
}

// opens reports whether a closed folder contains folders that are not closed.
func opens(path string) bool {
	parts := components(path)
	return len(parts) > 0 && (parts[len(parts)-1] == ".ship" || len(parts) > 1 && parts[len(parts)-2] == ".ship" && parts[len(parts)-1] == "memory")
}

// errTooMany says that a walk was incomplete.
var errTooMany = errors.New("too many files")

// open finds the file or folder that a call names; an empty path is the whole project.
func (w *Workspace) open(asked string) (*tree, *place, error) {
	path, err := w.local(asked)
	if err != nil {
		return nil, nil, err
	}
	t, err := w.tree()
	if err != nil {
		return nil, nil, err
	}
	p, err := t.find(path)
	if err == nil && p.info == nil {
		p.close()
		err = fmt.Errorf("%w: there is no %s", fs.ErrNotExist, shown(path))
	}
	if err != nil {
		t.close()
		return nil, nil, err
	}
	return t, p, nil
}

// below visits everything below a folder.
func (t *tree) below(ctx context.Context, p *place, visit func(entry) (bool, error)) error {
	if !p.info.IsDir() {
		return fmt.Errorf("%s is not a folder; use %s", shown(p.path), ReadName)
	}
	if w := t.guard.of(p.path); w.noRead != "" && !opens(p.path) {
		return refused(p.path, w.noRead)
	}
	dir := p.dir
	if p.name != "." {
		next, err := openFolder(p.dir, p.name, p.info)
		if err != nil {
			return fmt.Errorf("open %s: %w", shown(p.path), err)
		}
		defer func() { _ = next.Close() }() // opened for reading only
		dir = next
	}
	left := maxEntries
	err := t.each(dir, split(p.path), 0, &left, func(e entry) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		return visit(e)
	})
	if err == nil && (left <= 0 || t.cut) {
		return errTooMany
	}
	return err
}
