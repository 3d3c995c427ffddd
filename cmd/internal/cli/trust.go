package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/persistence/trustfile"
)

func (a *app) trustCmd() *cobra.Command {
	var yes, digest, forget, asJSON bool
	cmd := &cobra.Command{
		Use: "trust [dir]", Short: "Consent to what a folder's settings use outside the folder", Args: cobra.MaximumNArgs(1),
		Long: "A folder that somebody else wrote cannot use anything of this machine before you consent: no variables of the\n" +
			"environment, no files outside the folder, no addresses but the services' own, no MCP servers. This command shows what\n" +
			"its settings name, asks for your consent, and stores the answer outside the folder. Changed settings need new consent.\n" +
			"In containers, pass the digest in " + trustfile.Variable + " instead.",
		Example: "  sma trust\n  sma trust ./theirbot --yes\n  SMA_TRUST=$(sma trust --digest) sma run\n  sma trust --forget",
		RunE: func(cmd *cobra.Command, args []string) error {
			if several := len(slices.DeleteFunc([]bool{yes, digest, forget, asJSON}, func(set bool) bool { return !set })) > 1; several {
				return &console.Failure{Code: console.CodeUsage, What: "only one of --yes, --digest, --forget and --json makes sense", Help: cmd.CommandPath() + " --help"}
			}
			dir, state, err := a.Folders(args)
			if err != nil {
				return err
			}
			if forget {
				return a.forgetTrust(dir)
			}
			reaches, err := a.reaches(dir, state)
			switch {
			case err != nil:
				return err
			case digest:
				return a.Print(config.Digest(reaches) + "\n")
			case asJSON:
				return a.PrintJSON(trustedOf(reaches, a.checkTrust(dir, reaches) == nil))
			}
			return a.agree(dir, reaches, yes)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "agree without being asked")
	cmd.Flags().BoolVar(&digest, "digest", false, "only print the digest, for "+trustfile.Variable)
	cmd.Flags().BoolVar(&asJSON, "json", false, "write one JSON document")
	cmd.Flags().BoolVar(&forget, "forget", false, "take back what was agreed to")
	return cmd
}

type trusted struct {
	Trusted bool           `json:"trusted"`
	Digest  string         `json:"digest"`
	Reaches []config.Reach `json:"reaches"`
}

func trustedOf(reaches []config.Reach, ok bool) trusted {
	return trusted{Trusted: ok, Digest: config.Digest(reaches), Reaches: append([]config.Reach{}, reaches...)}
}

// operator looks a variable up in the operator's environment, for decisions about trust.
func (a *app) operator(name string) (string, bool) {
	if a.outside != nil {
		return a.outside(name)
	}
	return a.Env(name)
}

// checkTrust returns nil if the operator agreed to what the settings of a folder use outside of it. Otherwise it
// returns a [*config.UntrustedError], joined with the error of reading the stored agreement, if any.
func (a *app) checkTrust(dir string, reaches []config.Reach) error {
	if len(reaches) == 0 {
		return nil
	}
	ok, err := trustfile.Agreed(a.operator, dir, config.Digest(reaches))
	switch {
	case ok:
		return nil
	case err != nil:
		return errors.Join(&config.UntrustedError{Reaches: reaches}, err)
	}
	return &config.UntrustedError{Reaches: reaches}
}

// reaches are those of the settings and MCP servers that are on disk now.
func (a *app) reaches(dir, state string) ([]config.Reach, error) {
	loaded, err := a.Load(dir, false)
	if err != nil {
		return nil, err
	}
	servers, err := loaded.MCP(host.MCPFile(state), false)
	if err != nil {
		return nil, &console.Failure{Code: console.CodeConfig, What: "the MCP servers cannot be read", Why: err, Help: "repair " + host.MCPFile(state)}
	}
	return loaded.Reaches(servers), nil
}

// usedReaches are the reaches of settings and of their MCP servers, of which none starts if their file is unusable.
func usedReaches(state string, loaded *config.Loaded) []config.Reach {
	servers, _ := loaded.MCP(host.MCPFile(state), false) // the error is reported with the MCP servers
	return loaded.Reaches(servers)
}

// mustTrust returns an error if the folder is not trusted, before its keys are used or its servers started.
func (a *app) mustTrust(dir, state string, loaded *config.Loaded) error {
	if err := a.checkTrust(dir, usedReaches(state, loaded)); err != nil {
		return &console.Failure{Code: console.CodeConfig, What: "this folder is not trusted", Why: err, Help: "sma trust " + checkup.ShellWord(dir)}
	}
	return nil
}

// agree shows what a folder reaches, asks, and stores the answer.
func (a *app) agree(dir string, reaches []config.Reach, yes bool) error {
	if len(reaches) == 0 {
		return a.Print(a.Text("the settings of this folder use nothing outside of it; there is nothing to agree to\n", "这个文件夹的设置没有用到它之外的任何东西，无需同意\n"))
	}
	store, err := trustfile.Open(a.operator, dir)
	if err != nil {
		return noTrust(err)
	}
	known, err := store.Digest()
	if err != nil {
		return noTrust(err)
	}
	if err := a.Print(a.trustText(dir, reaches)); err != nil {
		return err
	}
	digest := config.Digest(reaches)
	if known == digest {
		return a.Print(a.Text("you agreed to this already\n", "你已经同意过\n"))
	}
	if !yes {
		if !console.IsTerminal(a.Stdin) {
			return &console.Failure{Code: console.CodeUsage, What: "there is no terminal to ask on", Help: "sma trust " + checkup.ShellWord(dir) + " --yes"}
		}
		if err := a.Print(a.Text("Allow this folder all of it? [y/N] ", "允许这个文件夹使用以上全部内容吗？输入 y 表示同意，回车表示不同意：")); err != nil {
			return err
		}
		line, _ := bufio.NewReader(a.Stdin).ReadString('\n') // the end of the input means no
		if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
			return &console.Failure{Code: console.CodeFailed, What: a.Text("you did not agree, so nothing was changed", "你没有同意，未做任何更改")}
		}
	}
	if err := store.Agree(digest); err != nil {
		return noTrust(err)
	}
	return a.Print(a.Text("agreed; the digest is ", "已同意；摘要为 ") + digest[:12] + "\n")
}

func (a *app) forgetTrust(dir string) error {
	store, err := trustfile.Open(a.operator, dir)
	if err == nil {
		err = store.Forget()
	}
	if err != nil {
		return noTrust(err)
	}
	return a.Print(a.Text("your agreement is taken back; if its settings use anything outside of it, this folder does not start again until you agree again\n", "已撤回同意；如果设置用到文件夹之外的东西，再次同意之前它不会启动\n"))
}

func noTrust(err error) error {
	return &console.Failure{Code: console.CodeFailed, What: "your agreement cannot be stored", Why: err}
}

// trustText lists in plain words what a folder reaches.
func (a *app) trustText(dir string, reaches []config.Reach) string {
	var out strings.Builder
	fmt.Fprintf(&out, a.Text("The settings of %s use these things outside of it:\n", "%s 的设置用到了它之外的这些东西：\n"), dir)
	for _, r := range reaches {
		fmt.Fprintf(&out, "  %s\n", a.reachText(r))
	}
	return out.String()
}

// reachText says one thing that a folder reaches. What the folder names is shown as it is.
func (a *app) reachText(r config.Reach) string {
	switch r.Kind {
	case config.ReachAddress:
		return fmt.Sprintf(a.Text("%s is %s, which gets keys and chats", "%s 是 %s，密钥和聊天会发给它"), r.Key, r.Text)
	case config.ReachVariable:
		return fmt.Sprintf(a.Text("%s gets the value of your variable %s", "%s 会得到你的环境变量 %s 的值"), r.Key, r.Text)
	case config.ReachFile:
		return fmt.Sprintf(a.Text("%s is read from %s, outside of the folder", "%s 来自文件夹之外的 %s"), r.Key, r.Text)
	case config.ReachServer:
		return fmt.Sprintf(a.Text("%s is started or asked: %s", "%s 会启动或询问：%s"), r.Key, r.Text)
	case config.ReachProgram:
		return fmt.Sprintf(a.Text("%s runs without an approval: %s", "%s 无需审批即可运行：%s"), r.Key, r.Text)
	}
	return r.String()
}

// trustFinding is doctor's finding about trust in the folder.
func (a *app) trustFinding(dir, state string, loaded *config.Loaded) []checkup.Finding {
	reaches := usedReaches(state, loaded)
	switch err := a.checkTrust(dir, reaches); {
	case len(reaches) == 0:
		return nil
	case err != nil:
		return []checkup.Finding{checkup.New("trust", checkup.Warn, fmt.Sprintf("the settings use %d things outside of the folder that you have not agreed to; the agent does not start until you have", len(reaches)), "sma trust "+checkup.ShellWord(dir))}
	}
	return []checkup.Finding{checkup.New("trust", checkup.OK, fmt.Sprintf("the settings use %d things outside of the folder, as you agreed", len(reaches)), "")}
}

// askTrusted contacts the services if the folder is trusted.
func (a *app) askTrusted(ctx context.Context, dir, state string, loaded *config.Loaded) []checkup.Finding {
	if a.mustTrust(dir, state, loaded) != nil {
		return []checkup.Finding{checkup.New("online", checkup.Warn, "no service is asked: the folder is not trusted", "sma trust "+checkup.ShellWord(dir))}
	}
	return askServices(ctx, loaded.Settings)
}

// trustOfService checks that a service could start in a folder, and returns the digest of what its settings reach
// outside of it, or "" if they reach nothing. The service has no variables of this shell but what is in .env.
func (a *app) trustOfService(dir string) (string, error) {
	bare := &app{Console: &console.Console{Stderr: a.Stderr, Env: func(string) (string, bool) { return "", false }}}
	loaded, err := bare.Load(dir, false)
	if err != nil {
		f := &console.Failure{Code: console.CodeConfig, What: "the settings cannot be used by a service", Why: err, Help: "write keys into " + filepath.Join(dir, ".env") + ", which only its owner may read"}
		if cause, ok := errors.AsType[*console.Failure](err); ok {
			f.Why = cause.Why
		}
		return "", f
	}
	if here, err := a.Load(dir, false); err != nil || !reflect.DeepEqual(here.Settings, loaded.Settings) {
		a.Say("%s", a.Words("warning: variables of this shell change the settings, and the service does not have them; write keys into "+filepath.Join(dir, ".env")))
	}
	reaches := usedReaches(filepath.Join(dir, ".ship"), loaded)
	if len(reaches) == 0 {
		return "", nil
	}
	if err := a.checkTrust(dir, reaches); err != nil {
		return "", &console.Failure{Code: console.CodeConfig, What: "this folder is not trusted", Why: err, Help: "sma trust " + checkup.ShellWord(dir)}
	}
	return config.Digest(reaches), nil
}
