// Package shell has the tools exec_shell, shell_status, shell_read, shell_write and shell_stop, with which a model
// runs commands in a sandbox, in the foreground or in the background.
//
// Promises:
//
//   - Every command needs a person's approval, unless somebody granted a rule that covers its
//     text. What was checked and shown is what runs, byte for byte: the text goes to a fixed
//     shell that reads no start-up file, the words of argv go to the program itself, and a
//     decision is bound to the folder, the environment, the limits and the content of every file
//     of the workspace that the command names. Files that the command executes keep the checked
//     content while it runs.
//   - The environment is defined by this package and contains nothing of the host's.
//   - Output is bounded in memory and on disk, however much is written.
//   - No process outlives its call, or in the background its host.
//   - A process belongs to the chat that started it. Other chats cannot see it.
//
// The sandbox decides what a program can access, and the chat who may approve a command.
package shell

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
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

// DefaultPath is the default search path for programs.
const DefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

//go:embed *.md *.schema.json
var docs embed.FS

// errChanged is the error of a call that is no longer what a person agreed to.
var errChanged = errors.New("the command, or a file that it names, changed after a person agreed; nothing was run. Call the tool again, so that they are asked again")

// Options configure the tools. Workspace is required and absolute.
type Options struct {
	// Sandbox contains commands. If it is nil, no command can run, and Why says why.
	Sandbox sandbox.Sandbox
	Why     string
	// Workspace is the folder that commands work in and may change.
	Workspace string
	// ReadOnly are files and folders that commands may read but not change, and Hidden those that they can neither
	// find nor create. What is named like a secret is always hidden.
	ReadOnly, Hidden []string
	// Exclude are folders that are hidden as a whole and not searched.
	Exclude []string
	// State is the host's own folder. It is hidden, except for Skills, a folder in it that commands may read.
	State, Skills string
	Network       bool
	Limits        sandbox.Limits // except Wall, which each call sets
	Path          string         // defaults to [DefaultPath]
	// Temp is where the homes of programs are created; it defaults to the system's folder.
	Temp string
	// Keep opens a file of a chat for output that is too long for a result, under a unique name. The pointer is what
	// reading tools accept. Without Keep, the rest of the output is dropped.
	Keep func(chat messages.ChatKey, name string) (w io.WriteCloser, pointer string, err error)
	// Mask, if not nil, masks secrets in the output of commands before it is kept, shown or stored. What may be the
	// beginning of a secret is held back until more arrives, or until Close.
	Mask func(to io.Writer) io.WriteCloser
	// Most is how many bytes a command may write; it defaults to [tool.DefaultMost].
	Most int64
	// Notify, if not nil, is called once for every background process that ended by itself, in its own goroutine. ctx
	// ends with the tools.
	Notify func(ctx context.Context, e Ended)
	Now    func() time.Time // defaults to time.Now
	Logger *slog.Logger     // optional
}

// Shell is the common part of the tools: where commands run, and the background processes. It is safe for concurrent
// use. The caller closes it.
type Shell struct {
	opts  Options
	root  string // the workspace without symbolic links
	shell []string
	ctx   context.Context //nolint:containedctx // lifetime of all background processes
	end   context.CancelFunc
	work  sync.WaitGroup // of background processes
	watch watch

	mu    sync.Mutex
	jobs  []*job                    // in the order of their start
	trees map[string]*nametree.Tree // by their roots
}

// New makes the common part of the tools. It fails if the workspace is not a folder.
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
		return nil, fmt.Errorf("the workspace of commands: %w", err) // Unreachable: the working folder is known
	}
	o.ReadOnly, o.Hidden, o.Exclude = realPaths(o.ReadOnly), realPaths(o.Hidden), realPaths(o.Exclude)
	if o.State != "" {
		o.State = realPaths([]string{o.State})[0]
	}
	if o.Skills != "" {
		o.Skills = realPaths([]string{o.Skills})[0]
	}
	ctx, end := context.WithCancel(context.Background())
	return &Shell{opts: o, root: root, shell: findShell(o.Path), ctx: ctx, end: end, trees: map[string]*nametree.Tree{}}, nil
}

// Tools returns the tools. Without a sandbox, that is only exec_shell, which reports the reason.
func (s *Shell) Tools() []tool.Tool {
	exec := &Exec{tool.DescribedBy(docs, "exec", &tool.Spec{
		Name: ExecName, Title: "Run a command", Ordered: true, Deadline: maxTimeout + execGrace,
	}), s}
	if s.unavailable() != "" {
		return []tool.Tool{exec}
	}
	later := func(file string, about *tool.Spec) followUp {
		about.Deadline = quickly
		return followUp{tool.DescribedBy(docs, file, about), s}
	}
	return []tool.Tool{
		exec,
		&Status{later("status", &tool.Spec{Name: StatusName, Title: "List processes", ReadOnly: true, Repeatable: true})},
		// A call continues where the last one ended, so repeating it may return something else.
		&Read{later("read", &tool.Spec{Name: ReadName, Title: "Read a process's output", ReadOnly: true, Ordered: true})},
		&Write{later("write", &tool.Spec{Name: WriteName, Title: "Type into a process", Ordered: true, Asks: true})},
		&Stop{later("stop", &tool.Spec{Name: StopName, Title: "Stop a process", Repeatable: true, Ordered: true})},
	}
}

// Close kills the background processes and waits for their end.
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

// unavailable says why no command can run, or returns "".
func (s *Shell) unavailable() string {
	if s.opts.Sandbox != nil {
		return ""
	}
	return "commands cannot run on this host, because no sandbox is available: " + s.opts.Why
}

// findShell is the command line of the shell, without the text to run.
func findShell(path string) []string {
	if bash := sandbox.Find("bash", path); bash != "" {
		return []string{bash, "--noprofile", "--norc", "-c", "--"}
	}
	if sh := sandbox.Find("sh", path); sh != "" {
		return []string{sh, "-c", "--"}
	}
	return nil
}

// realPaths resolves symbolic links in the parent folders of paths. The files themselves need not exist.
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

// inside reports whether a path is dir or below it. Both must be clean.
func inside(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
