package cli

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/toolset"
)

func (a *app) toolsCmd() *cobra.Command {
	return console.Command[toolset.Offer]{Run: a.tools, Text: a.toolsText}.On(a.Console, &cobra.Command{
		Use: "tools [CHAT]", Short: "Show what each tool adds to every request", Args: cobra.MaximumNArgs(1),
		Long: "Shows the tools that the running host offers to the model, with their size in tokens, as OpenAI's models count. Without\n" +
			"a chat, they are those of a new chat. Tools for archived conversations, for tasks and for background processes are " +
			"offered once a chat has some.",
		Example: "  sma tools\n  sma tools telegram-chat-42 --json",
	})
}

// tools asks the running host, which alone knows the tools of MCP servers.
func (a *app) tools(ctx context.Context, args []string) (out toolset.Offer, err error) {
	_, state, err := a.Folders(nil)
	if err != nil {
		return out, err
	}
	key, err := console.ChatArg(args)
	if err != nil {
		return out, err
	}
	err = console.NewControl(state).Get(ctx, "/control/tools?key="+url.QueryEscape(string(key)), &out)
	return out, console.NoAnswer(err)
}

func (a *app) toolsText(o toolset.Offer) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%7s %7s\n", a.Text("tokens", "token"), a.Text("bytes", "字节"))
	for _, t := range o.Tools {
		fmt.Fprintf(&out, "%7d %7d  %s\n", t.Tokens, t.Bytes, t.Name)
	}
	fmt.Fprintf(&out, a.Text("%7d %7d  %d tools in every request of %s\n", "%7d %7d  %d 个工具，%s 的每次请求都会带上\n"), o.Tokens, o.Bytes, len(o.Tools), o.Chat)
	return out.String()
}
