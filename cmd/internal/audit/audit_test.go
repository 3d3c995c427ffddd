package audit

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// quiet is a log on an empty state folder. Writing to the log of approvals must not fail.
func quiet(tb testing.TB) (l *Log, state string) {
	tb.Helper()
	state = tb.TempDir()
	return New(state, slog.New(slog.DiscardHandler), prometheus.NewRegistry(), func(err error) { tb.Error(err) }), state
}

func TestAuditWritesADayPerFile(t *testing.T) {
	a, state := quiet(t)
	dir := filepath.Join(state, "logs")
	evening := time.Date(2026, 1, 2, 23, 59, 59, 0, time.UTC)
	a.Add(decision.AuditEntry{TS: evening, Event: "run", ChatKey: "telegram-chat-1", RequestID: "r1", RunID: "run1", Result: "done"})
	a.Add(decision.AuditEntry{TS: evening.Add(2 * time.Second), Event: "tool", Name: "time_now", Step: 1, Took: 250 * time.Millisecond})
	a.Add(decision.AuditEntry{
		TS: evening.Add(3 * time.Second), Event: decision.AuditModel, Name: "m", Result: "stop", Took: 1500 * time.Millisecond, InputTokens: 30, CachedTokens: 20, OutputTokens: 4,
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a.Run(ctx)
	want := map[string]string{
		"2026-01-02.jsonl": `{"ts":"2026-01-02T23:59:59.000Z","event":"run","chatKey":"telegram-chat-1","requestId":"r1","runId":"run1","result":"done"}` + "\n",
		"2026-01-03.jsonl": `{"ts":"2026-01-03T00:00:01.000Z","event":"tool","name":"time_now","step":1,"tookMs":250}` + "\n" +
			`{"ts":"2026-01-03T00:00:02.000Z","event":"model","name":"m","result":"stop","tookMs":1500,"inputTokens":30,"cachedTokens":20,"outputTokens":4}` + "\n",
	}
	got := map[string]string{}
	entries, err := os.ReadDir(dir)
	stdtest.Must(t, err)
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		stdtest.Must(t, err)
		info, err := e.Info()
		stdtest.Must(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v, want 0600", e.Name(), info.Mode().Perm())
		}
		got[e.Name()] = string(text)
	}
	stdtest.Diff(t, "files", want, got)
}

// A line that a crash or a full disk has cut takes no other line with it.
func TestAuditAfterACutLine(t *testing.T) {
	a, state := quiet(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	logs := []string{filepath.Join(state, "logs", "2026-01-02.jsonl"), filepath.Join(state, "approvals", "audit-2026-01-02.jsonl")}
	for _, path := range logs {
		stdtest.Must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("{}\n{\"ts\":"), 0o600)))
	}
	a.Add(decision.AuditEntry{TS: at, Event: "approval"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a.Run(ctx)
	for _, path := range logs {
		text, err := os.ReadFile(path)
		if want := "{}\n{\"ts\":\n{\"ts\":\"2026-01-02T03:04:05.000Z\",\"event\":\"approval\"}\n"; err != nil || string(text) != want {
			t.Errorf("%s: %q, %v; want %q", path, text, err, want)
		}
	}
}

func TestAuditNeverWaits(t *testing.T) {
	a, _ := quiet(t)
	size := len(appendAudit(nil, time.Time{}, &decision.AuditEntry{Event: "run"}))
	for range (maxPending+size-1)/size + 10 {
		a.Add(decision.AuditEntry{Event: "run"})
	}
	if got := testutil.ToFloat64(a.dropped); got != 10 {
		t.Errorf("dropped = %v, want 10", got)
	}
}

func TestAuditOutlivesADiskThatFails(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	stdtest.Must(t, os.WriteFile(blocked, nil, 0o600))
	var log strings.Builder
	a := New(blocked, slog.New(slog.NewTextHandler(&log, nil)), prometheus.NewRegistry(), func(err error) { t.Error(err) })
	a.Add(decision.AuditEntry{TS: time.Now(), Event: "run"})
	a.flush()
	if testutil.ToFloat64(a.dropped) != 1 || !strings.Contains(log.String(), "cannot be written") {
		t.Errorf("dropped = %v, log %q; want one and a line", testutil.ToFloat64(a.dropped), log.String())
	}
}

// A line records the text exactly, whatever it contains.
func FuzzAuditLine(f *testing.F) {
	f.Add("run", "telegram-chat-1", "r1", "a \"b\" <c> & \\ \n中\xff", 3)
	f.Add("", "", "", "", 0)
	f.Fuzz(func(t *testing.T, event, key, request, reason string, step int) {
		if event == decision.AuditModel {
			t.Skip("a model call has further members")
		}
		at := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
		e := decision.AuditEntry{
			Event: event, ChatKey: messages.ChatKey(key), RequestID: request, RunID: reason, Name: event, Result: key, Reason: reason, Step: step,
			By: request, Digest: event,
		}
		want, err := json.Marshal(struct {
			Time      string `json:"ts"`
			Event     string `json:"event"`
			ChatKey   string `json:"chatKey,omitempty"`
			RequestID string `json:"requestId,omitempty"`
			RunID     string `json:"runId,omitempty"`
			Name      string `json:"name,omitempty"`
			Result    string `json:"result,omitempty"`
			Reason    string `json:"reason,omitempty"`
			Step      int    `json:"step,omitempty"`
			By        string `json:"by,omitempty"`
			Digest    string `json:"digest,omitempty"`
		}{"2026-01-02T03:04:05.006Z", event, key, request, reason, event, key, reason, step, request, event})
		stdtest.Must(t, err)
		if got := string(appendAudit(nil, at, &e)); got != string(want)+"\n" {
			t.Errorf("line %s, want %s", got, want)
		}
	})
}

func BenchmarkAuditWrite(b *testing.B) {
	a, _ := quiet(b)
	e := decision.AuditEntry{
		TS: time.Now(), Event: "run", ChatKey: "telegram-chat-1234567", RequestID: "01jd0000000000000000000000", RunID: "r_01jd000000000000000", Result: "done", Step: 1,
	}
	b.ReportAllocs()
	for b.Loop() {
		a.Add(e)
		if len(a.pending) > maxSpare/2 {
			a.flush()
		}
	}
}

// The log of approvals has every entry, even when the other log drops some.
func TestAP14NothingIsLeftOut(t *testing.T) {
	a, dir := quiet(t)
	const writers, each = 8, 2048
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() { // nobody empties the queue of the other log
			for i := range each { // more than the other log keeps
				a.Add(decision.AuditEntry{TS: at, Event: "execution", Result: "begun", Call: fmt.Sprintf("%d-%d", w, i), Rule: "approved", Digest: "d", By: "telegram-1"})
			}
		})
	}
	wg.Wait()
	a.Add(decision.AuditEntry{TS: at, Event: "tool", Name: "not here"})
	stdtest.Must(t, a.Close())
	name := filepath.Join(dir, "approvals", "audit-2026-01-02.jsonl")
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	f, err := os.Open(name)
	stdtest.Must(t, err)
	defer func() { _ = f.Close() }()
	seen := map[string]bool{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e struct{ Event, CallID, Rule, Digest, By, Result string }
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil || e.Rule != "approved" || e.Event != "execution" || e.By == "" || e.Digest == "" || e.Result != "begun" {
			t.Fatalf("line %s: %v", lines.Bytes(), err)
		}
		seen[e.CallID] = true
	}
	if len(seen) != writers*each {
		t.Errorf("%d entries, want %d", len(seen), writers*each)
	}
}
