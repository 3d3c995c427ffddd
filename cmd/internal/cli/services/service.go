package services

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
)

// elsewhere is the advice for systems without systemd.
const elsewhere = "let the service manager of this machine run: sma run DIR (docs/how-to/service.md)"

// Options configure the command.
type Options struct {
	// Trust checks that a service, which has no variables of this shell, could start in a folder, and returns the digest
	// of what the operator agreed to there, or "" if there is nothing to agree to.
	Trust func(dir string) (digest string, err error)
}

// Commands is the command service with its subcommands.
func Commands(a *console.Console, o Options) *cobra.Command {
	c := &commands{Console: a, trust: o.Trust, run: run, uid: os.Geteuid(), os: runtime.GOOS, program: os.Executable, etc: "/etc"}
	cmd := console.Group(
		&cobra.Command{
			Use: "service", Short: "Have systemd run an agent",
			Long: "Has systemd run an agent: it starts with the machine, is restarted when it fails or hangs, and can write nothing but\n" +
				"its folder. Without root it is a service of your user. As root it is one of the machine, which runs as the owner of\n" +
				"the folder. The service does not have the variables of your shell: keys belong into the folder's .env.",
			Example: "  sma service install ./mybot && sma service start ./mybot\n  sudo sma service install --system /srv/mybot",
		},
		c.installCmd(),
		c.command("uninstall", "Stop the service and remove it; the folder stays", c.uninstall),
		c.command("start", "Start the service and wait until it is ready", c.start),
		c.command("stop", "Stop the service", c.stop),
		c.command("status", "Show whether the service is installed and runs", c.status),
	)
	cmd.PersistentFlags().BoolVar(&c.system, "system", false, "a service of the machine, not of your user (default for root)")
	cmd.PersistentFlags().StringVar(&c.name, "name", "", "the `name` of the unit (default: sma- and the folder's name)")
	return cmd
}

type commands struct {
	*console.Console
	trust   func(dir string) (string, error)
	run     runner
	uid     int
	os      string
	program func() (string, error)
	etc     string

	system     bool
	name       string
	noCommands bool
	show       bool
}

// Status is a service and what it is doing.
type Status struct {
	Unit      string `json:"unit"`
	File      string `json:"file"`
	System    bool   `json:"system"` // of the machine, not of one user
	Dir       string `json:"dir"`
	Installed bool   `json:"installed"`
	Enabled   bool   `json:"enabled"`
	State     string `json:"state"` // as systemd calls it: active, inactive, failed and others
	PID       int    `json:"pid,omitempty"`
	Says      string `json:"says,omitempty"` // what the host told systemd last
}

func (c *commands) command(name, short string, do func(context.Context, *service) error) *cobra.Command {
	return console.Command[Status]{
		Run: func(ctx context.Context, args []string) (Status, error) {
			s, err := c.find(args)
			if err != nil {
				return Status{}, err
			}
			if err := do(ctx, s); err != nil {
				return Status{}, err
			}
			return s.status(ctx)
		},
		Text: func(s Status) string { return statusText(c.Console, s) },
	}.On(c.Console, &cobra.Command{
		Use: name + " [dir]", Short: short, Args: cobra.MaximumNArgs(1),
		Example: fmt.Sprintf("  sma service %[1]s\n  sma service %[1]s ./mybot --json", name),
	})
}

func (c *commands) installCmd() *cobra.Command {
	cmd := c.command("install", "Install the service, to start with the machine", c.install)
	cmd.Long = "Writes the unit and enables it. It is started by \"sma service start\", and whenever the machine starts. Installing again\n" +
		"replaces the unit. The agent's commands and local MCP servers run in their sandbox; an agent that needs neither can\n" +
		"have a tighter unit with --no-commands."
	cmd.Example = "  sma service install\n  sudo sma service install --system /srv/mybot --no-commands\n  sma service install --print"
	cmd.Flags().BoolVar(&c.noCommands, "no-commands", false, "a tighter unit, under which the agent can run no programs")
	cmd.Flags().BoolVar(&c.show, "print", false, "only print the unit")
	installed := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !c.show {
			return installed(cmd, args)
		}
		s, err := c.find(args)
		if err != nil {
			return err
		}
		u, err := c.unit(cmd.Context(), s)
		if err != nil {
			return err
		}
		return c.Print(u.text())
	}
	return cmd
}

type service struct {
	systemd
	name, dir, file string
}

// find finds the service of a folder, which need not be installed.
func (c *commands) find(args []string) (*service, error) {
	if c.os != "linux" {
		return nil, &console.Failure{Code: console.CodeFailed, What: "services are installed with systemd, which this system does not have", Help: elsewhere}
	}
	if len(c.Sets) > 0 || c.StateFolder != "" {
		return nil, &console.Failure{Code: console.CodeUsage, What: "a service has neither --set nor --state-dir", Help: "write the settings into ship.json"}
	}
	dir, err := c.Project(args)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, &console.Failure{Code: console.CodeConfig, What: "the project's folder cannot be found", Why: err}
	}
	s := &service{systemd: systemd{run: c.run, system: c.system || c.uid == 0}, dir: dir, name: cmp.Or(c.name, nameOf(filepath.Base(dir)))}
	if nameOf(s.name) != "sma-"+s.name {
		return nil, &console.Failure{Code: console.CodeUsage, What: fmt.Sprintf("%q cannot be the name of a unit", s.name), Help: "--name " + nameOf(s.name)}
	}
	folder := filepath.Join(c.etc, "systemd", "system")
	if !s.system {
		if folder = c.Variable("XDG_CONFIG_HOME"); !filepath.IsAbs(folder) {
			folder = filepath.Join(c.Variable("HOME"), ".config")
		}
		folder = filepath.Join(folder, "systemd", "user")
	}
	s.file = filepath.Join(folder, s.name+".service")
	return s, nil
}

// installed reports whether the unit's file exists. A file with its name that is not the folder's is an error.
func (s *service) installed() (bool, error) {
	text, err := os.ReadFile(s.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, &console.Failure{Code: console.CodeFailed, What: "the unit cannot be read", Why: err}
	}
	if first, _, _ := strings.Cut(string(text), "\n"); first != mark(s.dir) {
		return false, &console.Failure{Code: console.CodeConfig, What: s.file + " is not the service of " + s.dir, Help: "--name and another name"}
	}
	return true, nil
}

// needInstalled is an error if the service is not installed.
func (s *service) needInstalled() error {
	ok, err := s.installed()
	if err == nil && !ok {
		err = &console.Failure{Code: console.CodeFailed, What: "the service is not installed", Help: "sma service install " + checkup.ShellWord(s.dir)}
	}
	return err
}

func (c *commands) unit(ctx context.Context, s *service) (u unit, err error) {
	u = unit{title: s.name, system: s.system, commands: !c.noCommands}
	if c.system && c.uid != 0 && !c.show {
		return u, &console.Failure{Code: console.CodeUsage, What: "only root can install a service of the machine", Help: "sudo sma service install --system " + checkup.ShellWord(s.dir)}
	}
	if u.systemd, err = s.version(ctx); err != nil {
		return u, err
	}
	program, err := c.program()
	if err != nil {
		return u, &console.Failure{Code: console.CodeFailed, What: "the program cannot be found", Why: err}
	}
	if u.program, err = escaped(program); err != nil {
		return u, err
	}
	if u.dir, err = escaped(s.dir); err != nil {
		return u, err
	}
	digest, err := c.trust(s.dir)
	if err != nil {
		return u, err
	}
	if s.system { // the homes, with what people agreed to, are hidden from it
		u.trust = digest
	}
	u.user, err = owner(s)
	return u, err
}

// owner is whom a system service runs as.
func owner(s *service) (string, error) {
	info, err := os.Stat(s.dir)
	if err != nil {
		return "", &console.Failure{Code: console.CodeConfig, What: "the project's folder cannot be read", Why: err}
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || s.system && st.Uid == 0 {
		return "", &console.Failure{
			Code: console.CodeConfig, What: s.dir + " belongs to root, and no agent should run as root",
			Help: "useradd --system sma; chown -R sma " + checkup.ShellWord(s.dir),
		}
	}
	return strconv.Itoa(int(st.Uid)), nil
}

func (c *commands) install(ctx context.Context, s *service) error {
	if _, err := s.installed(); err != nil {
		return err
	}
	u, err := c.unit(ctx, s)
	if err != nil {
		return err
	}
	if err = os.MkdirAll(filepath.Dir(s.file), 0o755); err == nil { //nolint:gosec // as systemd has it
		err = os.WriteFile(s.file, []byte(u.text()), 0o644) //nolint:gosec // units can be read by everybody
	}
	if err != nil {
		return &console.Failure{Code: console.CodeFailed, What: "the unit cannot be written", Why: err}
	}
	if err := s.enable(ctx); err != nil {
		return err
	}
	if !s.system && !s.lingers(ctx, c.uid) {
		c.Say(c.Text("The service ends when you log out, unless you run: loginctl enable-linger", "你退出登录后服务会停止；要让它继续运行，请执行：loginctl enable-linger"))
	}
	c.Say(c.Text("Next: sma service start %s", "下一步：sma service start %s"), checkup.ShellWord(s.dir))
	return nil
}

func (s *service) enable(ctx context.Context) error {
	_, err := s.do(ctx, "daemon-reload")
	if err == nil {
		_, err = s.do(ctx, "enable", s.name+".service")
	}
	return console.Failure{Code: console.CodeFailed, What: "the unit " + s.file + " is written, but systemd does not take it", Help: elsewhere}.Because(err)
}

func (c *commands) uninstall(ctx context.Context, s *service) error {
	if ok, err := s.installed(); err != nil || !ok {
		return err
	}
	_, err := s.do(ctx, "disable", "--now", s.name+".service")
	if err == nil {
		err = os.Remove(s.file)
	}
	if err == nil {
		_, err = s.do(ctx, "daemon-reload")
	}
	return console.Failure{Code: console.CodeFailed, What: "the service cannot be removed"}.Because(err)
}

func (c *commands) start(ctx context.Context, s *service) error {
	if err := s.needInstalled(); err != nil {
		return err
	}
	if _, err := s.do(ctx, "start", s.name+".service"); err != nil {
		log := "journalctl -n 50 -u "
		if !s.system {
			log = "journalctl --user -n 50 -u "
		}
		return &console.Failure{Code: console.CodeFailed, What: "the service does not start", Why: err, Help: log + s.name}
	}
	return nil
}

func (c *commands) stop(ctx context.Context, s *service) error {
	if err := s.needInstalled(); err != nil {
		return err
	}
	_, err := s.do(ctx, "stop", s.name+".service")
	return console.Failure{Code: console.CodeFailed, What: "the service does not stop"}.Because(err)
}

func (c *commands) status(context.Context, *service) error { return nil }

func (s *service) status(ctx context.Context) (Status, error) {
	out := Status{Unit: s.name + ".service", File: s.file, System: s.system, Dir: s.dir, State: "inactive"}
	var err error
	if out.Installed, err = s.installed(); err != nil || !out.Installed {
		return out, err
	}
	properties, err := s.show(ctx, out.Unit)
	if err != nil {
		return out, &console.Failure{Code: console.CodeFailed, What: "systemd does not say how the service is", Why: err}
	}
	out.State, out.Says, out.Enabled = properties["ActiveState"], properties["StatusText"], properties["UnitFileState"] == "enabled"
	out.PID, _ = strconv.Atoi(properties["MainPID"]) // 0 if it is not running
	return out, nil
}

func statusText(a *console.Console, s Status) string {
	if !s.Installed {
		return a.Text("not installed\n", "没有安装\n")
	}
	var out strings.Builder
	row := func(name, text string) { fmt.Fprintf(&out, "%s %s\n", console.Column(name, 10), text) }
	state := s.State
	if s.Says != "" && s.PID > 0 {
		state += ", " + s.Says
	}
	row(a.Text("state", "状态"), state)
	if s.PID > 0 {
		row(a.Text("process", "进程"), strconv.Itoa(s.PID))
	}
	if !s.Enabled {
		row(a.Text("enabled", "开机启动"), a.Text("no: it does not start with the machine", "否"))
	}
	row(a.Text("unit", "服务单元"), s.File)
	row(a.Text("project", "项目"), s.Dir)
	return out.String()
}
