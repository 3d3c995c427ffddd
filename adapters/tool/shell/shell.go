// Package shell has the tools exec_shell, shell_status, shell_read, shell_write
// and shell_stop: commands of a model in a sandbox, at once or in the background.
//
// Promises:
//
//   - Every command asks a person, unless somebody granted a rule that covers its
//     text. What was judged and shown is what runs, byte for byte: the text goes to
//     a fixed shell that reads no start-up file, the words of argv go to the program
//     itself, and an answer is bound to the folder, the environment, the limits and
//     the bytes of every file of the workspace that the command names. Files that
//     the command would execute have the bytes that were checked while it runs.
//   - The environment is a list of this package's. Nothing of the host's is in it.
//   - Output is bounded in memory and on the disk, however much is printed.
//   - Nothing outlives its call, or a background process its host.
//   - A process belongs to the chat that began it. To the others it does not exist.
//
// What a program may reach is the business of the sandbox, who may agree to a
// command that of the chat.
package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/internal/nametree"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
)

// The names of the tools.
const (
	ExecName   = "exec_shell"
	StatusName = "shell_status"
	ReadName   = "shell_read"
	WriteName  = "shell_write"
	StopName   = "shell_stop"
)

// DefaultPath is where programs are looked for.
const DefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// errChanged is the failure of a call that is another one than was agreed to.
var errChanged = errors.New("the command, or a file that it names, changed after a person agreed; nothing was run. Call the tool again, so that they are asked again")

// Options of the tools. Workspace is required, and absolute.
type Options struct {
	// Sandbox is what contains commands; nil: none can run, and Why says why.
	Sandbox sandbox.Sandbox
	Why     string
	// Workspace is the folder that commands work in and may change.
	Workspace string
	// ReadOnly are files and folders that they may read and not change, Hidden
	// those that they neither find nor make. What is named like a secret is hidden
	// anyway.
	ReadOnly, Hidden []string
	// Exclude are folders that are hidden as a whole and not looked through.
	Exclude []string
	// State is the host's own folder. It is hidden but for what is in ReadOnly.
	// Private are folders in it that are made before a command could see them made.
	State   string
	Private []string
	Network bool
	Limits  sandbox.Limits // but for Wall, which a call says
	Path    string         // empty: [DefaultPath]
	// Temp is where private folders are made that programs get as their home;
	// empty: the system's.
	Temp string
	// Keep opens a file of a chat for output that is too long for a result, under a
	// name that tells results apart. The pointer is what a reading tool knows it by.
	// nil: what does not fit is dropped.
	Keep func(chat messages.ChatKey, name string) (w io.WriteCloser, pointer string, err error)
	// Mask takes secrets out of what commands print, before it is kept, shown or
	// stored. What may be the begin of one waits for more, or for Close. nil: nothing
	// is taken out.
	Mask func(to io.Writer) io.WriteCloser
	// Most is how much a command may print; 0: [tool.DefaultMost].
	Most int64
	// Notify is told of every background process that ended by itself, once. It is
	// called in a goroutine of its own; ctx ends with the tools.
	Notify func(ctx context.Context, e Ended)
	Now    func() time.Time // nil: time.Now
	Logger *slog.Logger     // nil: none
}

// Shell is what the tools share: where commands run, and the processes in the
// background. It is safe for concurrent use. Close it.
type Shell struct {
	opts  Options
	root  string // the workspace without symbolic links
	shell []string
	ctx   context.Context //nolint:containedctx // the life of all background processes
	end   context.CancelFunc
	work  sync.WaitGroup // of background processes
	watch watch

	mu    sync.Mutex
	jobs  []*job                    // in the order they began
	trees map[string]*nametree.Tree // by their roots
}

// New makes the tools' common part. It fails for a workspace that is no folder.
func New(o Options) (*Shell, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Path == "" {
		o.Path = DefaultPath
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Sandbox == nil && o.Why == "" {
		o.Why = "none was set up"
	}
	root, err := filepath.EvalSymlinks(o.Workspace)
	if err != nil {
		return nil, fmt.Errorf("the workspace of commands: %w", err)
	}
	if root, err = filepath.Abs(root); err != nil {
		return nil, fmt.Errorf("the workspace of commands: %w", err) // Unreachable: there is a working folder
	}
	o.ReadOnly, o.Hidden, o.Exclude = realPaths(o.ReadOnly), realPaths(o.Hidden), realPaths(o.Exclude)
	if o.State != "" {
		o.State = realPaths([]string{o.State})[0]
	}
	ctx, end := context.WithCancel(context.Background())
	return &Shell{opts: o, root: root, shell: findShell(o.Path), ctx: ctx, end: end, trees: map[string]*nametree.Tree{}}, nil
}

// Tools are the tools. Without a sandbox there is exec_shell alone, which says so.
func (s *Shell) Tools() []tool.Tool {
	if s.unavailable() != "" {
		return []tool.Tool{&Exec{s}}
	}
	return []tool.Tool{&Exec{s}, &Status{s}, &Read{s}, &Write{s}, &Stop{s}}
}

// Close kills the processes in the background and waits for their end.
func (s *Shell) Close(ctx context.Context) error {
	s.mu.Lock()
	s.end()
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.work.Wait()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for processes in the background: %w", ctx.Err())
	}
}

// unavailable says why no command can run; empty: they can.
func (s *Shell) unavailable() string {
	if s.opts.Sandbox != nil {
		return ""
	}
	return "commands cannot run on this host, because no sandbox is available: " + s.opts.Why
}

// findShell is the shell that gets texts, with everything in front of the text.
func findShell(path string) []string {
	if bash := find("bash", path); bash != "" {
		return []string{bash, "--noprofile", "--norc", "-c", "--"}
	}
	if sh := find("sh", path); sh != "" {
		return []string{sh, "-c", "--"}
	}
	return nil
}

// find is the absolute path of a program; empty: there is none.
func find(name, path string) string {
	for _, dir := range filepath.SplitList(path) {
		full := filepath.Join(dir, name)
		if info, err := os.Stat(full); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && filepath.IsAbs(full) {
			return full
		}
	}
	return ""
}

// realPaths are paths without symbolic links in their folders. What a path leads
// to may not exist yet.
func realPaths(paths []string) []string {
	out := make([]string, 0, len(paths))
	for _, p := range paths {
		if dir, err := filepath.EvalSymlinks(filepath.Dir(p)); err == nil {
			p = filepath.Join(dir, filepath.Base(p))
		}
		out = append(out, filepath.Clean(p))
	}
	return out
}

// inside says that a path is a folder or lies in it. Both are clean.
func inside(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
