package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/shipmyagent/shipmyagent/cmd/internal/agentdir"
	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
	"github.com/shipmyagent/shipmyagent/cmd/internal/platforms"
	"github.com/shipmyagent/shipmyagent/config"
)

// minFree is how much free space the disk should have.
const minFree = 256 << 20

func (a *app) doctorCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check the project, the machine and the settings", Args: cobra.NoArgs,
		Long:    "Looks at everything that can be checked without asking a service, and says what to do about it. With --online\nit asks the services too: whether the model's API takes the key and knows the model, whether Telegram takes the\ntoken, which scopes a Feishu app lacks. That costs nothing.",
		Example: "  sma doctor\n  sma doctor --online\n  sma doctor --json",
	}
	online := cmd.Flags().Bool("online", false, "ask the services, too")
	code := CodeOK
	return command[[]checkup.Finding]{
		run: func(ctx context.Context, _ []string) ([]checkup.Finding, error) {
			dir, state, err := a.folders(nil)
			if err != nil {
				return nil, err
			}
			found, err := a.findings(ctx, dir, state, *online)
			code = verdictOf(found)
			return found, err
		},
		list: "findings", text: findingsText,
		verdict: func([]checkup.Finding) error {
			if code == CodeOK {
				return nil
			}
			return &Failure{Code: code, What: "something has to be repaired"}
		},
	}.on(a, cmd)
}

func findingsText(found []checkup.Finding) string {
	var out strings.Builder
	for _, f := range found {
		fmt.Fprintf(&out, "%-4s  %-9s %s\n", f.Mark, f.Group, f.Fact)
		if f.Fix != "" {
			fmt.Fprintf(&out, "%16s try: %s\n", "", f.Fix)
		}
	}
	return out.String()
}

// examine runs all checks that contact no service.
func (a *app) examine(ctx context.Context, dir, state string) []checkup.Finding {
	out := []checkup.Finding{checkAgent(dir)}
	loaded, settings := a.checkSettings(dir)
	out = append(out, settings...)
	out = append(out, checkState(state)...)
	out = append(out, checkDisk(state))
	alive, running := checkHost(ctx, state)
	out = append(out, running...)
	if loaded == nil {
		return out
	}
	out = append(out, checkZone(loaded.Settings.Timezone), checkModel(loaded.Settings))
	out = append(out, checkShare(dir, state, loaded.Settings)...)
	s := loaded.Settings
	for _, p := range platforms.All() {
		out = append(out, p.Check(s, state)...)
	}
	out = append(out, checkSandbox(ctx, s.Permissions.Exec.Sandbox))
	out = append(out, checkSpeech(s.Speech)...)
	out = append(out, checkSkills(agentdir.SkillCatalog(dir, state, s.Skills).Current())...)
	out = append(out, checkTasks(ctx, host.TaskStore(state, s.Timezone))...)
	out = append(out, checkServers(state, loaded)...)
	out = append(out, a.trustFinding(dir, state, loaded)...)
	if alive {
		return out // its addresses are its own, whatever the settings say now
	}
	if s.Adapters.Web.Enabled {
		out = append(out, checkAddress(ctx, "web", s.Adapters.Web.Listen, "sma run --set adapters.web.listen=127.0.0.1:3001", checkup.Fail))
	}
	if s.Metrics.Listen != config.Off {
		out = append(out, checkAddress(ctx, "metrics", s.Metrics.Listen, "set metrics.listen to another address or to off", checkup.Warn))
	}
	return out
}

// checkHost asks the running host, if any, about its state and its platforms.
func checkHost(ctx context.Context, state string) (alive bool, out []checkup.Finding) {
	const name = "host"
	s, err := newControl(state).status(ctx)
	switch {
	case errors.Is(err, errNotRunning):
		return false, []checkup.Finding{checkup.New(name, checkup.OK, "none runs", "")}
	case err != nil:
		return false, []checkup.Finding{checkup.New(name, checkup.Fail, "it does not answer: "+err.Error(), "")}
	}
	out = []checkup.Finding{checkup.New(name, checkup.OK, fmt.Sprintf("%s, process %d, version %s", s.State, s.PID, s.Version), "")}
	if len(s.Restart) > 0 {
		out = append(out, checkup.New(name, checkup.Warn, "settings have changed that it does not use yet: "+strings.Join(s.Restart, ", "), "start it again"))
	}
	for _, p := range s.Platforms {
		if p.On && !p.Up {
			out = append(out, checkup.New(name, checkup.Fail, p.Name+" is down: "+cmp.Or(p.Note, "it was not reached yet"), "mend what it says; the host goes on trying"))
		}
	}
	return true, out
}

func checkAgent(dir string) checkup.Finding {
	text, err := os.ReadFile(filepath.Join(dir, "Agent.md"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return checkup.New("project", checkup.Fail, "Agent.md cannot be read: "+checkup.ErrText(err), "sma init "+dir)
	case err != nil:
		return checkup.New("project", checkup.Fail, "Agent.md cannot be read: "+checkup.ErrText(err), "make it a file that this user can read")
	case len(bytes.TrimSpace(text)) == 0:
		return checkup.New("project", checkup.Warn, "Agent.md is empty: the agent knows nothing of itself", "write down who it is")
	default:
		return checkup.New("project", checkup.OK, "Agent.md, "+sizeText(int64(len(text))), "")
	}
}

func (a *app) checkSettings(dir string) (*config.Loaded, []checkup.Finding) {
	loaded, err := a.load(dir, false)
	var out []checkup.Finding
	if invalid, ok := errors.AsType[*config.InvalidError](err); ok {
		for _, f := range invalid.Findings {
			m := checkup.Warn
			if f.Severity == config.Error {
				m = checkup.Fail
			}
			out = append(out, checkup.New("config", m, f.String(), ""))
		}
		return nil, out
	}
	if err != nil {
		return nil, []checkup.Finding{checkup.New("config", checkup.Fail, checkup.ErrText(err), "sma config check")}
	}
	for _, f := range loaded.Findings {
		out = append(out, checkup.New("config", checkup.Warn, f.String(), ""))
	}
	if len(out) == 0 {
		out = append(out, checkup.New("config", checkup.OK, "the settings have no faults", ""))
	}
	return loaded, out
}

// checkState checks the state folder without creating it.
func checkState(state string) []checkup.Finding {
	info, err := os.Lstat(state)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		up := existing(state)
		if err := unix.Access(up, unix.W_OK|unix.X_OK); err != nil {
			return []checkup.Finding{checkup.New("state", checkup.Fail, state+" cannot be made: "+up+": "+err.Error(), "let this user write there, or name another place with --state-dir")}
		}
		return []checkup.Finding{checkup.New("state", checkup.OK, state+" is made by the first start", "")}
	case err != nil:
		return []checkup.Finding{checkup.New("state", checkup.Fail, checkup.ErrText(err), "")}
	case !info.IsDir():
		return []checkup.Finding{checkup.New("state", checkup.Fail, state+" is no folder", "mv "+state+" "+state+".old")}
	}
	out := checkWritable(state)
	if info.Mode().Perm()&0o077 != 0 {
		out = append(out, checkup.New("state", checkup.Warn, state+" can be read by others", "chmod 700 "+state))
	}
	return out
}

// checkWritable creates a file, and checks that files of an earlier start are writable, which they are not if another
// user created them.
func checkWritable(state string) []checkup.Finding {
	probe, err := os.CreateTemp(state, ".doctor-*")
	if err != nil {
		return []checkup.Finding{checkup.New("state", checkup.Fail, "the state folder "+state+" cannot be written: "+checkup.ErrText(err), mayWrite(state))}
	}
	_, err = probe.WriteString("x")
	if err = errors.Join(err, probe.Sync(), probe.Close(), os.Remove(probe.Name())); err != nil {
		return []checkup.Finding{checkup.New("state", checkup.Fail, "the state folder "+state+" cannot be written: "+checkup.ErrText(err), mayWrite(state))}
	}
	if path := unwritable(state); path != "" {
		return []checkup.Finding{checkup.New("state", checkup.Fail, path+" cannot be written by this user", mayWrite(state))}
	}
	return []checkup.Finding{checkup.New("state", checkup.OK, state+" can be written", "")}
}

// existing is a path, or the nearest parent folder that exists.
func existing(path string) string {
	for {
		_, err := os.Stat(path)
		up := filepath.Dir(path)
		if err == nil || up == path {
			return path
		}
		path = up
	}
}

// checkDisk checks the disk of the state folder.
func checkDisk(state string) checkup.Finding {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(existing(state), &disk); err != nil {
		return checkup.New("disk", checkup.Warn, "the free space is unknown: "+checkup.ErrText(err), "")
	}
	free := int64(disk.Bavail) * int64(disk.Bsize) //nolint:unconvert // the types differ between systems
	if free < minFree {
		return checkup.New("disk", checkup.Warn, sizeText(free)+" left: chats stop being taken in when it is full", "make room")
	}
	return checkup.New("disk", checkup.OK, sizeText(free)+" free", "")
}

func checkZone(name string) checkup.Finding {
	if name == "" {
		zone, _ := time.Now().Zone()
		return checkup.New("clock", checkup.OK, "the host's time zone, "+zone, "")
	}
	if _, err := time.LoadLocation(name); err != nil {
		return checkup.New("clock", checkup.Fail, "the time zone "+name+" is unknown", "set timezone to a name like Europe/Berlin")
	}
	return checkup.New("clock", checkup.OK, "time zone "+name, "")
}

func checkModel(s config.Settings) checkup.Finding {
	if s.LLM.Provider == config.ProviderDemo {
		return checkup.New("model", checkup.Warn, "the demo model answers, on this machine only", "set OPENAI_API_KEY")
	}
	return checkup.New("model", checkup.OK, s.LLM.Model+" at "+s.LLM.BaseURL, "")
}

// checkShare checks how much of a request the system text takes.
func checkShare(dir, state string, s config.Settings) []checkup.Finding {
	share, err := agentdir.SystemShareOf(dir, state, s)
	if err != nil || !share.TooLarge() {
		return nil // unreadable documents are reported elsewhere
	}
	return []checkup.Finding{checkup.New("model", checkup.Warn, share.String(), "shorten "+share.Largest+", or raise context.history.maxInputTokensApprox")}
}

// checkSandbox tests the sandbox for commands.
func checkSandbox(ctx context.Context, setting string) checkup.Finding {
	name, unbounded, err := host.NewSandbox(setting).Check(ctx)
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

// checkAddress tries to listen.
func checkAddress(ctx context.Context, group, address, fix string, taken checkup.Mark) checkup.Finding {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return checkup.New(group, taken, address+" is taken by another program", fix)
	case err != nil:
		return checkup.New(group, taken, "nobody can listen on "+address+": "+checkup.ErrText(err), fix)
	}
	_ = l.Close() // it was only a test
	return checkup.New(group, checkup.OK, address+" is free", "")
}

func sizeText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	default:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
}

// diagnose runs all checks in this process, with its environment and flags.
func (a *app) diagnose(ctx context.Context, dir, state string, online bool) []checkup.Finding {
	found := a.examine(ctx, dir, state)
	if loaded, err := a.load(dir, false); online && err == nil {
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
	return askRunning(ctx, a, state, what, func() ([]checkup.Finding, error) { return a.diagnose(ctx, dir, state, online), nil })
}

// verdictOf is the exit code of findings. It replaces markRefused by the mark that is shown.
func verdictOf(found []checkup.Finding) int {
	code := CodeOK
	for i, f := range found {
		switch {
		case f.Mark == checkup.Refused:
			found[i].Mark, code = checkup.Fail, CodeCredential
		case f.Mark == checkup.Fail && code == CodeOK:
			code = CodeFailed
		}
	}
	return code
}

// unwritable is the first of the host's own files or folders in the state folder that this user cannot write, or "".
// It checks three levels, which include the folders of chats. Files that people placed there may be read-only.
func unwritable(state string) string {
	found := ""
	_ = filepath.WalkDir(state, func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(state, path) // both are absolute
		switch {
		case rel == "skills" || rel == "config":
			return fs.SkipDir
		case err != nil, !ours(path, e):
			found = path
			return fs.SkipAll
		case e.IsDir() && strings.Count(rel, string(filepath.Separator)) >= 2:
			return fs.SkipDir
		}
		return nil
	})
	return found
}

// ours reports whether the host can write a folder, or a file that it appends to. A read-only file of the same user
// is fine, since it can be replaced.
func ours(path string, e fs.DirEntry) bool {
	if !e.IsDir() && !e.Type().IsRegular() || unix.Access(path, unix.W_OK) == nil {
		return true
	}
	info, err := e.Info()
	if err != nil {
		return true // removed meanwhile
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !e.IsDir() && (!ok || int(stat.Uid) == os.Getuid())
}

// mayWrite is the fix for a state folder that cannot be written.
func mayWrite(state string) string {
	return fmt.Sprintf("sudo chown -R %d %s, or run as the user who owns it", os.Getuid(), shellWord(state))
}

// checkSpeech says how voice messages are handled, and whether the programs for them exist. It contacts no service.
func checkSpeech(s config.Speech) []checkup.Finding {
	t, k := s.Transcribe, s.Speak
	out := []checkup.Finding{
		speechFinding("voice messages become text", "voice messages stay files: nothing turns them into text", t.Model, t.BaseURL, t.Command),
		speechFinding("answers can be spoken", "answers are written only", k.Model, k.BaseURL, k.Command),
	}
	if t.Language != "" {
		out[0].Fact += ", mostly in " + t.Language
	}
	return out
}

func speechFinding(on, off, model, baseURL string, command []string) checkup.Finding {
	switch {
	case len(command) > 0:
		if _, err := exec.LookPath(command[0]); err != nil {
			return checkup.New("speech", checkup.Fail, command[0]+" cannot be run: "+strings.TrimPrefix(err.Error(), "exec: "), "install it, or write its whole path")
		}
		return checkup.New("speech", checkup.OK, on+" by "+command[0], "")
	case model != "":
		return checkup.New("speech", checkup.OK, on+" by "+model+" at "+baseURL, "")
	}
	return checkup.New("speech", checkup.OK, off, "")
}
