package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/adapters/platform/web"
	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
)

const stateStopped host.State = "stopped"

func (a *app) statusCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "status", Short: "Show whether a host is running here, and its health", Args: cobra.NoArgs,
		Example: "  sma status\n  sma status --probe   exit code 0 if it takes messages, for health checks",
	}
	probe := cmd.Flags().Bool("probe", false, "print nothing; the exit code says whether it is ready")
	shown := console.Command[host.Status]{Run: a.status, Text: a.statusText}.On(a.Console, cmd).RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !*probe {
			return shown(cmd, args)
		}
		s, err := a.status(cmd.Context(), args)
		if err == nil && s.NotReady() != "" {
			err = &console.Failure{Code: console.CodeFailed, What: s.NotReady()}
		}
		return err
	}
	return cmd
}

// status is the status of the running host, or [stateStopped] if none is running.
func (a *app) status(ctx context.Context, _ []string) (host.Status, error) {
	_, state, err := a.Folders(nil)
	if err != nil {
		return host.Status{}, err
	}
	s, err := console.NewControl(state).Status(ctx)
	if errors.Is(err, console.ErrNotRunning) {
		return host.Status{State: stateStopped, Platforms: []host.PlatformStatus{}}, nil
	}
	return s, console.NoAnswer(err)
}

func (a *app) statusText(s host.Status) string {
	if s.State == stateStopped {
		return a.Text("not running\n", "没有运行\n")
	}
	var out strings.Builder
	row := func(name, text string) { fmt.Fprintf(&out, "%s %s\n", console.Column(name, 10), text) }
	row(a.Text("state", "状态"), a.stateText(s))
	row(a.Text("project", "项目"), s.Project+" ("+s.Dir+")")
	row(a.Text("process", "进程"), fmt.Sprintf(a.Text("%d, up %s, version %s", "%d，已运行 %s，版本 %s"), s.PID, time.Since(s.Started).Round(time.Second), s.Version))
	row(a.Text("model", "模型"), s.Model)
	for _, m := range s.Models {
		switch {
		case m.SkippedS > 0:
			row("", fmt.Sprintf(a.Text("%s is skipped for %s: %s", "%s 在 %s 内不使用：%s"), m.Name, time.Duration(m.SkippedS)*time.Second, m.Reason))
		case m.Reason != "":
			row("", fmt.Sprintf(a.Text("%s failed the last time: %s", "%s 上次失败：%s"), m.Name, m.Reason))
		}
		if m.NoTools {
			row("", m.Name+a.Text(" takes no tools", " 不支持工具"))
		}
		if m.RefusedEfforts != "" {
			row("", m.Name+a.Text(" refuses the effort ", " 不接受思考强度 ")+m.RefusedEfforts)
		}
	}
	for _, p := range s.Platforms {
		word := a.Text("off", "未启用")
		switch {
		case p.Up:
			word = a.Text("up", "正常")
		case p.On:
			word = a.Text("down", "断开")
		}
		for _, more := range []string{p.Bot, p.Link, p.Note} {
			if more != "" {
				word += a.Text(", ", "，") + a.Words(more)
			}
		}
		row(p.Name, word)
		for i, can := range p.Can {
			p.Can[i] = a.Words(can)
		}
		if len(p.Can) > 0 {
			row("", strings.Join(p.Can, a.Text(", ", "，")))
		}
	}
	row(a.Text("chats", "聊天"), fmt.Sprintf(a.Text("%d in memory", "内存中 %d 个"), s.Chats.Active))
	if s.Metrics != "" {
		row(a.Text("metrics", "指标"), "http://"+s.Metrics+"/metrics")
	}
	if len(s.Restart) > 0 {
		row(a.Text("restart", "重启"), a.Text("needed for ", "需要重启才能生效：")+strings.Join(s.Restart, ", "))
	}
	return out.String()
}

// stateText is [stateText] in the language of the terminal.
func (a *app) stateText(s host.Status) string {
	why := s.NotReady()
	chinese := map[host.State]string{host.StateReady: "就绪", host.StateStarting: "正在启动", host.StateDraining: "正在停止"}[s.State]
	if s.State == host.StateReady && why != "" {
		chinese = "未就绪：" + a.Words(why)
	}
	return a.Text(stateText(s), cmp.Or(chinese, string(s.State)))
}

// stateText is the state in one line. It agrees with --probe and /readyz.
func stateText(s host.Status) string {
	why := s.NotReady()
	switch {
	case why == "":
		return string(s.State)
	case s.State == host.StateReady:
		return "not ready: " + why
	default:
		return string(s.State)
	}
}

func (a *app) linkCmd() *cobra.Command {
	return a.Prints(&cobra.Command{
		Use: "link", Short: "Print the link that logs a browser in to the web page", Args: cobra.NoArgs,
		Long: "Prints the address of the running host's web page, with its token. Anybody with this link can do what you can do\n" +
			"on the page. The token is stored in .ship/web.token. If you delete that file, the next start makes a new token, and\n" +
			"old links stop working.",
		Example: "  sma link\n  sma link -C ./mybot",
	}, func(ctx context.Context, _ []string) (string, error) {
		dir, state, err := a.Folders(nil)
		if err != nil {
			return "", err
		}
		link, err := a.link(ctx, dir, state)
		return link + "\n", err
	})
}

// link is the URL that logs a browser in. The running host knows the address of its page; the file has the token.
func (a *app) link(ctx context.Context, dir, state string) (string, error) {
	where, err := console.NewControl(state).Login(ctx)
	switch {
	case errors.Is(err, console.ErrNotRunning):
		return "", &console.Failure{Code: console.CodeUnreachable, What: "no host is running here, so there is no page", Help: "sma run " + checkup.ShellWord(dir)}
	case err != nil:
		return "", console.NoAnswer(err)
	}
	switch where.By {
	case host.LoginFile:
	case host.LoginOpen:
		return where.Page, nil
	case host.LoginSetting:
		a.Say("%s", a.Words("The page asks for the token that adapters.web.token is set to."))
		return where.Page, nil
	default:
		return "", &console.Failure{Code: console.CodeFailed, What: "the host has no web page", Help: "set adapters.web.enabled to true"}
	}
	file := host.TokenFile(state)
	token, err := file.Read()
	if err != nil {
		return "", &console.Failure{
			Code: console.CodeConfig, What: "the token of the web page cannot be used", Why: err,
			Help: fmt.Sprintf("remove %s if it is there, and start the host again: it makes a new token", file.Path()),
		}
	}
	return web.LoginLink(where.Page, token), nil
}
