package cli

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/chats"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/logs"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/memory"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/pending"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/services"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/skills"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/top"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/upgrade"
	"github.com/shipmyagent/shipmyagent/cmd/internal/sdnotify"
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
	// Notify is the service manager that started the process, or nil.
	Notify *sdnotify.Manager
	// Demo is the demo project.
	Demo fs.FS
}

// Run runs one command and returns the exit code. It returns soon after ctx ends or a signal arrives.
func Run(ctx context.Context, o Options) int {
	a := &app{Console: &console.Console{Stdin: o.Stdin, Stdout: o.Stdout, Stderr: o.Stderr, Env: o.Env, EnvNames: o.EnvNames}, demoFS: o.Demo, notify: o.Notify}
	a.signals.terminal = console.IsTerminal(o.Stderr)
	a.Interrupts = a.signals.take
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
		err = a.Misuse(cmd, err)
	}
	if err != nil {
		a.Explain(err)
	}
	return console.CodeOf(err)
}

type app struct {
	*console.Console
	signals signals
	demoFS  fs.FS
	notify  *sdnotify.Manager // nil if no service manager started the process
	noColor bool
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
		SilenceErrors: true, SilenceUsage: true,
		Args: rootArgs,
	}
	// Cobra's own flag prints by a template; see the imports that archtest forbids.
	showVersion := root.Flags().BoolP("version", "v", false, "version for sma")
	root.RunE = func(c *cobra.Command, args []string) error {
		if *showVersion {
			_, err := fmt.Fprintln(c.OutOrStdout(), buildVersion())
			return err
		}
		return a.run(c.Context(), args)
	}
	root.CompletionOptions.HiddenDefaultCmd = false
	root.PersistentPreRun = func(*cobra.Command, []string) { a.began = true }
	flags := root.PersistentFlags()
	flags.StringVarP(&a.Dir, "dir", "C", ".", "the project's `folder`")
	flags.StringVar(&a.StateFolder, "state-dir", "", "the `folder` for state (default: .ship in the project, or $STATE_DIRECTORY)")
	flags.StringArrayVar(&a.Sets, "set", nil, "override a setting, as in `llm.model=gpt-5`; may be repeated")
	flags.BoolVar(&a.noColor, "no-color", false, "write without colours")
	root.AddCommand(
		a.runCmd(), a.demoCmd(), a.initCmd(), a.chatCmd(), a.sendCmd(), a.linkCmd(), a.trustCmd(), a.statusCmd(), logs.Command(a.Console), top.Command(a.Console),
		chats.Commands(a.Console), chats.Search(a.Console), chats.Why(a.Console), memory.Commands(a.Console), skills.Commands(a.Console), a.mcpCmd(), a.toolsCmd(), a.modelsCmd(), pending.Outbox(a.Console), pending.Tasks(a.Console), pending.Approvals(a.Console), a.usageCmd(),
		a.pairCmd(), a.backupCmd(), a.restoreCmd(), services.Commands(a.Console, services.Options{Trust: a.trustOfService}), a.doctorCmd(), a.configCmd(), a.versionCmd(), upgrade.Command(a.Console, buildVersion().Version),
	)
	a.complete(root)
	a.HelpInChinese(root)
	for _, group := range root.Commands() {
		for _, cmd := range append(group.Commands(), group) {
			if strings.Contains(writers, strings.TrimPrefix(cmd.CommandPath(), "sma")+",") {
				cmd.PreRunE = a.mayWrite
			}
		}
	}
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"}) // it was just made
	help.Run, help.RunE = nil, a.help
	return root
}

func (a *app) help(c *cobra.Command, words []string) error {
	cmd, rest, err := c.Root().Find(words)
	if err != nil || len(rest) > 0 {
		return a.Unknown(cmd, rest[0])
	}
	cmd.InitDefaultHelpFlag()
	return cmd.Help()
}

// writers are the commands that change files of the state even if a host runs. Others check where they open it.
const writers = " pair, pair approve, pair remove, tasks add, tasks rm, tasks pause, tasks resume, memory edit, memory forget," +
	" skills approve, skills forget, mcp approve, chats import, chats fork, chats repair,"

func (a *app) mayWrite(*cobra.Command, []string) error {
	_, state, err := a.Folders(nil)
	if err != nil {
		return err
	}
	return console.Own(state)
}

// rootArgs accepts a folder. Any other word is an unknown command.
func rootArgs(c *cobra.Command, args []string) error {
	if len(args) == 1 {
		if info, err := os.Stat(args[0]); err == nil && info.IsDir() {
			return nil
		}
	}
	return cobra.NoArgs(c, args)
}
