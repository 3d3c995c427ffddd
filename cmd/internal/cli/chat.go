package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	terminal "github.com/shipmyagent/shipmyagent/adapters/platform/cli"
	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages"
)

func (a *app) chatCmd() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use: "chat", Short: "Chat in the terminal", Args: cobra.NoArgs,
		Long: "Chats with the agent of the running host. If none is running, a host with only the terminal is started; it ends with\n" +
			"the chat. A line that you type during an answer joins it. Ctrl-C stops the answer; press it twice to leave.",
		Example: "  sma chat\n  sma chat --chat plans",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withHost(c.Context(), func(ctx context.Context, state string, client *terminal.Client) error {
				return a.repl(ctx, state, client, name)
			})
		},
	}
	cmd.Flags().StringVar(&name, "chat", "main", "the `name` of the chat")
	return cmd
}

func (a *app) repl(ctx context.Context, state string, client *terminal.Client, name string) error {
	a.sayPaused(state, name)
	interrupts, release := a.Interrupts()
	defer release()
	o := terminal.REPLOptions{
		Client: client, Chat: name, In: a.Stdin, Out: a.Stdout, Interrupts: interrupts,
		HistoryFile: filepath.Join(state, "cli-history"), Chinese: a.ReadsChinese(),
	}
	in, inOK := a.Stdin.(*os.File)
	out, outOK := a.Stdout.(*os.File)
	if inOK && outOK {
		screen, restore, err := terminal.OpenScreen(in, out, func(key string) string { return a.Variable(key) })
		if err != nil {
			return &console.Failure{Code: console.CodeFailed, What: "the terminal cannot be used", Why: err}
		}
		defer restore()
		if screen != nil && a.noColor {
			screen.Color = false
		}
		o.Screen = screen
	}
	return fromClient(terminal.NewREPL(o).Run(ctx))
}

func (a *app) sendCmd() *cobra.Command {
	var name, id string
	var asJSON, detach bool
	var files []string
	cmd := &cobra.Command{
		Use: "send TEXT", Short: "Send one message to the agent and print its answer", Args: cobra.MaximumNArgs(1),
		Long: "Sends a message to a terminal chat and prints the answer. A TEXT of - is read from stdin.\n" +
			"With --id the same TEXT may be sent again: it counts once. Another TEXT with it is refused. Files go with it by --file; TEXT may be left out then.\n\n" +
			"Exit codes: 0 the agent answered; 7 it waits for a decision, which stderr shows; 1 it failed, and stderr says why;\n" +
			"4 it failed because the model's key was refused. --json has the same as state, waiting, reason and error.",
		Example: "  sma send 'What is on my list today?'\n  sma send --file photo.jpg 'What is this?'\n  echo \"$REPORT\" | sma send --chat reports --json -",
		RunE: func(c *cobra.Command, args []string) error {
			if name == "" {
				return &console.Failure{Code: console.CodeUsage, What: "--chat wants the name of a chat", Help: "sma send --help"}
			}
			text, err := a.textWith(args, files)
			if err != nil {
				return err
			}
			return a.withHost(c.Context(), func(ctx context.Context, state string, client *terminal.Client) error {
				uploaded, err := upload(ctx, client, name, files)
				if err != nil {
					return err
				}
				return a.send(ctx, state, client, sending{sent: sent{Chat: name, ID: id}, text: text, uploads: uploaded, asJSON: asJSON, detach: detach})
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write one JSON document")
	cmd.Flags().StringVar(&name, "chat", "main", "the `name` of the chat")
	cmd.Flags().StringArrayVar(&files, "file", nil, "a `path` of a file to send along; may be given more than once")
	cmd.Flags().StringVar(&id, "id", "", "an `id` of your own, which makes sending again harmless")
	cmd.Flags().BoolVar(&detach, "no-wait", false, "return once the message is safe, without the answer; a host that is started for it leaves the answer to the next one")
	return cmd
}

func (a *app) textOf(arg string) (string, error) {
	text := arg
	if arg == "-" {
		all, err := io.ReadAll(io.LimitReader(a.Stdin, 1<<20))
		if err != nil {
			return "", &console.Failure{Code: console.CodeFailed, What: "stdin cannot be read", Why: err}
		}
		text = strings.TrimRight(string(all), "\n")
	}
	if strings.TrimSpace(text) == "" {
		return "", &console.Failure{Code: console.CodeUsage, What: "the message is empty", Help: "sma send --help"}
	}
	return text, nil
}

// withHost works with the running host, or with one for the terminal only that is started and stopped for the work.
func (a *app) withHost(ctx context.Context, work func(ctx context.Context, state string, client *terminal.Client) error) error {
	dir, state, err := a.Folders(nil)
	if err != nil {
		return err
	}
	client := terminal.NewClient(host.SocketPath(state))
	defer client.Close()
	if console.Running(ctx, state) {
		return work(ctx, state, client)
	}
	if err := console.Own(state); err != nil {
		return err
	}
	loaded, err := a.LoadWith(dir, map[string]string{"metrics.listen": "off", "adapters.cli.enabled": "true"}, false)
	if err != nil {
		return err
	}
	log := a.Logger(slog.LevelError)
	h := host.New(host.Options{
		Dir: dir, State: state, Settings: loaded, Version: buildVersion().Version, Logger: log, Only: []string{"cli"},
		Trust: func(reaches []config.Reach) error { return a.checkTrust(dir, reaches) },
	})
	if err := h.Start(ctx); err != nil {
		return fromHost(err)
	}
	err = work(ctx, state, client)
	client.Close()
	if stopErr := h.Stop(context.WithoutCancel(ctx)); stopErr != nil {
		log.Error("not everything stopped in time; nothing that was accepted is lost", "error", stopErr)
	}
	return err
}

// sayPaused says why nothing will answer in a chat that an operator has paused.
func (a *app) sayPaused(state, name string) {
	if key := messages.NewChatKey("cli", "", name, 0); query.Paused(state, key) {
		a.Say(a.Text("the chat is paused: what you write waits until %s", "聊天已暂停，消息会等到恢复之后才处理：%s"), "sma chats resume "+checkup.ShellWord(string(key))+a.Again())
	}
}

// fromClient converts an error of the terminal's client.
func fromClient(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, terminal.ErrNotRunning):
		return &console.Failure{Code: console.CodeUnreachable, What: "the host has ended", Help: "sma run"}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &console.Failure{Code: console.CodeUnreachable, What: "the host ended before the answer was complete; it continues with it when it runs again", Help: "sma run"}
	case errors.Is(err, context.Canceled):
		return err
	default:
		return &console.Failure{Code: console.CodeFailed, What: "the chat failed", Why: err, Help: "sma status"}
	}
}
