package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/adapters/platform/web"
	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
)

func (a *app) linkCmd() *cobra.Command {
	return a.prints(&cobra.Command{
		Use: "link", Short: "Print the link that logs a browser in to the web page", Args: cobra.NoArgs,
		Long: "Prints the address of the running host's web page, with its token. Whoever has this link can do\n" +
			"what you can do on the page. The token is in .ship/web.token; without that file the next start\n" +
			"makes a new one, and old links are worth nothing.",
		Example: "  sma link\n  sma link -C ./mybot",
	}, func(ctx context.Context, _ []string) (string, error) {
		dir, state, err := a.folders(nil)
		if err != nil {
			return "", err
		}
		link, err := a.link(ctx, dir, state)
		return link + "\n", err
	})
}

// link is the address that logs in. The running host knows where its page is, and the
// file has the token.
func (a *app) link(ctx context.Context, dir, state string) (string, error) {
	where, err := newControl(state).login(ctx)
	switch {
	case errors.Is(err, errNotRunning):
		return "", &Failure{Code: CodeUnreachable, What: "no host is running here, so there is no page", Help: "sma run " + shellWord(dir)}
	case err != nil:
		return "", noAnswer(err)
	}
	switch where.By {
	case host.LoginFile:
	case host.LoginOpen:
		return where.Page, nil
	case host.LoginSetting:
		a.say("The page asks for the token that adapters.web.token is set to.")
		return where.Page, nil
	default:
		return "", &Failure{Code: CodeFailed, What: "the host has no web page", Help: "set adapters.web.enabled to true"}
	}
	file := host.TokenFile(state)
	token, err := file.Read()
	if err != nil {
		return "", &Failure{
			Code: CodeConfig, What: "the token of the web page cannot be used", Why: err,
			Help: fmt.Sprintf("remove %s if it is there, and start the host again: it makes a new token", file.Path()),
		}
	}
	return web.LoginLink(where.Page, token), nil
}
