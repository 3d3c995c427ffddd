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
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/shipmyagent/shipmyagent/adapters/platform/access"
	"github.com/shipmyagent/shipmyagent/cmd/internal/agentdir"
	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
	"github.com/shipmyagent/shipmyagent/config"
)

// mark is the verdict of one check.
type mark string

const (
	markOK   mark = "ok"
	markWarn mark = "warn"
	markFail mark = "fail"
)

// finding is one line of doctor: a fact, and how to fix it.
type finding struct {
	Group string `json:"group"`
	Mark  mark   `json:"mark"`
	Fact  string `json:"fact"`
	Fix   string `json:"fix,omitempty"`
}

func newFinding(group string, m mark, fact, fix string) finding {
	return finding{Group: group, Mark: m, Fact: fact, Fix: fix}
}

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
	return command[[]finding]{
		run: func(ctx context.Context, _ []string) ([]finding, error) {
			dir, state, err := a.folders(nil)
			if err != nil {
				return nil, err
			}
			found, err := a.findings(ctx, dir, state, *online)
			code = verdictOf(found)
			return found, err
		},
		list: "findings", text: findingsText,
		verdict: func([]finding) error {
			if code == CodeOK {
				return nil
			}
			return &Failure{Code: code, What: "something has to be repaired"}
		},
	}.on(a, cmd)
}

func findingsText(found []finding) string {
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
func (a *app) examine(ctx context.Context, dir, state string) []finding {
	out := []finding{checkAgent(dir)}
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
	out = append(out, checkTelegram(loaded.Settings, state)...)
	out = append(out, checkFeishu(loaded.Settings)...)
	s := loaded.Settings
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
		out = append(out, checkAddress(ctx, "web", s.Adapters.Web.Listen, "sma run --set adapters.web.listen=127.0.0.1:3001", markFail))
	}
	if s.Metrics.Listen != config.Off {
		out = append(out, checkAddress(ctx, "metrics", s.Metrics.Listen, "set metrics.listen to another address or to off", markWarn))
	}
	return out
}

// checkHost asks the running host, if any, about its state and its platforms.
func checkHost(ctx context.Context, state string) (alive bool, out []finding) {
	const name = "host"
	s, err := newControl(state).status(ctx)
	switch {
	case errors.Is(err, errNotRunning):
		return false, []finding{newFinding(name, markOK, "none runs", "")}
	case err != nil:
		return false, []finding{newFinding(name, markFail, "it does not answer: "+err.Error(), "")}
	}
	out = []finding{newFinding(name, markOK, fmt.Sprintf("%s, process %d, version %s", s.State, s.PID, s.Version), "")}
	if len(s.Restart) > 0 {
		out = append(out, newFinding(name, markWarn, "settings have changed that it does not use yet: "+strings.Join(s.Restart, ", "), "start it again"))
	}
	for _, p := range s.Platforms {
		if p.On && !p.Up {
			out = append(out, newFinding(name, markFail, p.Name+" is down: "+cmp.Or(p.Note, "it was not reached yet"), "mend what it says; the host goes on trying"))
		}
	}
	return true, out
}

func checkAgent(dir string) finding {
	text, err := os.ReadFile(filepath.Join(dir, "Agent.md"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return newFinding("project", markFail, "Agent.md cannot be read: "+errText(err), "sma init "+dir)
	case err != nil:
		return newFinding("project", markFail, "Agent.md cannot be read: "+errText(err), "make it a file that this user can read")
	case len(bytes.TrimSpace(text)) == 0:
		return newFinding("project", markWarn, "Agent.md is empty: the agent knows nothing of itself", "write down who it is")
	default:
		return newFinding("project", markOK, "Agent.md, "+sizeText(int64(len(text))), "")
	}
}

func (a *app) checkSettings(dir string) (*config.Loaded, []finding) {
	loaded, err := a.load(dir, false)
	var out []finding
	if invalid, ok := errors.AsType[*config.InvalidError](err); ok {
		for _, f := range invalid.Findings {
			m := markWarn
			if f.Severity == config.Error {
				m = markFail
			}
			out = append(out, newFinding("config", m, f.String(), ""))
		}
		return nil, out
	}
	if err != nil {
		return nil, []finding{newFinding("config", markFail, errText(err), "sma config check")}
	}
	for _, f := range loaded.Findings {
		out = append(out, newFinding("config", markWarn, f.String(), ""))
	}
	if len(out) == 0 {
		out = append(out, newFinding("config", markOK, "the settings have no faults", ""))
	}
	return loaded, out
}

// checkState checks the state folder without creating it.
func checkState(state string) []finding {
	info, err := os.Lstat(state)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		up := existing(state)
		if err := unix.Access(up, unix.W_OK|unix.X_OK); err != nil {
			return []finding{newFinding("state", markFail, state+" cannot be made: "+up+": "+err.Error(), "let this user write there, or name another place with --state-dir")}
		}
		return []finding{newFinding("state", markOK, state+" is made by the first start", "")}
	case err != nil:
		return []finding{newFinding("state", markFail, errText(err), "")}
	case !info.IsDir():
		return []finding{newFinding("state", markFail, state+" is no folder", "mv "+state+" "+state+".old")}
	}
	out := checkWritable(state)
	if info.Mode().Perm()&0o077 != 0 {
		out = append(out, newFinding("state", markWarn, state+" can be read by others", "chmod 700 "+state))
	}
	return out
}

// checkWritable creates a file, and checks that files of an earlier start are writable, which they are not if another
// user created them.
func checkWritable(state string) []finding {
	probe, err := os.CreateTemp(state, ".doctor-*")
	if err != nil {
		return []finding{newFinding("state", markFail, "the state folder "+state+" cannot be written: "+errText(err), mayWrite(state))}
	}
	_, err = probe.WriteString("x")
	if err = errors.Join(err, probe.Sync(), probe.Close(), os.Remove(probe.Name())); err != nil {
		return []finding{newFinding("state", markFail, "the state folder "+state+" cannot be written: "+errText(err), mayWrite(state))}
	}
	if path := unwritable(state); path != "" {
		return []finding{newFinding("state", markFail, path+" cannot be written by this user", mayWrite(state))}
	}
	return []finding{newFinding("state", markOK, state+" can be written", "")}
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
func checkDisk(state string) finding {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(existing(state), &disk); err != nil {
		return newFinding("disk", markWarn, "the free space is unknown: "+errText(err), "")
	}
	free := int64(disk.Bavail) * int64(disk.Bsize) //nolint:unconvert // the types differ between systems
	if free < minFree {
		return newFinding("disk", markWarn, sizeText(free)+" left: chats stop being taken in when it is full", "make room")
	}
	return newFinding("disk", markOK, sizeText(free)+" free", "")
}

func checkZone(name string) finding {
	if name == "" {
		zone, _ := time.Now().Zone()
		return newFinding("clock", markOK, "the host's time zone, "+zone, "")
	}
	if _, err := time.LoadLocation(name); err != nil {
		return newFinding("clock", markFail, "the time zone "+name+" is unknown", "set timezone to a name like Europe/Berlin")
	}
	return newFinding("clock", markOK, "time zone "+name, "")
}

func checkModel(s config.Settings) finding {
	if s.LLM.Provider == config.ProviderDemo {
		return newFinding("model", markWarn, "the demo model answers, on this machine only", "set OPENAI_API_KEY")
	}
	return newFinding("model", markOK, s.LLM.Model+" at "+s.LLM.BaseURL, "")
}

// checkShare checks how much of a request the system text takes.
func checkShare(dir, state string, s config.Settings) []finding {
	share, err := agentdir.SystemShareOf(dir, state, s)
	if err != nil || !share.TooLarge() {
		return nil // unreadable documents are reported elsewhere
	}
	return []finding{newFinding("model", markWarn, share.String(), "shorten "+share.Largest+", or raise context.history.maxInputTokensApprox")}
}

// tokenForm reports whether a text looks like a bot token.
func tokenForm(token string) bool {
	return regexp.MustCompile(`^\d+:[A-Za-z0-9_-]{3,}$`).MatchString(token)
}

func checkTelegram(s config.Settings, state string) []finding {
	t := s.Adapters.Telegram
	if !t.Enabled {
		return []finding{newFinding("telegram", markOK, "off", "")}
	}
	var out []finding
	if !tokenForm(t.BotToken.Reveal()) {
		out = append(out, newFinding("telegram", markFail, "the bot token has not the form 123456:ABC…", "copy it again from @BotFather"))
	}
	if s.LLM.Provider == config.ProviderDemo {
		out = append(out, newFinding("telegram", markFail, "Telegram is on, but the demo model answers on this machine only", "set OPENAI_API_KEY"))
	}
	if t.Access == config.AccessOpen {
		out = append(out, newFinding("telegram", markWarn, "everybody may talk to the bot", "set adapters.telegram.access to paired"))
	} else if _, err := os.Stat(filepath.Join(state, "access.json")); err == nil {
		if _, err := access.Open(filepath.Join(state, "access.json"), access.Options{}); err != nil {
			out = append(out, newFinding("telegram", markFail, errText(err), ""))
		}
	}
	if len(out) == 0 {
		out = append(out, newFinding("telegram", markOK, "on", ""))
	}
	return out
}

// checkSandbox tests the sandbox for commands.
func checkSandbox(ctx context.Context, setting string) finding {
	name, unbounded, err := host.NewSandbox(setting).Check(ctx)
	switch {
	case err != nil:
		return newFinding("sandbox", markWarn, "commands are refused: "+strings.ReplaceAll(err.Error(), "\n", "; "), "install bubblewrap, or let users make user namespaces")
	case name == "off":
		return newFinding("sandbox", markWarn, "commands run unconfined: they can do whatever this user can", "set permissions.exec.sandbox to auto")
	case len(unbounded) > 0:
		return newFinding("sandbox", markOK, name+" contains a probe; no control group bounds the "+strings.Join(unbounded, " and the ")+" of a command as a whole", "")
	}
	return newFinding("sandbox", markOK, name+" contains a probe", "")
}

// checkAddress tries to listen.
func checkAddress(ctx context.Context, group, address, fix string, taken mark) finding {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return newFinding(group, taken, address+" is taken by another program", fix)
	case err != nil:
		return newFinding(group, taken, "nobody can listen on "+address+": "+errText(err), fix)
	}
	_ = l.Close() // it was only a test
	return newFinding(group, markOK, address+" is free", "")
}

// errText is the system's error message, without repeated paths.
func errText(err error) string {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
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

// markRefused is markFail for a credential that a service refused, which has its own exit code. It is shown as
// markFail.
const markRefused mark = "refused"

// diagnose runs all checks in this process, with its environment and flags.
func (a *app) diagnose(ctx context.Context, dir, state string, online bool) []finding {
	found := a.examine(ctx, dir, state)
	if loaded, err := a.load(dir, false); online && err == nil {
		found = append(found, a.askTrusted(ctx, dir, state, loaded)...)
	}
	return found
}

// findings are those of the running host, which depend on its environment, or else those of this terminal.
func (a *app) findings(ctx context.Context, dir, state string, online bool) ([]finding, error) {
	what := aboutDoctor
	if online {
		what = aboutDoctorOnline
	}
	return askRunning(ctx, a, state, what, func() ([]finding, error) { return a.diagnose(ctx, dir, state, online), nil })
}

// verdictOf is the exit code of findings. It replaces markRefused by the mark that is shown.
func verdictOf(found []finding) int {
	code := CodeOK
	for i, f := range found {
		switch {
		case f.Mark == markRefused:
			found[i].Mark, code = markFail, CodeCredential
		case f.Mark == markFail && code == CodeOK:
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
func checkSpeech(s config.Speech) []finding {
	t, k := s.Transcribe, s.Speak
	out := []finding{
		speechFinding("voice messages become text", "voice messages stay files: nothing turns them into text", t.Model, t.BaseURL, t.Command),
		speechFinding("answers can be spoken", "answers are written only", k.Model, k.BaseURL, k.Command),
	}
	if t.Language != "" {
		out[0].Fact += ", mostly in " + t.Language
	}
	return out
}

func speechFinding(on, off, model, baseURL string, command []string) finding {
	switch {
	case len(command) > 0:
		if _, err := exec.LookPath(command[0]); err != nil {
			return newFinding("speech", markFail, command[0]+" cannot be run: "+strings.TrimPrefix(err.Error(), "exec: "), "install it, or write its whole path")
		}
		return newFinding("speech", markOK, on+" by "+command[0], "")
	case model != "":
		return newFinding("speech", markOK, on+" by "+model+" at "+baseURL, "")
	}
	return newFinding("speech", markOK, off, "")
}
