package agentcontext_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/agentcontext"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/runlog"
)

var errFolder = errors.New("no folder")

// open starts a log in a folder; stop writes what waits and ends it.
func open(t *testing.T, dir string, window int) (log *agentcontext.Log, registry *prometheus.Registry, stop func()) {
	t.Helper()
	registry = prometheus.NewRegistry()
	log = agentcontext.New(agentcontext.Options{
		Dir: dir, Window: window, Logger: slog.New(slog.DiscardHandler), Registerer: registry,
		Folder: func(key messages.ChatKey) (string, error) {
			if key == "bad" {
				return "", errFolder
			}
			return string(key), nil
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		log.Run(ctx)
	}()
	stop = func() {
		cancel()
		<-done
	}
	t.Cleanup(stop)
	return log, registry, stop
}

func entry(n int) runlog.Entry {
	return runlog.Entry{
		Kind: runlog.KindRun, TS: int64(n), RunID: fmt.Sprintf("r_%d", n), Result: journal.ResultDone,
		Request: fmt.Sprintf("ask %d\n\"天\u2028气\"", n),
	}
}

func runs(t *testing.T, log *agentcontext.Log, key messages.ChatKey) []runlog.Entry {
	t.Helper()
	got, err := log.Runs(t.Context(), key)
	stdtest.Must(t, err)
	return got
}

// TestRunsAreBounded: however old a chat is, its file holds at most two windows
// and readers get the newest and one summary, which counts every run.
func TestRunsAreBounded(t *testing.T) {
	for _, window := range []int{1, 2, 5} {
		t.Run(fmt.Sprint(window), func(t *testing.T) {
			dir := t.TempDir()
			log, _, _ := open(t, dir, window)
			for n := 1; n <= 9*window; n++ {
				log.AddRun("a", entry(n))
				got := runs(t, log, "a")
				if n <= window {
					if len(got) != n {
						t.Fatalf("after %d runs: %d entries", n, len(got))
					}
					continue
				}
				if len(got) != window+1 || got[0].Kind != runlog.KindSummary || got[0].Runs != n-window || got[0].TS != int64(n-window) {
					t.Fatalf("after %d runs: %d entries, the first %+v", n, len(got), got[0])
				}
				if diff := cmp.Diff(entry(n), got[window]); diff != "" {
					t.Fatalf("the newest (-want +got):\n%s", diff)
				}
				b, err := os.ReadFile(filepath.Join(dir, "a.jsonl"))
				if lines := strings.Count(string(b), "\n"); err != nil || lines > 2*window+1 {
					t.Fatalf("after %d runs: %d lines, %v", n, lines, err)
				}
			}
			if got := runs(t, log, "b"); len(got) != 0 {
				t.Errorf("another chat reads %+v", got)
			}
		})
	}
}

// TestRunsAfterACrash: half an entry is none, and neither it nor foreign bytes
// disturb the entries around.
func TestRunsAfterACrash(t *testing.T) {
	dir := t.TempDir()
	log, _, stop := open(t, dir, 10)
	log.AddRun("a", entry(1))
	log.AddRun("a", entry(2))
	runs(t, log, "a")
	stop()
	file := filepath.Join(dir, "a.jsonl")
	whole := stdtest.Read(t, file)
	first := strings.IndexByte(string(whole), '\n') + 1
	tails := map[string]string{"zeros": string(whole[:first]) + strings.Repeat("\x00", 100), "foreign": string(whole[:first]) + "{}\n[1]\nnull\n"}
	for cut := first; cut < len(whole)-1; cut++ {
		tails[fmt.Sprint(cut)] = string(whole[:cut])
	}
	for name, text := range tails {
		stdtest.Must(t, os.WriteFile(file, []byte(text), 0o600))
		again, _, stop := open(t, dir, 10)
		again.AddRun("a", entry(3))
		stdtest.Diff(t, name, []runlog.Entry{entry(1), entry(3)}, runs(t, again, "a"))
		stop()
	}
}

func TestRunsAtTheEnd(t *testing.T) {
	dir := t.TempDir()
	log, registry, stop := open(t, dir, 0)
	for n := range 50 {
		log.AddRun("deep~/chat", entry(n))
	}
	log.AddRun("bad", entry(1))
	stop()
	if _, err := log.Runs(t.Context(), "deep~/chat"); err == nil {
		t.Error("a log that has ended can be read")
	}
	next, _, _ := open(t, dir, 0)
	if got := runs(t, next, "deep~/chat"); len(got) != 50 || got[49].RunID != "r_49" {
		t.Errorf("%d entries after a stop, want all 50", len(got))
	}
	if n, err := testutil.GatherAndCount(registry, "sma_run_log_dropped_total"); err != nil || n != 1 {
		t.Errorf("metric: %d, %v", n, err)
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if _, err := next.Runs(t.Context(), "bad"); !errors.Is(err, errFolder) {
		t.Errorf("error = %v, want %v", err, errFolder)
	}
}

// TestAddRunNeverWaits: nobody writes, and what does not fit is counted.
func TestAddRunNeverWaits(t *testing.T) {
	registry := prometheus.NewRegistry()
	log := agentcontext.New(agentcontext.Options{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler), Registerer: registry})
	for n := range 5000 {
		log.AddRun("a", entry(n))
	}
	want := "# HELP sma_run_log_dropped_total Entries of the run log that were dropped because the disk was too slow or failed.\n" +
		"# TYPE sma_run_log_dropped_total counter\nsma_run_log_dropped_total 904\n"
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := log.Runs(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want %v", err, context.Canceled)
	}
}

// With the log of a chat goes what a killed process had written of its next content.
func TestForgetRunsLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	log, _, _ := open(t, dir, 4)
	log.AddRun("a", entry(1))
	runs(t, log, "a")
	if err := os.WriteFile(filepath.Join(dir, "a.jsonl.new"), []byte("said in the chat"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := log.ForgetRuns(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
