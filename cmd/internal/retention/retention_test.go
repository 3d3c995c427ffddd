package retention

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// Each setting removes only files of its own kind that are older than its limit.
func TestRetention(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	const archive, history = "chat/telegram-chat-1/messages/archive/x.json", "chat/telegram-chat-1/messages/history.jsonl"
	old := []string{
		"logs/mcp-files.log", "logs/2026-04-01.jsonl", "approvals/audit-2026-04-01.jsonl", "usage/2026-04-01.jsonl", archive, "files/results/telegram-chat-1/a.txt",
		history, "approvals/grants/telegram-chat-1.json", "files/other/b.txt", "chat/telegram-chat-1/memory/Primary.md", "access.json", "memory/project.md", "memory/users/telegram-1.md",
		"memory/backup/project-20260401T000000.000000000Z.md", "memory/users/backup/telegram-1-20260401T000000.000000000Z.md",
		"chat/telegram-chat-1/memory/backup/Primary-20260401T000000.000000000Z.md",
	}
	backups := old[13:]
	young := []string{"logs/mcp-new.log", "logs/2026-05-01.jsonl", "approvals/audit-2026-05-01.jsonl", "usage/2026-05-01.jsonl", "chat/telegram-chat-1/messages/archive/y.json", "files/results/telegram-chat-1/new.txt"}
	for _, tt := range []struct {
		name string
		keep config.Retention
		gone []string
	}{
		{"nothing", config.Retention{}, nil},
		{"logs", config.Retention{LogsDays: 7}, old[:1]},
		{"audit", config.Retention{AuditDays: 7}, old[1:4]},
		{"archives", config.Retention{ArchivesDays: 7}, slices.Concat(old[4:5], backups)},
		{"files", config.Retention{FilesDays: 7}, old[5:6]},
		{"runs of tasks", config.Retention{TasksDays: 7}, old[7:8]},
		{"all", config.Retention{LogsDays: 7, AuditDays: 7, ArchivesDays: 7, FilesDays: 7}, slices.Concat(old[:6], backups)},
		{"all, for longer", config.Retention{LogsDays: 60, AuditDays: 60, ArchivesDays: 60, FilesDays: 60}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			state := t.TempDir()
			for _, name := range old {
				stdtest.Write(t, filepath.Join(state, name), "x")
				stdtest.Must(t, os.Chtimes(filepath.Join(state, name), now, now.AddDate(0, 0, -30)))
			}
			for _, name := range young {
				stdtest.Write(t, filepath.Join(state, name), "x")
				stdtest.Must(t, os.Chtimes(filepath.Join(state, name), now, now.Add(-time.Hour)))
			}
			runs := func(_ context.Context, before time.Time, _ func(context.Context) error) (int, error) {
				if before != now.AddDate(0, 0, -7) {
					t.Errorf("runs before %v are removed", before)
				}
				return 1, os.Remove(filepath.Join(state, old[7]))
			}
			r := &Sweeper{state: state, keep: func() config.Retention { return tt.keep }, runs: runs, log: slog.New(slog.DiscardHandler)}
			r.look(t.Context(), now)
			var want []string
			for _, name := range slices.Concat(old, young) {
				if !slices.Contains(tt.gone, name) {
					want = append(want, name)
				}
			}
			slices.Sort(want)
			stdtest.Diff(t, "left", want, stdtest.Names(t, state))
		})
	}
}

// What a killed process left unfinished is removed once nobody can be writing it any more. Nothing else is.
func TestUnfinishedFiles(t *testing.T) {
	project, now := t.TempDir(), time.Now()
	const temp = ".sma-ABCDEFGHIJKLMNOPQRSTUVWXY7.tmp"
	gone := []string{".ship/files/results/web-chat-1/.part-123", ".ship/files/" + temp, temp, "src/" + temp}
	left := []string{
		".ship/files/results/web-chat-1/a.txt", ".ship/skills/a/" + temp, ".git/" + temp, "node_modules/a/" + temp, ".part-1", ".sma-notes.tmp", "src/a.go",
		".ship/files/results/web-chat-1/.part-young",
	}
	for _, name := range slices.Concat(gone, left) {
		path := filepath.Join(project, name)
		stdtest.Write(t, path, "x")
		age := 48 * time.Hour
		if strings.HasSuffix(name, "young") {
			age = time.Hour
		}
		stdtest.Must(t, os.Chtimes(path, now, now.Add(-age)))
	}
	r := New(filepath.Join(project, ".ship"), project, func() config.Retention { return config.Retention{} }, nil, slog.New(slog.DiscardHandler))
	r.pause = 0
	r.look(t.Context(), now)
	for _, name := range slices.Concat(gone, left) {
		if _, err := os.Stat(filepath.Join(project, name)); (err == nil) != slices.Contains(left, name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// One pass does a limited amount of work and the next one continues. A cancelled pass ends.
func TestRetentionIsBounded(t *testing.T) {
	state, now := t.TempDir(), time.Now()
	for _, name := range []string{"a", "b", "c"} {
		path := filepath.Join(state, "files", "results", name)
		stdtest.Write(t, path, "x")
		stdtest.Must(t, os.Chtimes(path, now, now.AddDate(-1, 0, 0)))
	}
	r := &Sweeper{state: state, log: slog.New(slog.DiscardHandler), left: 2}
	all := func(string) bool { return true }
	if n, err := r.remove(t.Context(), filepath.Join(state, "files"), now, all); n != 2 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.left = 2
	if n, err := r.remove(ctx, filepath.Join(state, "files"), now, all); n != 0 || err == nil {
		t.Errorf("cancelled: removed %d, %v", n, err)
	}
}
