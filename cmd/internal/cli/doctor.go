package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/cmd/internal/agentdir"
	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/skills"
	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
	"github.com/shipmyagent/shipmyagent/cmd/internal/platforms"
	"github.com/shipmyagent/shipmyagent/cmd/internal/sandboxes"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/persistence/taskfile"
)

func (a *app) doctorCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check the project, the machine and the settings", Args: cobra.NoArgs,
		Long: "Checks everything that needs no service, and says how to fix problems. With --online it also asks the services: whether\n" +
			"the model's API accepts the key and has the model, whether Telegram accepts the token, and which scopes a Feishu app\n" +
			"lacks. That costs nothing.",
		Example: "  sma doctor\n  sma doctor --online\n  sma doctor --json",
	}
	online := cmd.Flags().Bool("online", false, "ask the services, too")
	code := console.CodeOK
	return console.Command[[]checkup.Finding]{
		Run: func(ctx context.Context, _ []string) ([]checkup.Finding, error) {
			dir, state, err := a.Places(nil)
			if err != nil {
				return nil, err
			}
			found, err := a.findings(ctx, dir, state, *online)
			code = verdictOf(found)
			return found, err
		},
		List: "findings", Text: a.findingsText,
		Verdict: func([]checkup.Finding) error {
			if code == console.CodeOK {
				return nil
			}
			return &console.Failure{Code: code, What: "something has to be repaired"}
		},
	}.On(a.Console, cmd)
}

func (a *app) findingsText(found []checkup.Finding) string {
	var out strings.Builder
	for _, f := range found {
		fmt.Fprintf(&out, "%-4s  %s %s\n", f.Mark, console.Column(a.Words(f.Group), 9), a.Words(f.Fact))
		if f.Fix != "" {
			fmt.Fprintf(&out, a.Text("%16s try: %s\n", "%16s 建议：%s\n"), "", a.Words(f.Fix))
		}
	}
	return out.String()
}

// examine runs all checks that contact no service.
func (a *app) examine(ctx context.Context, dir, state string, silent error) []checkup.Finding {
	out := []checkup.Finding{checkup.Agent(dir)}
	loaded, settings := a.checkSettings(dir)
	out = append(out, settings...)
	out = append(out, checkup.State(state)...)
	out = append(out, checkup.Disk(state))
	alive, running := checkHost(ctx, state, silent)
	out = append(out, running...)
	if loaded == nil {
		return out
	}
	s, set := loaded.Settings, agentdir.SkillCatalog(dir, state, loaded.Settings.Skills).Current()
	out = append(out, checkup.Zone(s.Timezone), checkup.Model(s))
	out = append(out, checkup.SystemShare(dir, state, set, s)...)
	for _, p := range platforms.All() {
		out = append(out, p.Check(s, state)...)
	}
	out = append(out, checkSandbox(ctx, s.Permissions.Exec.Sandbox))
	out = append(out, checkup.Speech(s.Speech)...)
	out = append(out, skills.Check(set)...)
	out = append(out, checkTasks(ctx, host.TaskStore(state, s.Timezone))...)
	out = append(out, checkServers(state, loaded)...)
	out = append(out, a.trustFinding(dir, state, loaded)...)
	if alive {
		return out // its addresses are its own, whatever the settings say now
	}
	if s.Adapters.Web.Enabled {
		out = append(out, checkup.Address(ctx, "web", s.Adapters.Web.Listen, "sma run --set adapters.web.listen=127.0.0.1:3001", checkup.Fail))
	}
	if s.Metrics.Listen != config.Off {
		out = append(out, checkup.Address(ctx, "metrics", s.Metrics.Listen, "set metrics.listen to another address or to off", checkup.Warn))
	}
	return out
}

// checkHost asks the running host, if any, about its state and its platforms. silent is why it did not answer before.
func checkHost(ctx context.Context, state string, silent error) (alive bool, out []checkup.Finding) {
	const name = "host"
	s, err := host.Status{}, silent
	if err == nil {
		s, err = console.NewControl(state).Status(ctx)
	}
	switch {
	case errors.Is(err, console.ErrNotRunning):
		return false, []checkup.Finding{checkup.New(name, checkup.OK, "none runs", "")}
	case errors.Is(err, context.DeadlineExceeded):
		return true, []checkup.Finding{checkup.New(name, checkup.Fail, "it does not answer in time", "if it stays so, kill its process and start it again; nothing that was accepted is lost")}
	case err != nil:
		return true, []checkup.Finding{checkup.New(name, checkup.Fail, "it does not answer: "+err.Error(), "")}
	}
	out = []checkup.Finding{checkup.New(name, checkup.OK, fmt.Sprintf("%s, process %d, version %s", s.State, s.PID, s.Version), "")}
	if len(s.Restart) > 0 {
		out = append(out, checkup.New(name, checkup.Warn, "settings have changed that it does not use yet: "+strings.Join(s.Restart, ", "), "start it again"))
	}
	for _, p := range s.Platforms {
		if p.On && !p.Up {
			out = append(out, checkup.New(name, checkup.Fail, p.Name+" is down: "+cmp.Or(p.Note, "it was not reached yet"), "repair what it says; the host keeps trying"))
		}
	}
	return true, out
}

// marked are findings about settings as findings of doctor.
func marked(group string, findings []config.Finding) []checkup.Finding {
	var out []checkup.Finding
	for _, f := range findings {
		m := checkup.Warn
		if f.Severity == config.Error {
			m = checkup.Fail
		}
		out = append(out, checkup.New(group, m, f.String(), ""))
	}
	return out
}

func (a *app) checkSettings(dir string) (*config.Loaded, []checkup.Finding) {
	loaded, err := a.Load(dir, false)
	if invalid, ok := errors.AsType[*config.InvalidError](err); ok {
		return nil, marked("config", invalid.Findings)
	}
	if err != nil {
		return nil, []checkup.Finding{checkup.New("config", checkup.Fail, checkup.ErrText(err), "sma config check")}
	}
	out := marked("config", a.strictFindings(dir, loaded))
	if len(out) == 0 {
		out = append(out, checkup.New("config", checkup.OK, "the settings have no faults", ""))
	}
	return loaded, out
}

// strictFindings are the findings as config check reports them: unknown keys are errors, although a host starts with
// them. Settings without findings are not read again.
func (a *app) strictFindings(dir string, loaded *config.Loaded) []config.Finding {
	if len(loaded.Findings) == 0 {
		return nil
	}
	_, err := a.Load(dir, true)
	if invalid, ok := errors.AsType[*config.InvalidError](err); ok {
		return invalid.Findings
	}
	return loaded.Findings
}

func checkSandbox(ctx context.Context, setting string) checkup.Finding {
	name, unbounded, err := sandboxes.New(setting).Check(ctx)
	switch {
	case err != nil:
		return checkup.New("sandbox", checkup.Warn, "commands are refused: "+strings.ReplaceAll(err.Error(), "\n", "; "), "install bubblewrap, or let users make user namespaces")
	case name == "off":
		return checkup.New("sandbox", checkup.Warn, "commands run unconfined: they can do whatever this user can", "set permissions.exec.sandbox to auto")
	case len(unbounded) > 0:
		return checkup.New("sandbox", checkup.OK, name+" contains a probe; no control group bounds the "+strings.Join(unbounded, " and the ")+" of a command as a whole", "")
	}
	return checkup.New("sandbox", checkup.OK, name+" contains a probe", "")
}

// diagnose runs all checks in this process, with its environment and flags.
func (a *app) diagnose(ctx context.Context, dir, state string, online bool, silent error) []checkup.Finding {
	found := a.examine(ctx, dir, state, silent)
	if loaded, err := a.Load(dir, false); online && err == nil {
		found = append(found, a.askTrusted(ctx, dir, state, loaded)...)
	}
	return found
}

// findings are those of the running host, which depend on its environment, or else those of this terminal.
func (a *app) findings(ctx context.Context, dir, state string, online bool) ([]checkup.Finding, error) {
	what := aboutDoctor
	if online {
		what = aboutDoctorOnline
	}
	return askRunning(ctx, a.Console, state, what, func(silent error) ([]checkup.Finding, error) { return a.diagnose(ctx, dir, state, online, silent), nil })
}

// verdictOf is the exit code of findings. It replaces markRefused by the mark that is shown.
func verdictOf(found []checkup.Finding) int {
	code := console.CodeOK
	for i, f := range found {
		switch {
		case f.Mark == checkup.Refused:
			found[i].Mark, code = checkup.Fail, console.CodeCredential
		case f.Mark == checkup.Fail && code == console.CodeOK:
			code = console.CodeFailed
		}
	}
	return code
}

// checkTasks reports tasks that cannot be read.
func checkTasks(ctx context.Context, store *taskfile.Store) []checkup.Finding {
	all, problems, err := store.Tasks(ctx)
	if err != nil {
		return []checkup.Finding{checkup.New("tasks", checkup.Fail, checkup.ErrText(err), "make .ship/tasks a folder that can be read")}
	}
	var out []checkup.Finding
	for _, p := range problems {
		out = append(out, checkup.New("tasks", checkup.Warn, p.String(), ""))
	}
	if len(all) > 0 {
		out = append(out, checkup.New("tasks", checkup.OK, fmt.Sprintf("%d can be read", len(all)), ""))
	}
	return out
}

// askServices queries the services that the settings name: the model's API and the platforms. The requests cost
// and change nothing.
func askServices(ctx context.Context, s config.Settings) []checkup.Finding {
	out := checkup.AskModel(ctx, s.LLM)
	for _, d := range platforms.All() {
		out = append(out, d.Ask(ctx, s)...)
	}
	return out
}
