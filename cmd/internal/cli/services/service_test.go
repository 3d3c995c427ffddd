package services

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// world is a machine with a fake systemd.
type world struct {
	*commands
	dir            string
	orders         []string
	answers        map[string]string // by the beginning of an order
	fails          map[string]error
	stdout, stderr bytes.Buffer
}

func newWorld(t *testing.T, uid int) *world {
	t.Helper()
	home := t.TempDir()
	w := &world{dir: filepath.Join(home, "my bot"), fails: map[string]error{}, answers: map[string]string{
		"systemctl --version": "systemd 252 (252.38-1~deb12u1)\n+PAM\n",
	}}
	stdtest.Must(t, os.Mkdir(w.dir, 0o700))
	env := func(name string) (string, bool) { return home, name == "HOME" }
	w.commands = &commands{
		Console: &console.Console{Stdout: &w.stdout, Stderr: &w.stderr, Env: env},
		trust:   func(string) (string, error) { return "digest", nil },
		uid:     uid, os: "linux", etc: filepath.Join(home, "etc"), program: func() (string, error) { return "/usr/bin/sma", nil },
		run: func(_ context.Context, name string, args ...string) (string, error) {
			order := name + " " + strings.Join(args, " ")
			w.orders = append(w.orders, order)
			for begin, err := range w.fails {
				if strings.HasPrefix(order, begin) {
					return "", err
				}
			}
			for begin, answer := range w.answers {
				if strings.HasPrefix(order, begin) {
					return answer, nil
				}
			}
			return "", nil
		},
	}
	return w
}

// do runs a command and returns its exit code.
func (w *world) do(t *testing.T, cmd *cobra.Command, args ...string) error {
	t.Helper()
	w.orders = nil
	w.stdout.Reset()
	w.stderr.Reset()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(append(args, w.dir))
	return cmd.ExecuteContext(t.Context())
}

func code(err error) int {
	if f, ok := errors.AsType[*console.Failure](err); ok {
		return f.Code
	}
	return console.CodeOf(err)
}

func TestUserService(t *testing.T) {
	w := newWorld(t, 1000)
	w.answers["loginctl"] = "no\n"
	stdtest.Must(t, w.do(t, w.installCmd()))
	want := []string{
		"systemctl --version", "systemctl --user daemon-reload", "systemctl --user enable sma-my-bot.service",
		"loginctl show-user 1000 --property=Linger --value",
		"systemctl --user show --property=ActiveState,UnitFileState,MainPID,StatusText sma-my-bot.service",
	}
	stdtest.Diff(t, "orders", want, w.orders)
	if !strings.Contains(w.stderr.String(), "loginctl enable-linger") || !strings.Contains(w.stderr.String(), "sma service start") {
		t.Errorf("the hints are missing:\n%s", &w.stderr)
	}
	file := filepath.Join(filepath.Dir(w.dir), ".config", "systemd", "user", "sma-my-bot.service")
	text := stdtest.Read(t, file)
	if strings.Contains(string(text), "SMA_TRUST") {
		t.Error("a user's service has the digest, although it can read what was agreed to")
	}

	w.answers["systemctl --user show"] = "ActiveState=active\nUnitFileState=enabled\nMainPID=42\nStatusText=ready, 0 chats in memory\n"
	stdtest.Must(t, w.do(t, w.command("status", "", w.status), "--json"))
	var got Status
	stdtest.Must(t, json.Unmarshal(w.stdout.Bytes(), &got))
	wantStatus := Status{
		Unit: "sma-my-bot.service", File: file, Dir: w.dir, Installed: true, Enabled: true,
		State: "active", PID: 42, Says: "ready, 0 chats in memory",
	}
	stdtest.Diff(t, "status", wantStatus, got)

	w.fails["systemctl --user start"] = errors.New("it failed")
	if err := w.do(t, w.command("start", "", w.start)); code(err) != console.CodeFailed {
		t.Errorf("start: %v, want a failure", err)
	}
	stdtest.Must(t, w.do(t, w.command("uninstall", "", w.uninstall)))
	want = []string{"systemctl --user disable --now sma-my-bot.service", "systemctl --user daemon-reload"}
	stdtest.Diff(t, "orders", want, w.orders)
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the unit is left: %v", err)
	}
	if w.stdout.String() != "not installed\n" {
		t.Errorf("uninstall says %q", &w.stdout)
	}
	if err := w.do(t, w.command("stop", "", w.stop)); code(err) != console.CodeFailed || len(w.orders) > 0 {
		t.Errorf("stop of what is not installed: %v, orders %q, want a failure and none", err, w.orders)
	}
}

func TestSystemService(t *testing.T) {
	w := newWorld(t, 0)
	if err := os.Chown(w.dir, 1234, -1); err != nil {
		t.Skip("only root can give folders away")
	}
	stdtest.Must(t, w.do(t, w.installCmd(), "--no-commands"))
	text := stdtest.Read(t, filepath.Join(w.etc, "systemd", "system", "sma-my-bot.service"))
	for _, want := range []string{"\nUser=1234\n", "\nEnvironment=SMA_TRUST=digest\n", "\nRestrictNamespaces=yes\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the unit lacks %q:\n%s", want, text)
		}
	}
	if want := "systemctl enable sma-my-bot.service"; w.orders[2] != want {
		t.Errorf("order = %q, want %q", w.orders[2], want)
	}
}

func TestRefusals(t *testing.T) {
	tests := []struct {
		name   string
		uid    int
		change func(t *testing.T, w *world)
		args   []string
		code   int
		says   string
	}{
		{name: "another system", change: func(_ *testing.T, w *world) { w.os = "darwin" }, code: console.CodeFailed, says: "this system does not have"},
		{name: "no systemd", change: func(_ *testing.T, w *world) { w.fails["systemctl"] = os.ErrNotExist }, code: console.CodeFailed, says: "has no systemd"},
		{name: "not root", uid: 1000, change: func(_ *testing.T, w *world) { w.system = true }, code: console.CodeUsage, says: "only root"},
		{name: "flags that a service cannot have", change: func(_ *testing.T, w *world) { w.Sets = []string{"a=b"} }, code: console.CodeUsage, says: "neither --set"},
		{name: "a name that is a path", change: func(_ *testing.T, w *world) { w.name = "../x" }, code: console.CodeUsage, says: "name of a unit"},
		{name: "not trusted", uid: 1000, change: func(_ *testing.T, w *world) {
			w.trust = func(string) (string, error) {
				return "", &console.Failure{Code: console.CodeConfig, What: "not trusted"}
			}
		}, code: console.CodeConfig, says: "not trusted"},
		{name: "a unit of another folder", uid: 1000, change: func(t *testing.T, w *world) {
			t.Helper()
			dir := filepath.Join(filepath.Dir(w.dir), ".config", "systemd", "user")
			stdtest.Must(t, os.MkdirAll(dir, 0o700))
			stdtest.Must(t, os.WriteFile(filepath.Join(dir, "sma-my-bot.service"), []byte("# sma service of /elsewhere\n"), 0o600))
		}, code: console.CodeConfig, says: "is not the service of"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, tt.uid)
			tt.change(t, w)
			err := w.do(t, w.installCmd(), tt.args...)
			if code(err) != tt.code || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("install: %v (code %d), want %q and code %d", err, code(err), tt.says, tt.code)
			}
			for _, order := range w.orders {
				if strings.Contains(order, "enable") || strings.Contains(order, "reload") {
					t.Errorf("systemd got the order %q", order)
				}
			}
		})
	}
}

// TestRootsFolder: no agent runs as root.
func TestRootsFolder(t *testing.T) {
	w := newWorld(t, 0)
	if err := os.Chown(w.dir, 0, 0); err != nil {
		t.Skip("only root has folders of root")
	}
	if err := w.do(t, w.installCmd()); code(err) != console.CodeConfig || !strings.Contains(err.Error(), "no agent should run as root") {
		t.Errorf("install: %v, want a refusal", err)
	}
}

func TestPrint(t *testing.T) {
	w := newWorld(t, 1000)
	stdtest.Must(t, w.do(t, w.installCmd(), "--print"))
	if !strings.HasPrefix(w.stdout.String(), mark(w.dir)+"\n") {
		t.Errorf("printed:\n%s", &w.stdout)
	}
	stdtest.Diff(t, "orders", []string{"systemctl --version"}, w.orders)
}
