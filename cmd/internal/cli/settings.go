package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/platforms"
	"github.com/shipmyagent/shipmyagent/config"
)

func (a *app) configCmd() *cobra.Command {
	return console.Group(&cobra.Command{
		Use: "config", Short: "Check and show the settings",
		Example: "  sma config check            every fault at once, with line and column\n  sma config show --origin    what is in effect, and where it comes from",
	}, a.configCheckCmd(), a.configShowCmd(), a.configSchemaCmd())
}

// checked is the JSON of config check.
type checked struct {
	OK       bool             `json:"ok"`
	Findings []config.Finding `json:"findings"`
	// Untrusted are the resources outside of the folder that the settings use, if they are not agreed to.
	Untrusted []config.Reach `json:"untrusted,omitempty"`
}

func (a *app) configCheckCmd() *cobra.Command {
	return console.Command[checked]{
		Run: func(ctx context.Context, _ []string) (checked, error) {
			dir, state, err := a.Places(nil)
			if err != nil {
				return checked{}, err
			}
			return askRunning(ctx, a.Console, state, aboutCheck, func(error) (checked, error) { return a.check(dir, state) })
		},
		Text: a.checkedText,
		Verdict: func(c checked) error {
			if c.OK {
				return nil
			}
			return &console.Failure{Code: console.CodeConfig, What: "the settings have faults"}
		},
	}.On(a.Console, &cobra.Command{
		Use: "check", Short: "Report every problem in the settings", Args: cobra.NoArgs,
		Example: "  sma config check\n  sma config check --dir ./mybot --json",
	})
}

func (a *app) check(dir, state string) (checked, error) {
	loaded, err := a.Load(dir, true)
	if invalid, ok := errors.AsType[*config.InvalidError](err); ok {
		return checked{Findings: invalid.Findings}, nil
	}
	if err != nil {
		return checked{}, err
	}
	found, err := loadServers(state, loaded, true)
	servers, err := serverFindings(found, err)
	if err != nil {
		return checked{}, &console.Failure{Code: console.CodeConfig, What: "the MCP servers cannot be read", Why: err}
	}
	out := checkOf(loaded.Findings, servers)
	reaches := loaded.Reaches(found)
	if a.checkTrust(dir, reaches) != nil {
		out.Untrusted = reaches
	}
	return out, nil
}

// checkOf is the result for the findings of ship.json and of mcp.json.
func checkOf(settings, servers []config.Finding) checked {
	out := checked{OK: true, Findings: append(append([]config.Finding{}, settings...), servers...)}
	for _, f := range out.Findings {
		out.OK = out.OK && f.Severity != config.Error
	}
	return out
}

func (a *app) checkedText(c checked) string {
	var out strings.Builder
	for _, f := range c.Findings {
		fmt.Fprintln(&out, a.Words(fmt.Sprintf("%s: %s", f.Severity, f)))
	}
	for _, r := range c.Untrusted {
		fmt.Fprintf(&out, a.Text("note: not trusted yet, see sma trust: %s\n", "注意：还没有得到信任，参见 sma trust：%s\n"), a.reachText(r))
	}
	if c.OK {
		out.WriteString(a.Text("ok\n", "没有问题\n"))
	}
	return out.String()
}

func (a *app) configShowCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show", Short: "Show the settings in effect, with secrets hidden", Args: cobra.NoArgs,
		Example: "  sma config show --origin\n  SMA_LLM_MODEL=gpt-5 sma config show --json",
	}
	asJSON := cmd.Flags().Bool("json", false, "write one JSON document")
	origin := cmd.Flags().Bool("origin", false, "say where each value comes from")
	return a.Prints(cmd, func(ctx context.Context, _ []string) (string, error) {
		dir, state, err := a.Places(nil)
		if err != nil {
			return "", err
		}
		settings, err := askRunning(ctx, a.Console, state, aboutShow, func(error) (shownSettings, error) { return a.shown(dir) })
		if err != nil {
			return "", err
		}
		a.Warn(settings.Findings)
		return settings.text(*asJSON, *origin), nil
	})
}

// settingsText writes the effective settings with secrets hidden.
func settingsText(loaded *config.Loaded, asJSON, origin bool) (string, error) {
	if asJSON {
		doc, err := loaded.Show(origin)
		return strings.TrimRight(string(doc), "\n") + "\n", err
	}
	keys, err := loaded.Effective()
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&out, "%s = %s", k.Key, json.RawMessage(k.Value))
		if origin {
			fmt.Fprintf(&out, "  # %s", k.Origin)
		}
		out.WriteByte('\n')
	}
	return out.String(), nil
}

func (a *app) configSchemaCmd() *cobra.Command {
	return a.Prints(&cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of ship.json", Args: cobra.NoArgs,
		Example: "  sma config schema > ship.schema.json\n  sma config schema | less",
	}, func(context.Context, []string) (string, error) {
		return strings.TrimRight(string(config.Schema()), "\n") + "\n", nil
	})
}

// answersWithin is how long commands wait for a host if they can do without its answer.
const answersWithin = 5 * time.Second

// askRunning asks the host that runs on a state folder, or answers here if none does. If the answer describes the
// host's environment, it says so on stderr. With --set, the question is about this terminal, so it is answered here.
func askRunning[T any](ctx context.Context, a *console.Console, state, what string, here func(silent error) (T, error)) (T, error) {
	h := console.NewControl(state)
	soon, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	status, err := h.Status(soon)
	if err != nil {
		return here(err)
	}
	if len(a.Sets) > 0 {
		a.Say(a.Text("note: these are the settings of this terminal with --set; the host that runs (process %d) has its own", "注意：这是本终端带 --set 的设置；正在运行的主机（进程 %d）有自己的设置"), status.PID)
		return here(nil)
	}
	var answer hostAnswer
	var out T
	switch err := h.Get(ctx, "/control/ask/"+what, &answer); {
	case errors.Is(err, console.ErrNoChat), errors.Is(err, console.ErrNotRunning): // a host of sma send or sma chat, or an older version
		return here(nil)
	case err != nil:
		return out, console.NoAnswer(err)
	}
	a.Say(a.Text("note: this is what the running host says (process %d): its environment and flags count, not this terminal's", "注意：这是正在运行的主机（进程 %d）给出的结果，以它的环境变量和参数为准，而不是本终端的"), status.PID)
	if f := answer.Failure; f != nil {
		return out, &console.Failure{Code: f.Code, What: f.What, Help: f.Help}
	}
	if err := json.Unmarshal(answer.Value, &out); err != nil {
		return out, console.NoAnswer(fmt.Errorf("read the answer: %w", err))
	}
	return out, nil
}

// shownSettings are the settings in the forms that config show prints, with secrets hidden.
type shownSettings struct {
	Findings   []config.Finding `json:"findings"`
	Text       string           `json:"text"`
	TextOrigin string           `json:"textOrigin"`
	JSON       string           `json:"json"`
	JSONOrigin string           `json:"jsonOrigin"`
}

func (a *app) shown(dir string) (shownSettings, error) {
	loaded, err := a.Load(dir, false)
	if err != nil {
		return shownSettings{}, err
	}
	out := shownSettings{Findings: loaded.Findings}
	for _, form := range []struct {
		into           *string
		asJSON, origin bool
	}{{&out.Text, false, false}, {&out.TextOrigin, false, true}, {&out.JSON, true, false}, {&out.JSONOrigin, true, true}} {
		if *form.into, err = settingsText(loaded, form.asJSON, form.origin); err != nil {
			return out, &console.Failure{Code: console.CodeFailed, What: "the settings cannot be shown", Why: err}
		}
	}
	return out, nil
}

func (s shownSettings) text(asJSON, origin bool) string {
	switch {
	case asJSON && origin:
		return s.JSONOrigin
	case asJSON:
		return s.JSON
	case origin:
		return s.TextOrigin
	default:
		return s.Text
	}
}

// bots are the bots that the settings name, and whether each is enabled.
func (a *app) bots(dir string) (map[string]bool, error) {
	loaded, err := a.Load(dir, false)
	if err != nil {
		return nil, err
	}
	on := map[string]bool{}
	for _, d := range platforms.All() {
		common := d.Settings(loaded.Settings.Adapters)
		on[d.Name] = common.Enabled
		for _, account := range common.Accounts {
			on[d.Name+"@"+account] = common.Enabled
		}
	}
	return on, nil
}
