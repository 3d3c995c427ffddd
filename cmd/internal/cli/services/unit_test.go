package services

import (
	"cmp"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/machinetest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestUnitText(t *testing.T) {
	all := unit{title: "sma-bot", program: "/usr/bin/sma", dir: "/srv/my bot", user: "1000", trust: "abc", system: true, commands: true, systemd: 257}
	tests := []struct {
		name            string
		change          func(*unit)
		has, hasNeither []string
	}{
		{
			name: "system", change: func(*unit) {},
			has: []string{
				"# sma service of /srv/my bot", `ExecStart=/usr/bin/sma run "/srv/my bot"`, `ReadWritePaths="/srv/my bot"`, `BindPaths="/srv/my bot"`,
				"User=1000", "Environment=SMA_TRUST=abc", "RestartSteps=8", "WantedBy=multi-user.target", "SystemCallFilter=@system-service",
			},
			hasNeither: []string{"RestrictNamespaces=yes", "ProtectKernelTunables=yes", "WantedBy=default.target"},
		},
		{
			name: "user", change: func(u *unit) { u.system, u.trust = false, "" },
			has:        []string{"ProtectHome=read-only", "WantedBy=default.target", "SystemCallFilter=@mount"},
			hasNeither: []string{"User=", "SMA_TRUST", "BindPaths=", "PrivateUsers=", "multi-user"},
		},
		{
			name: "no commands", change: func(u *unit) { u.commands = false },
			has:        []string{"RestrictNamespaces=yes", "ProtectKernelTunables=yes"},
			hasNeither: []string{"SystemCallFilter=@mount"},
		},
		{
			name: "old systemd", change: func(u *unit) { u.systemd = 252 },
			has:        []string{"RestartSec=2"},
			hasNeither: []string{"RestartSteps", "RestartMaxDelaySec"},
		},
		{
			name: "percent", change: func(u *unit) { u.dir = "/srv/100%%" },
			has: []string{"# sma service of /srv/100%\n", "ExecStart=/usr/bin/sma run /srv/100%%\n"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u := all
			tt.change(&u)
			text := u.text()
			for _, want := range tt.has {
				if !strings.Contains(text, want) {
					t.Errorf("the unit lacks %q", want)
				}
			}
			for line := range strings.Lines(text) {
				if strings.HasPrefix(line, "#") {
					continue
				}
				for _, never := range append(tt.hasNeither, "| ", "@DIR@", "@QUOTED@", "@EXEC@", "@USER@", "@TRUST@", "@DESCRIPTION@") {
					if strings.Contains(line, never) {
						t.Errorf("the unit has %q: %s", never, line)
					}
				}
			}
			if t.Failed() {
				t.Log(text)
			}
		})
	}
}

var update = flag.Bool("update", false, "write the unit of the Debian package anew")

// debian is the unit of the Debian package, for any agent in /var/lib/sma.
func debian() unit {
	return unit{title: "ShipMyAgent: %i", program: "/usr/bin/sma", dir: "/var/lib/sma/%i", user: "sma", system: true, commands: true, systemd: 257}
}

// TestDebianUnit: the package has a unit from the same template.
func TestDebianUnit(t *testing.T) {
	file := filepath.Join("..", "..", "dist", "debian", "sma@.service")
	want := debian().text()
	if *update {
		stdtest.Must(t, os.WriteFile(file, []byte(want), 0o644)) //nolint:gosec // units can be read by everybody
	}
	got := stdtest.Read(t, file)
	if diff := gocmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s (-template +file; go test ./cmd/internal/cli/services -update writes it):\n%s", file, diff)
	}
}

func TestEscaped(t *testing.T) {
	for path, want := range map[string]string{"/srv/bot": "/srv/bot", "/srv/我的 bot": "/srv/我的 bot", "/srv/%i": "/srv/%%i"} {
		if got, err := escaped(path); err != nil || got != want {
			t.Errorf("escaped(%q) = %q, %v, want %q", path, got, err, want)
		}
	}
	for _, path := range []string{"/a\nUser=root", `/a"b`, "/a'b", `/a\b`, "/a:b", "/a$b", "/a;b", "/a@USER@", "/a#"} {
		if got, err := escaped(path); err == nil {
			t.Errorf("escaped(%q) = %q, want an error", path, got)
		}
	}
}

func TestNameOf(t *testing.T) {
	for base, want := range map[string]string{"bot": "sma-bot", "my bot": "sma-my-bot", "-x.": "sma-x", "机器人": "sma-agent", "a@b": "sma-a-b", "/": "sma-agent"} {
		if got := nameOf(base); got != want {
			t.Errorf("nameOf(%q) = %q, want %q", base, got, want)
		}
	}
}

// TestSystemdTakesTheUnit has systemd check the units and measure how exposed they are. What the sandbox of commands
// needs, mostly namespaces, costs 1.8 points.
func TestSystemdTakesTheUnit(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		machinetest.Missing(t, "no systemd-analyze")
	}
	do := func(t *testing.T, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), analyze, args...)
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir(), "LC_ALL=C") // a locale that is not installed is complained about
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("systemd-analyze %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	words := strings.Fields(do(t, "--version"))
	number, _, _ := strings.Cut(words[1], ".")
	version, err := strconv.Atoi(number)
	stdtest.Must(t, err)
	program, err := os.Executable()
	stdtest.Must(t, err)
	tests := []struct {
		name     string
		unit     unit
		exposure string // at most, in tenths
		file     string
	}{
		{name: "Debian", unit: debian(), exposure: "30", file: "sma@bot.service"},
		{name: "system", unit: unit{system: true, commands: true}, exposure: "30"},
		{name: "system without commands", unit: unit{system: true}, exposure: "20"},
		{name: "user", unit: unit{commands: true}},
		{name: "user without commands"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u := tt.unit
			u.program, u.systemd = program, version
			if u.dir == "" {
				u.title, u.dir, u.user = "sma-bot", "/srv/my bot", "1000"
			}
			file := filepath.Join(t.TempDir(), cmp.Or(tt.file, "sma-bot.service"))
			stdtest.Must(t, os.WriteFile(file, []byte(u.text()), 0o600))
			scope := "--user"
			if u.system {
				scope = "--system"
			}
			if said := do(t, scope, "--man=no", "verify", file); said != "" {
				t.Errorf("systemd-analyze verify says:\n%s", said)
			}
			if u.system && version >= 252 {
				do(t, "security", "--offline=true", "--threshold="+tt.exposure, file)
			}
		})
	}
}
