package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// What root would write into the state of another user's host is refused, and so is what a full disk cuts short. Only
// root can try both.
func TestRootAndDisk(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give folders away and mount disks")
	}
	bot := filepath.Join(t.TempDir(), "bot")
	sma := func(want int, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "sma", args...)
		var out bytes.Buffer
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(bot)} // a key of the user would be used
		cmd.Stdout, cmd.Stderr = &out, &out
		_ = cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("sma %s: exit code %d, want %d: %s", strings.Join(args, " "), got, want, &out)
		}
		return out.String()
	}
	sma(0, "init", bot)
	sma(0, "send", "-C", bot, "hello")
	const nobody = 65534
	err := filepath.Walk(bot, func(path string, _ os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, nobody, nobody)
	})
	stdtest.Must(t, err)
	for _, args := range [][]string{
		{"pair"},
		{"pair", "remove", "42"},
		{"tasks", "add", "tea", "--in", "20m", "--say", "Tea", "--chat", "cli-chat-main"},
		{"memory", "forget", "project", "x"},
		{"send", "hello"},
		{"search", "hello"},
		{"chats", "pause", "cli-chat-main"},
	} {
		if said := sma(3, append(args, "-C", bot)...); !strings.Contains(said, "belongs to another user") || !strings.Contains(said, "sudo -u '#65534' sma") {
			t.Errorf("sma %s says %s", args, said)
		}
	}
	for _, args := range [][]string{{"status"}, {"logs"}, {"usage"}, {"pair", "list"}} {
		sma(0, append(args, "-C", bot)...)
	}
	err = filepath.Walk(bot, func(path string, info os.FileInfo, err error) error {
		if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Uid != nobody {
			t.Errorf("%s belongs to %d now", path, stat.Uid)
		}
		return err
	})
	stdtest.Must(t, err)

	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=16k"); err != nil {
		t.Skip("no disk can be mounted here:", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	full := filepath.Join(disk, "bot")
	if said := sma(1, "init", full); !strings.Contains(said, "no space left") || !strings.Contains(said, "try: sma init FOLDER") {
		t.Errorf("init says %s", said)
	}
	for _, name := range []string{"Agent.md", "ship.json", ".ship/ship.schema.json"} {
		if text, err := os.ReadFile(filepath.Join(full, name)); err == nil && (len(text) == 0 || !strings.HasSuffix(string(text), "\n")) {
			t.Errorf("%s was left with %d bytes", name, len(text))
		}
	}
	if err := os.WriteFile(filepath.Join(disk, "rest"), make([]byte, 1<<20), 0o600); err == nil {
		t.Error("the disk is not full")
	}
	if said := sma(1, "doctor", "-C", full, "--set", "adapters.web.enabled=false", "--set", "metrics.listen=off"); strings.Contains(said, "chown") || !strings.Contains(said, "try: make room") {
		t.Errorf("the doctor says %s", said)
	}
}
