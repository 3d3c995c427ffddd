package cli

import (
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
	shown := console.Command[host.Status]{Run: a.status, Text: statusText}.On(a.Console, cmd).RunE
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
	switch {
	case errors.Is(err, console.ErrNotRunning):
		return host.Status{State: stateStopped, Platforms: []host.PlatformStatus{}}, nil
	case err != nil:
		return s, console.NoAnswer(err)
	}
	return s, nil
}

func statusText(s host.Status) string {
	if s.State == stateStopped {
		return "not running\n"
	}
	var out strings.Builder
	row := func(name, text string) { fmt.Fprintf(&out, "%-10s %s\n", name, text) }
	row("state", stateText(s))
	row("project", s.Project+" ("+s.Dir+")")
	row("process", fmt.Sprintf("%d, up %s, version %s", s.PID, time.Since(s.Started).Round(time.Second), s.Version))
	row("model", s.Model)
	for _, m := range s.Models {
		switch {
		case m.SkippedS > 0:
			row("", fmt.Sprintf("%s is skipped for %s: %s", m.Name, time.Duration(m.SkippedS)*time.Second, m.Reason))
		case m.Reason != "":
			row("", fmt.Sprintf("%s failed the last time: %s", m.Name, m.Reason))
		}
		if m.NoTools {
			row("", m.Name+" takes no tools")
		}
		if m.RefusedEfforts != "" {
			row("", m.Name+" refuses the effort "+m.RefusedEfforts)
		}
	}
	for _, p := range s.Platforms {
		word := "off"
		switch {
		case p.Up:
			word = "up"
		case p.On:
			word = "down"
		}
		for _, more := range []string{p.Bot, p.Link, p.Note} {
			if more != "" {
				word += ", " + more
			}
		}
		row(p.Name, word)
		if len(p.Can) > 0 {
			row("", strings.Join(p.Can, ", "))
		}
	}
	row("chats", fmt.Sprintf("%d in memory", s.Chats.Active))
	if s.Metrics != "" {
		row("metrics", "http://"+s.Metrics+"/metrics")
	}
	if len(s.Restart) > 0 {
		row("restart", "needed for "+strings.Join(s.Restart, ", "))
	}
	return out.String()
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
		a.Say("The page asks for the token that adapters.web.token is set to.")
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
