// Package console is what every command is made of: where the project is and what its settings say, how to ask the
// running host or the files of a stopped project, how a result is printed as text or as JSON, and the errors that
// people and programs read.
//
// A [Command] describes one command; [Ask] and [Order] find out by themselves whether a host is running. The package
// knows no single command.
package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/shipmyagent/shipmyagent/actors/run"
	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/chinese"
	"github.com/shipmyagent/shipmyagent/config"
)

// Console is what the commands share: the flags that all of them have, the streams and the environment.
type Console struct {
	Stdin       io.Reader
	Stdout      io.Writer
	Stderr      io.Writer
	Env         func(name string) (string, bool)
	EnvNames    func() []string   // nil if the names are unknown
	Dir         string            // --dir
	StateFolder string            // --state-dir
	Sets        []string          // --set key=value
	Also        map[string]string // the command's own settings, which --set overrides
	// Interrupts has Ctrl-C not end the command until release is called.
	Interrupts func() (in <-chan os.Signal, release func())

	chinese *chinese.Words // nil until they are needed
}

// Group makes a command that only has subcommands.
func Group(cmd *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	cmd.Args = cobra.NoArgs
	cmd.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	cmd.AddCommand(commands...)
	return cmd
}

// Project is the absolute path of the project's folder. An argument takes precedence over --dir.
func (a *Console) Project(args []string) (string, error) {
	dir := a.Dir
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
		return "", &Failure{Code: CodeConfig, What: fmt.Sprintf("there is no folder %s", dir), Help: "sma init " + checkup.ShellWord(dir)}
	case err != nil:
		return "", &Failure{Code: CodeConfig, What: "the project's folder cannot be read", Why: err, Help: "sma with -C and a folder that this user can read"}
	case !info.IsDir():
		return "", &Failure{Code: CodeConfig, What: dir + " is not a folder", Help: "sma run " + checkup.ShellWord(filepath.Dir(dir))}
	}
	return dir, nil
}

// State is the absolute path of the state folder of a project.
func (a *Console) State(project string) (string, error) {
	dir := a.StateFolder
	if dir == "" {
		if v, ok := a.Env("STATE_DIRECTORY"); ok && v != "" {
			dir, _, _ = strings.Cut(v, ":") // service managers may list several
		}
	}
	if dir == "" {
		return filepath.Join(project, ".ship"), nil
	}
	dir, err := filepath.Abs(dir)
	return dir, Failure{Code: CodeConfig, What: "the state folder cannot be found"}.Because(err)
}

// addFlags adds the settings given by --set.
func (a *Console) addFlags(to map[string]string) error {
	for _, s := range a.Sets {
		key, value, ok := strings.Cut(s, "=")
		if !ok || key == "" {
			return &Failure{Code: CodeUsage, What: fmt.Sprintf("--set %s has not the form key=value", s), Help: "sma config show"}
		}
		to[key] = value
	}
	return nil
}

// Print writes data to stdout.
func (a *Console) Print(text string) error {
	_, err := io.WriteString(a.Stdout, text)
	return Failure{Code: CodeFailed, What: "stdout cannot be written"}.Because(err)
}

// Say writes a line to stderr.
func (a *Console) Say(format string, args ...any) {
	_, _ = fmt.Fprintf(a.Stderr, format+"\n", args...) // nowhere else to report an error
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Prints makes cmd print a text that is the same for programs and people.
func (a *Console) Prints(cmd *cobra.Command, run func(ctx context.Context, args []string) (string, error)) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		text, err := run(cmd.Context(), args)
		if err != nil {
			return err
		}
		return a.Print(text)
	}
	return cmd
}

// PrintJSON writes one indented document to stdout.
func (a *Console) PrintJSON(v any) error {
	enc := json.NewEncoder(a.Stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return Failure{Code: CodeFailed, What: "stdout cannot be written"}.Because(enc.Encode(v))
}

// Load reads the settings of a project. Unusable settings are a [Failure] that lists every finding.
func (a *Console) Load(dir string, strict bool) (*config.Loaded, error) {
	return a.LoadWith(dir, a.Also, strict)
}

// LoadWith is [Console.Load] with the command's own settings, which --set overrides.
func (a *Console) LoadWith(dir string, also map[string]string, strict bool) (*config.Loaded, error) {
	flags := maps.Clone(also)
	if flags == nil {
		flags = map[string]string{}
	}
	if err := a.addFlags(flags); err != nil {
		return nil, err
	}
	loaded, err := config.Load(config.Options{Dir: dir, Env: a.Env, Names: a.EnvNames, Flags: flags, Strict: strict, VoidRule: run.VoidRule, DenyFault: run.DenyFault})
	if err == nil {
		return loaded, nil
	}
	return nil, &Failure{Code: CodeConfig, What: "the settings cannot be used", Why: err, Help: "sma config check --dir " + checkup.ShellWord(dir)}
}

// Warn prints findings that are not errors.
func (a *Console) Warn(findings []config.Finding) {
	for _, f := range findings {
		a.Say("%s", a.Words("warning: "+f.String()))
	}
}

// Folders are the folder of a project, which has an Agent.md or was run before, and its state folder.
func (a *Console) Folders(args []string) (dir, state string, err error) {
	dir, state, err = a.Places(args)
	if err != nil {
		return "", "", err
	}
	info, err := os.Stat(state)
	switch {
	case err == nil && !info.IsDir():
		return "", "", &Failure{Code: CodeConfig, What: "the state folder " + state + " is not a folder", Help: "sma doctor"}
	case errors.Is(err, os.ErrNotExist) && missing(filepath.Join(dir, "Agent.md")):
		return "", "", &Failure{Code: CodeConfig, What: "there is no Agent.md in " + dir, Help: "sma init " + checkup.ShellWord(dir)}
	}
	return dir, state, nil
}

// Places are [Console.Folders] of a folder that may have nothing in it yet.
func (a *Console) Places(args []string) (dir, state string, err error) {
	if dir, err = a.Project(args); err != nil {
		return "", "", err
	}
	state, err = a.State(dir)
	return dir, state, err
}

// Own refuses to write as root into the state of another user, whose host could not use these files.
func Own(state string) error {
	info, err := os.Stat(filepath.Join(state, "lock"))
	if err != nil {
		info, err = os.Stat(state)
	}
	if err != nil || os.Geteuid() != 0 {
		return nil
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || owner.Uid == 0 {
		return nil
	}
	return &Failure{
		Code: CodeConfig, What: "nothing was done: " + state + " belongs to another user, whose host could not use what root writes there",
		Help: fmt.Sprintf("the same as that user: sudo -u '#%d' sma …", owner.Uid),
	}
}

// Again are the flags of this command line that name the project.
func (a *Console) Again() (flags string) {
	if a.Dir != "" && a.Dir != "." {
		flags = " -C " + checkup.ShellWord(a.Dir)
	}
	if a.StateFolder != "" {
		flags += " --state-dir " + checkup.ShellWord(a.StateFolder)
	}
	return flags
}

// Logger logs to stderr from a level on.
func (a *Console) Logger(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(a.Stderr, &slog.HandlerOptions{Level: level}))
}

// Variable is the value of the first of these variables that is set.
func (a *Console) Variable(names ...string) string {
	for _, name := range names {
		if v, ok := a.Env(name); ok && v != "" {
			return v
		}
	}
	return ""
}
