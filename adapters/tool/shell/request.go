package shell

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

const (
	// Limits of a foreground command.
	defaultTimeout = time.Minute
	maxTimeout     = 10 * time.Minute
	// Limits of a background command.
	defaultBackground = time.Hour
	maxBackground     = 24 * time.Hour
)

// request is the input of a call, after the checks that need no file system.
type request struct {
	Command    string
	Argv       []string
	Cwd        string
	TimeoutS   int
	Background bool
	Why        string

	rel  string // the folder, relative to the workspace
	wall time.Duration
	// text is the command for people and rules. For argv it is a text that a shell would read as exactly these words,
	// or "" if there is none.
	text string
}

// ask parses the input of a call of exec_shell.
func (s *Shell) ask(call tool.Call) (*request, error) {
	r := &request{}
	if err := call.Read(r); err != nil {
		return nil, err
	}
	switch {
	case (r.Command == "") == (len(r.Argv) == 0):
		return nil, fmt.Errorf("%w: give either command or argv", tool.ErrInput)
	case strings.TrimSpace(r.Command) == "" && len(r.Argv) == 0:
		return nil, fmt.Errorf("%w: /command: it is empty", tool.ErrInput)
	case len(r.Argv) > 0 && r.Argv[0] == "":
		return nil, fmt.Errorf("%w: /argv/0: a program has a name", tool.ErrInput)
	case strings.ContainsRune(r.Command+strings.Join(r.Argv, ""), 0):
		return nil, fmt.Errorf("%w: a command cannot hold NUL", tool.ErrInput)
	}
	if r.text = r.Command; r.Command == "" {
		r.text = quoteAll(r.Argv)
	}
	if err := r.setTimeout(); err != nil {
		return nil, err
	}
	return r, r.setFolder(s.opts.Workspace, s.root)
}

func (r *request) setTimeout() error {
	usual, most := defaultTimeout, maxTimeout
	if r.Background {
		usual, most = defaultBackground, maxBackground
	}
	r.wall = time.Duration(r.TimeoutS) * time.Second
	if r.TimeoutS == 0 {
		r.wall = usual
	}
	if r.wall < time.Second || r.wall > most {
		return fmt.Errorf("%w: /timeoutS: from 1 to %d", tool.ErrInput, int(most/time.Second))
	}
	return nil
}

// setFolder accepts a folder in the workspace, relative to it or absolute.
func (r *request) setFolder(roots ...string) error {
	r.rel = "."
	if r.Cwd == "" {
		return nil
	}
	dir := r.Cwd
	if strings.ContainsRune(dir, 0) {
		return fmt.Errorf("%w: /cwd: a folder's name cannot hold NUL", tool.ErrInput)
	}
	if filepath.IsAbs(dir) {
		for _, root := range roots {
			if rel, err := filepath.Rel(root, dir); err == nil && filepath.IsLocal(rel) {
				dir = rel
				break
			}
		}
	}
	if r.rel = filepath.Clean(dir); !filepath.IsLocal(r.rel) {
		return fmt.Errorf("%w: /cwd: %q is not in the project's folder; name a folder in it, relative to it", tool.ErrInput, r.Cwd)
	}
	return nil
}

// grantable is the text that rules may cover: of a foreground command in the project's folder with at most the
// default timeout. Everything else needs a person.
func (r *request) grantable() string {
	if r.Background || r.rel != "." || r.wall > defaultTimeout {
		return ""
	}
	return r.text
}
