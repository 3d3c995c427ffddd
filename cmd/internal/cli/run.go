package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/hostlog"
	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
	"github.com/shipmyagent/shipmyagent/cmd/internal/platforms"
	"github.com/shipmyagent/shipmyagent/cmd/internal/sdnotify"
	"github.com/shipmyagent/shipmyagent/config"
)

func (a *app) runCmd() *cobra.Command {
	return &cobra.Command{
		Use: "run [dir]", Short: "Run a project until it is stopped", Args: cobra.MaximumNArgs(1),
		Long: "Runs the project in a folder with all enabled platforms, until SIGTERM or Ctrl-C. The first signal gives runs a few\n" +
			"seconds to end; the second ends the process at once.",
		Example: "  sma run\n  sma run ./mybot --set adapters.web.listen=127.0.0.1:3001",
		RunE:    func(c *cobra.Command, args []string) error { return a.run(c.Context(), args) },
	}
}

// run runs a project until ctx ends.
func (a *app) run(ctx context.Context, args []string) error {
	dir, state, err := a.Folders(args)
	if err != nil {
		return err
	}
	return a.serve(ctx, host.Options{Dir: dir, State: state}, nil)
}

// startGCPercent is GOGC while a host starts. The small heap of a start would otherwise be collected three times, which
// took 4 of the 27 ms until the first poll.
const startGCPercent = 400

// serve starts a host, prints that it is ready, and stops it when ctx ends. The options must have the folders; serve
// sets settings, logger and version.
func (a *app) serve(ctx context.Context, o host.Options, also map[string]string) error {
	collector := debug.SetGCPercent(startGCPercent)
	a.Also = also
	loaded, err := a.LoadWith(o.Dir, also, false)
	if err != nil {
		return err
	}
	a.Warn(loaded.Findings)
	if !loaded.Settings.Metrics.Pprof {
		runtime.MemProfileRate = 0 // without profiles, sampling allocations only takes memory
	}
	log, follow := hostlog.New(a.Stderr, loaded.Settings.Log)
	o.Settings, o.Version, o.Logger, o.Log = loaded, buildVersion().Version, log, follow
	o.Reload = func() (*config.Loaded, error) { return a.LoadWith(o.Dir, also, false) }
	o.Trust = func(reaches []config.Reach) error { return a.checkTrust(o.Dir, reaches) }
	o.Questions, o.Orders = a.questions(o.Dir, o.State), a.orders(o.Dir, o.State)
	h := host.New(o)
	err = h.Start(ctx)
	debug.SetGCPercent(collector)
	if err != nil {
		if ctx.Err() != nil {
			return orderly(context.Cause(ctx))
		}
		return fromHost(err)
	}
	stopping := a.notify.Report(ctx, log, func(ctx context.Context) sdnotify.Health { return health(h.Status(ctx)) })
	summary, err := h.Summary(ctx)
	if err != nil {
		log.Warn("the owner's pairing code cannot be created", "error", err)
	}
	// The standard output of a service goes to a journal that others may read.
	person := console.IsTerminal(a.Stdout)
	a.Say("%s", a.readyBlock(summary, a.again(o.Dir, o.State), person))
	if person && !summary.Login.IsZero() {
		if err := a.Print(summary.Login.Reveal() + "\n"); err != nil {
			log.Warn("the login link cannot be shown; sma link prints it", "error", err)
		}
	}
	var failed error
	select {
	case <-ctx.Done():
		log.Info("stopping", "cause", context.Cause(ctx).Error())
	case failed = <-h.Fatal():
	}
	stopping()
	if err := h.Stop(context.WithoutCancel(ctx)); err != nil {
		log.Warn("not everything stopped in time; nothing that was accepted is lost", "error", err)
	}
	if failed != nil {
		return fromHost(failed)
	}
	return orderly(context.Cause(ctx))
}

// health is what a service manager is told about a host. A platform that is down is no reason to start the host again.
func health(s host.Status) sdnotify.Health {
	return sdnotify.Health{Ready: s.Ready, Alive: s.Alive, Text: fmt.Sprintf("%s, %d chats in memory", stateText(s), s.Chats.Active)}
}

// orderly is nil for a regular stop: by SIGTERM, or because the terminal was closed. Ctrl-C has its own exit code, as
// in every command.
func orderly(cause error) error {
	if s, ok := errors.AsType[console.Signal](cause); ok && (s.Signal == syscall.SIGTERM || s.Signal == syscall.SIGHUP) {
		return nil
	}
	return cause
}

// fromHost converts a failure of the host to one of a command.
func fromHost(err error) error {
	f, ok := errors.AsType[*host.Failure](err)
	if !ok {
		return err
	}
	code := console.CodeFailed
	switch f.Kind {
	case host.KindConfig:
		code = console.CodeConfig
	case host.KindCredential:
		code = console.CodeCredential
	case host.KindUnreachable:
		code = console.CodeUnreachable
	case host.KindRunning:
		code = console.CodeRunning
	case host.KindFailed:
	}
	return &console.Failure{Code: code, What: f.What, Why: f.Why, Help: f.Help}
}

// again are the flags that other commands need to find the same project from the current folder.
func (a *app) again(dir, state string) string {
	out := ""
	if here, err := os.Getwd(); err != nil || here != dir {
		out = " -C " + checkup.ShellWord(dir)
	}
	if state != filepath.Join(dir, ".ship") {
		out += " --state-dir " + checkup.ShellWord(state)
	}
	return out
}

// readyBlock says where everything is and what to do next. again are the flags that other commands need; linked says
// that the login link follows.
func (a *app) readyBlock(s host.Summary, again string, linked bool) string {
	var out strings.Builder
	row := func(name, text string) { fmt.Fprintf(&out, "  %s %s\n", console.Column(a.Words(name), 10), text) }
	fmt.Fprintf(&out, a.Text("%s is ready\n", "%s 已就绪\n"), s.Project)
	row("project", s.Dir)
	if s.Demo {
		row("model", a.Text("demo model, not a real assistant; set OPENAI_API_KEY for a real one", "演示模型，不是真正的助手；设置 OPENAI_API_KEY 即可使用真实模型"))
	} else {
		row("model", s.Model)
	}
	on := a.Text("on", "已启用")
	for _, p := range s.Platforms {
		switch {
		case !p.On:
			row(p.Name, a.Text("off: ", "未启用：")+a.Words(p.Note))
		case p.Name == "web":
			row(p.Name, a.webRow(s, again))
		case p.Name == "cli":
			row(p.Name, on+", sma chat"+again)
		default:
			row(p.Name, strings.Join(slices.DeleteFunc([]string{on, p.Bot, p.Link, a.Words(p.Note)}, func(s string) bool { return s == "" }), ", "))
		}
	}
	if s.Metrics != "" {
		row("metrics", "http://"+s.Metrics+"/metrics")
	}
	return out.String() + a.Text("Next: ", "下一步：") + a.nextStep(s, again, linked)
}

// nextStep says what a person does once the host is ready.
func (a *app) nextStep(s host.Summary, again string, linked bool) string {
	link := ownerLink(s.Platforms, s.OwnerBot, s.OwnerCode)
	switch {
	case s.OwnerCode != "" && link != "":
		return fmt.Sprintf(a.Text(
			"open %[1]s to become the owner of the bot (good for one hour), or send it /start %[2]s",
			"打开 %[1]s 成为机器人的主人（一小时内有效），或向它发送 /start %[2]s",
		), link, s.OwnerCode)
	case s.OwnerCode != "":
		return fmt.Sprintf(a.Text(
			"send /start %s to the bot to become its owner (good for one hour)", "向机器人发送 /start %s，成为它的主人（一小时内有效）",
		), s.OwnerCode)
	case s.Web != "" && s.Login.IsZero():
		return a.Text("open ", "打开 ") + s.Web
	case s.Web != "" && linked:
		return a.Text("open the page with this link, which logs you in", "用下面的链接打开网页，会自动登录")
	case s.Web != "":
		return a.Text("open the link that logs you in, which this prints: ", "打开登录链接，用这个命令查看：") + "sma link" + again
	case !slices.ContainsFunc(s.Platforms, func(p host.PlatformStatus) bool { return p.On && p.Name != "cli" }):
		return "sma chat" + again
	default:
		return a.Text("write to the bot", "给机器人发消息")
	}
}

// ownerLink is a link that opens a chat with the bot and sends it the owner's code, or "" if the service has no such
// links or did not say yet what the bot is called.
func ownerLink(list []host.PlatformStatus, bot, code string) string {
	d, _ := platforms.All().Of(bot)
	for _, p := range list {
		if d.OwnerLink != nil && p.Name == bot && p.Link != "" {
			return d.OwnerLink(p.Link, code)
		}
	}
	return ""
}

// webRow says where the web page is and how people log in.
func (a *app) webRow(s host.Summary, again string) string {
	if s.Login.IsZero() {
		return s.Web
	}
	return s.Web + a.Text(" asks for its token: ", " 需要令牌：") + "sma link" + again
}
