package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
	"github.com/shipmyagent/shipmyagent/config"
)

// Options are everything outside the process that commands use.
type Options struct {
	Args   []string // without the program's name
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Env looks a variable up, usually os.LookupEnv.
	Env func(name string) (string, bool)
	// EnvNames lists the names of all variables. It is nil if they are unknown.
	EnvNames func() []string
	// Signals are SIGINT, SIGTERM and SIGHUP.
	Signals <-chan os.Signal
	// Exit ends the process at a second signal.
	Exit func(code int)
	// Demo is the demo project.
	Demo fs.FS
}

// Run runs one command and returns the exit code. It returns soon after ctx ends or a signal arrives.
func Run(ctx context.Context, o Options) int {
	a := &app{Options: o}
	a.signals.terminal = isTerminal(o.Stderr)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go a.signals.follow(ctx, o.Signals, cancel, o.Exit)
	root := a.root()
	root.SetArgs(o.Args)
	root.SetIn(o.Stdin)
	root.SetOut(o.Stdout)
	root.SetErr(o.Stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !a.began {
		err = usage(err, cmd.CommandPath())
	}
	if err != nil {
		explain(o.Stderr, err)
	}
	return codeOf(err)
}

// app is the state that commands share.
type app struct {
	Options
	dir      string   // --dir
	stateDir string   // --state-dir
	sets     []string // --set key=value
	noColor  bool
	also     map[string]string // the command's own settings, which --set overrides
	signals  signals
	// outside looks variables up in the environment of the process when Env is replaced, as in the demonstration. If
	// it is nil, Env is that environment.
	outside func(name string) (string, bool)
	began   bool // a command's own code has started, so errors are not about the command line
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "sma [dir]",
		Short: "Run a folder with an Agent.md as an agent in many chats",
		Long: "ShipMyAgent runs a folder with an Agent.md as an agent that lives in many chats at once:\n" +
			"Telegram, the web, the terminal. Without a command it runs the folder it is in.",
		Example:       "  sma demo            try it in the browser, without key or account\n  sma init && sma run  make an agent of this folder and start it",
		Version:       buildVersion().String(),
		SilenceErrors: true, SilenceUsage: true,
		Args: rootArgs,
		RunE: func(c *cobra.Command, args []string) error { return a.run(c.Context(), args) },
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usage(err, c.CommandPath()) })
	root.CompletionOptions.HiddenDefaultCmd = false
	root.PersistentPreRun = func(*cobra.Command, []string) { a.began = true }
	flags := root.PersistentFlags()
	flags.StringVarP(&a.dir, "dir", "C", ".", "the project's `folder`")
	flags.StringVar(&a.stateDir, "state-dir", "", "the `folder` for state (default: .ship in the project, or $STATE_DIRECTORY)")
	flags.StringArrayVar(&a.sets, "set", nil, "override a setting, as in `llm.model=gpt-5`; may be repeated")
	flags.BoolVar(&a.noColor, "no-color", false, "write without colours")
	root.AddCommand(
		a.runCmd(), a.demoCmd(), a.initCmd(), a.chatCmd(), a.sendCmd(), a.linkCmd(), a.trustCmd(), a.statusCmd(),
		a.chatsCmd(), a.searchCmd(), a.memoryCmd(), a.skillsCmd(), a.mcpCmd(), a.outboxCmd(), a.tasksCmd(), a.approvalsCmd(),
		a.pairCmd(), a.doctorCmd(), a.configCmd(), a.versionCmd(),
	)
	return root
}

// rootArgs accepts a folder. Any other word is an unknown command.
func rootArgs(c *cobra.Command, args []string) error {
	if len(args) == 1 {
		if info, err := os.Stat(args[0]); err == nil && info.IsDir() {
			return nil
		}
	}
	return noSuchCommand(c, args)
}

// group makes a command that only has subcommands.
func group(cmd *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	cmd.Args = noSuchCommand
	cmd.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	cmd.AddCommand(commands...)
	return cmd
}

// noSuchCommand refuses a word after a command that only has subcommands.
func noSuchCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	c.SuggestionsMinimumDistance = 2
	what := fmt.Sprintf("unknown command %q", args[0])
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		what += fmt.Sprintf("; did you mean %s?", strings.Join(near, " or "))
	}
	return errors.New(what)
}

// project is the absolute path of the project's folder. An argument takes precedence over --dir.
func (a *app) project(args []string) (string, error) {
	dir := a.dir
	if len(args) > 0 {
		dir = args[0]
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", &Failure{Code: CodeConfig, What: "the project's folder cannot be found", Why: err}
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", &Failure{Code: CodeConfig, What: fmt.Sprintf("there is no folder %s", dir), Help: "sma init " + dir}
	case err != nil:
		return "", &Failure{Code: CodeConfig, What: "the project's folder cannot be read", Why: err}
	case !info.IsDir():
		return "", &Failure{Code: CodeConfig, What: dir + " is no folder", Help: "sma run " + filepath.Dir(dir)}
	}
	return dir, nil
}

// state is the absolute path of the state folder of a project.
func (a *app) state(project string) (string, error) {
	dir := a.stateDir
	if dir == "" {
		if v, ok := a.Env("STATE_DIRECTORY"); ok && v != "" {
			dir, _, _ = strings.Cut(v, ":") // service managers may list several
		}
	}
	if dir == "" {
		return filepath.Join(project, ".ship"), nil
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", &Failure{Code: CodeConfig, What: "the state folder cannot be found", Why: err}
	}
	return dir, nil
}

// addFlags adds the settings given by --set.
func (a *app) addFlags(to map[string]string) error {
	for _, s := range a.sets {
		key, value, ok := strings.Cut(s, "=")
		if !ok || key == "" {
			return &Failure{Code: CodeUsage, What: fmt.Sprintf("--set %s has not the form key=value", s), Help: "sma config show"}
		}
		to[key] = value
	}
	return nil
}

// print writes data to stdout.
func (a *app) print(text string) error {
	if _, err := io.WriteString(a.Stdout, text); err != nil {
		return &Failure{Code: CodeFailed, What: "stdout cannot be written", Why: err}
	}
	return nil
}

// say writes a line to stderr.
func (a *app) say(format string, args ...any) {
	_, _ = fmt.Fprintf(a.Stderr, format+"\n", args...) // nowhere else to report an error
}

// newLogger logs to w as the settings say: by default as text on a terminal and as JSON elsewhere. The level can be
// changed later.
func newLogger(w io.Writer, s config.Log) (*slog.Logger, *slog.LevelVar) {
	level := new(slog.LevelVar)
	level.Set(host.LogLevel(s.Level))
	opts := &slog.HandlerOptions{Level: level, ReplaceAttr: withUnits}
	if s.Format == "json" || s.Format == "auto" && !isTerminal(w) {
		return slog.New(slog.NewJSONHandler(w, opts)), level
	}
	return slog.New(slog.NewTextHandler(w, opts)), level
}

// withUnits writes durations with units; JSON would have nanoseconds.
func withUnits(_ []string, attr slog.Attr) slog.Attr {
	if attr.Value.Kind() != slog.KindDuration {
		return attr
	}
	d := attr.Value.Duration()
	switch {
	case d >= time.Second || d <= -time.Second:
		d = d.Round(time.Millisecond)
	default:
		d = d.Round(time.Microsecond)
	}
	return slog.String(attr.Key, d.String())
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
