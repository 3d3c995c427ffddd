package shell

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

// plan is a call that is ready to run.
type plan struct {
	*request
	dir   string // without symbolic links
	argv  []string
	env   []string // without HOME
	named named
	bind  string
}

// plan collects everything that a decision about the call is bound to.
func (s *Shell) plan(call tool.Call) (*plan, error) {
	if why := s.unavailable(); why != "" {
		return nil, errors.New(why)
	}
	r, err := s.ask(call)
	if err != nil {
		return nil, err
	}
	p := &plan{request: r, env: s.environ()}
	if p.dir, err = s.folder(r); err != nil {
		return nil, err
	}
	if p.named, err = s.look(r, p.dir); err != nil {
		return nil, err
	}
	if p.argv, err = s.argv(r, p.dir); err != nil {
		return nil, err
	}
	p.bind, err = s.bind(p)
	return p, err
}

// agreed is the plan of a call, if it is still the one that a person agreed to.
func (s *Shell) agreed(call tool.Call) (*plan, error) {
	p, err := s.plan(call)
	if err != nil {
		return nil, err
	}
	if call.Bind != "" && call.Bind != p.bind {
		return nil, errChanged
	}
	return p, nil
}

// folder is the folder that a request names, which must exist.
func (s *Shell) folder(r *request) (string, error) {
	dir, err := filepath.EvalSymlinks(filepath.Join(s.root, r.rel))
	if err != nil {
		return "", fmt.Errorf("%w: /cwd: there is no folder %q", tool.ErrInput, r.rel)
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil || !info.IsDir():
		return "", fmt.Errorf("%w: /cwd: %q is not a folder", tool.ErrInput, r.rel)
	case !inside(dir, s.root) || s.hides(dir):
		return "", fmt.Errorf("%w: /cwd: %q is not open to commands", tool.ErrInput, r.rel)
	}
	return dir, nil
}

// argv is the command line for the sandbox: the shell with the text, or the program itself.
func (s *Shell) argv(r *request, dir string) ([]string, error) {
	if r.Command != "" {
		if s.shell == nil {
			return nil, errors.New("there is no shell on this host; give argv instead of command")
		}
		return append(slices.Clone(s.shell), r.Command), nil
	}
	program := r.Argv[0]
	switch {
	case filepath.IsAbs(program):
	case filepath.Base(program) != program:
		program = filepath.Join(dir, program)
	default:
		if program = sandbox.Find(program, s.opts.Path); program == "" {
			return nil, fmt.Errorf("there is no program %q in %s", r.Argv[0], s.opts.Path)
		}
	}
	return append([]string{program}, r.Argv[1:]...), nil
}

// bind is the digest of everything that a decision is bound to.
func (s *Shell) bind(p *plan) (string, error) {
	doc, err := json.Marshal(struct {
		Version    int
		Argv       []string
		Dir        string
		Env        []string
		Contained  bool // the kind of sandbox is known only when the first program starts
		Network    bool
		Limits     sandbox.Limits
		Background bool
		Files      []file
	}{1, p.argv, p.dir, p.env, s.contains(), s.opts.Network, s.limits(p), p.Background, p.named.files})
	if err != nil { // Unreachable: strings and numbers only
		return "", fmt.Errorf("digest of the command: %w", err)
	}
	sum := sha256.Sum256(doc)
	return hex.EncodeToString(sum[:]), nil
}

// contains reports whether a sandbox contains commands.
func (s *Shell) contains() bool { return s.opts.Sandbox.Name() != "off" }

func (s *Shell) limits(p *plan) sandbox.Limits {
	l := s.opts.Limits
	l.Wall = p.wall
	return l
}

// start starts a plan's program and watches it. The returned watched is nil if there is nothing to hide. home is the
// program's own folder; end returns the current length of the output.
func (s *Shell) start(ctx context.Context, p *plan, home string, stdin io.Reader, out io.Writer, end func() int64) (sandbox.Process, *watched, error) {
	began := time.Now()
	hidden, found, err := s.hidden(ctx)
	if err != nil {
		return nil, nil, err
	}
	files, err := s.steering(found)
	if err != nil {
		return nil, nil, err
	}
	spec := sandbox.Spec{
		Argv: p.argv, Dir: p.dir, Env: append(slices.Clone(p.env), "HOME="+home),
		Writable: []string{s.root, home}, Readable: files.Kept, Absent: files.Absent, Hidden: hidden,
		Pinned: p.named.pins, Network: s.opts.Network, Limits: s.limits(p), Stdin: stdin, Stdout: out, Stderr: out,
	}
	if s.contains() && exists(s.opts.Skills) {
		spec.Shown = []string{s.opts.Skills}
	}
	if s.readsGit(p) {
		env, err := s.readingGit(ctx, spec)
		if err != nil {
			return nil, nil, s.why(err)
		}
		spec.Env = override(spec.Env, env)
	}
	proc, err := s.opts.Sandbox.Start(ctx, spec)
	if err != nil {
		return nil, nil, s.why(err)
	}
	if !s.contains() {
		return proc, nil, nil
	}
	w := &watched{sh: s, known: slices.Concat(found.secrets, files.Kept), steering: files, began: began, kill: proc.Kill, own: !p.Background, end: end}
	s.watchOver(w)
	return proc, w, nil
}

// why describes a failure to start for the model.
func (s *Shell) why(err error) error {
	if errors.Is(err, sandbox.ErrReplaced) {
		return fmt.Errorf("%w (%w)", errChanged, err)
	}
	if errors.Is(err, sandbox.ErrUnavailable) {
		return fmt.Errorf("commands cannot run on this host; whoever runs it can see why with sma doctor: %w", err)
	}
	return fmt.Errorf("the command could not be started: %w", err)
}

// readsGit reports whether a plan is a git command that only reads.
func (s *Shell) readsGit(p *plan) bool {
	words := p.Argv
	if p.Command != "" {
		words, _, _ = single(p.Command)
	}
	return gitRead(words)
}

// override concatenates two environments; the last value of a name wins.
func override(env, more []string) []string {
	name := func(entry string) string { return entry[:max(0, slices.Index([]byte(entry), '='))] }
	last := map[string]int{}
	all := slices.Concat(env, more)
	for i, e := range all {
		last[name(e)] = i
	}
	var out []string
	for i, e := range all {
		if last[name(e)] == i {
			out = append(out, e)
		}
	}
	return out
}

// newHome makes a folder for use as a program's HOME.
func (s *Shell) newHome() (string, error) {
	home, err := os.MkdirTemp(s.opts.Temp, "sma-home-")
	if err == nil {
		home, err = filepath.EvalSymlinks(home)
	}
	if err != nil {
		return "", fmt.Errorf("make a folder for the command: %w", err)
	}
	return home, nil
}

// dropHome removes a program's home. If that fails, it makes all folders accessible and tries again.
func (s *Shell) dropHome(home string) {
	if os.RemoveAll(home) == nil {
		return
	}
	_ = filepath.WalkDir(home, func(path string, e os.DirEntry, _ error) error { // what cannot be changed is left
		if e != nil && e.IsDir() {
			_ = os.Chmod(path, 0o700) //nolint:gosec // a folder of ours
		}
		return nil
	})
	if err := os.RemoveAll(home); err != nil {
		s.opts.Logger.Warn("the folder of a command could not be removed", "error", err)
	}
}
