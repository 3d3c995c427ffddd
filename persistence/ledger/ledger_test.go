package ledger_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/persistence/ledger"
)

func open(t *testing.T, dir string, limits ledger.Limits) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(dir, time.UTC, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	l.SetLimits(limits)
	return l
}

func call(chat string) ledger.Call {
	return ledger.Call{Chat: "web-chat-1", Run: chat, Work: "run", Model: "m"}
}

// use reserves and settles a call, and returns the limit that refuses it.
func use(t *testing.T, l *ledger.Ledger, c ledger.Call, tokens int64) ledger.Limit {
	t.Helper()
	r, err := l.Reserve(t.Context(), c, func() ledger.Amount { return amount(tokens) })
	if refused, ok := errors.AsType[*ledger.Exhausted](err); ok {
		return refused.Limit
	}
	if err != nil {
		t.Fatal(err)
	}
	r.Settle(amount(tokens))
	return ""
}

func TestLimits(t *testing.T) {
	for _, tt := range []struct {
		limit  ledger.Limit
		limits ledger.Limits
	}{
		{ledger.RunTokens, ledger.Limits{RunTokens: 10}},
		{ledger.ChatTokensPerDay, ledger.Limits{ChatTokensPerDay: 10}},
		{ledger.HostTokensPerDay, ledger.Limits{HostTokensPerDay: 10}},
		{ledger.USDPerRun, ledger.Limits{RunNanoUSD: 100}},
		{ledger.USDPerChatPerDay, ledger.Limits{ChatNanoUSDPerDay: 100}},
		{ledger.USDPerHostPerDay, ledger.Limits{HostNanoUSDPerDay: 100}},
		{ledger.RunTokens, ledger.Limits{RunTokens: 10, ChatTokensPerDay: 10, RunNanoUSD: 100}},
	} {
		t.Run(string(tt.limit), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := open(t, t.TempDir(), tt.limits)
				defer func() { _ = l.Close() }()
				if got := use(t, l, call("r1"), 9) + use(t, l, call("r1"), 5); got != "" {
					t.Errorf("below the limit, %s refuses", got)
				}
				if got := use(t, l, call("r1"), 1); got != tt.limit {
					t.Errorf("%q refuses, want %s", got, tt.limit)
				}
				other := ledger.Call{Chat: "web-chat-2", Run: "r2", Work: "run", Model: "m"}
				if got, want := use(t, l, other, 1) != "", strings.Contains(strings.ToLower(string(tt.limit)), "host"); got != want {
					t.Errorf("another chat is refused: %v, want %v", got, want)
				}
				<-time.After(24 * time.Hour)
				if got, want := use(t, l, call("r1"), 1) != "", strings.Contains(strings.ToLower(string(tt.limit)), "run"); got != want {
					t.Errorf("the next day it is refused: %v, want %v", got, want)
				}
				l.SetLimits(ledger.Limits{RunTokens: 1000})
				if got := use(t, l, call("r1"), 1); got != "" {
					t.Errorf("with raised limits, %s refuses", got)
				}
			})
		})
	}
}

// A call that only the reservations of others keep out waits for what these really use. Work without a run has no limit
// of runs.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, t.TempDir(), ledger.Limits{RunTokens: 1, HostTokensPerDay: 100})
		defer func() { _ = l.Close() }()
		work := ledger.Call{Chat: "web-chat-1", Work: "memory", Model: "m"}
		most := func() ledger.Amount { return amount(100) }
		first, err := l.Reserve(t.Context(), work, most)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		time.AfterFunc(time.Minute, func() { first.Settle(amount(3)) })
		second, err := l.Reserve(t.Context(), work, most)
		if waited := time.Since(began); err != nil || waited != time.Minute {
			t.Errorf("%v after %s", err, waited)
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.ErrUnsupported)
		defer cancel()
		if _, err := l.Reserve(ctx, work, most); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("waited for nothing and got %v", err)
		}
		time.AfterFunc(time.Minute, func() { l.SetLimits(ledger.Limits{}) })
		if _, err := l.Reserve(t.Context(), work, most); err != nil {
			t.Error(err)
		}
		second.Settle(ledger.Amount{})
		if got, err := l.Today("web-chat-1"); err != nil || got != amount(3) {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// A clock that goes back finds the day as it was, and so does one that comes back.
func TestClockGoesBack(t *testing.T) {
	dir := t.TempDir()
	limits := ledger.Limits{ChatTokensPerDay: 10}
	played := func(at time.Duration, want ledger.Limit) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) { // every bubble begins at the same time
			<-time.After(at)
			l := open(t, dir, limits)
			if got := use(t, l, call("r"), 10); got != want {
				t.Errorf("after %s %q refuses, want %q", at, got, want)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	played(24*time.Hour, "")
	played(0, "")
	played(time.Hour, ledger.ChatTokensPerDay)
	played(25*time.Hour, ledger.ChatTokensPerDay)
	played(48*time.Hour, "")
}

// Without limits nothing is reserved, and what was used is written together.
func TestWithoutLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		l := open(t, dir, ledger.Limits{})
		written := func() string {
			raw, err := os.ReadFile(filepath.Join(dir, "2000-01-01.jsonl"))
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Error(err)
			}
			return string(raw)
		}
		for range 3 {
			r, err := l.Reserve(t.Context(), call("r"), func() ledger.Amount { t.Error("estimated"); return ledger.Amount{} })
			if err != nil {
				t.Fatal(err)
			}
			r.Settle(amount(6))
		}
		refused, err := l.Reserve(t.Context(), call("r"), nil)
		if err != nil {
			t.Fatal(err)
		}
		refused.Settle(ledger.Amount{})
		if got := written(); got != "" {
			t.Errorf("written at once: %s", got)
		}
		<-time.After(time.Second)
		synctest.Wait()
		if got := written(); strings.Count(got, `"is":"spent"`) != 3 || strings.Contains(got, "reserved") {
			t.Errorf("written: %s", got)
		}
		late, err := l.Reserve(t.Context(), call("r"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		late.Settle(amount(6)) // a call that ends after the stop
		if got := written(); strings.Count(got, `"is":"spent"`) != 4 {
			t.Errorf("after the stop: %s", got)
		}
		l = open(t, dir, ledger.Limits{RunTokens: 24})
		if got := use(t, l, call("r"), 1); got != ledger.RunTokens {
			t.Errorf("a run goes on in another process, and %q refuses", got)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestUsage(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"2026-01-02.jsonl": `{"ts":1,"id":"a","is":"reserved","chat":"web-chat-2","work":"run","model":"m","in":100,"cached":0,"out":50,"nanoUSD":9}
{"ts":2,"id":"b","is":"reserved","chat":"web-chat-1","run":"r","work":"run","model":"m","in":100,"cached":0,"out":50,"nanoUSD":9}
{"ts":3,"id":"a","is":"spent","chat":"web-chat-2","work":"run","model":"m","in":10,"cached":4,"out":5,"nanoUSD":3}
not a line
{"ts":4,"id":"c","is":"spent","chat":"web-chat-2","work":"memory","model":"m","in":1,"cached":0,"out":1,"nanoUSD":1}
{"ts":4,"id":"d","is":"reserved","chat":"web-chat-2","work":"run","model":"n","in":1,"cached":0,"out":1,"nanoUSD":1}
{"ts":4,"id":"d","is":"free","chat":"web-chat-2","work":"run","model":"n","in":0,"cached":0,"out":0,"nanoUSD":0}
{"ts":4,"id":"e","is":"spent","chat":"web-chat-2","work":"run","model":"m","in":-1,"cached":0,"out":1,"nanoUSD":1}
{"ts":5,"id":"f","is":"spe`,
		"2026-01-01.jsonl": `{"ts":1,"id":"a","is":"spent","chat":"web-chat-2","work":"run","model":"m","in":1,"cached":0,"out":1,"nanoUSD":1}`,
		"2025-12-31.jsonl": `{"ts":1,"id":"a","is":"spent","chat":"web-chat-2","work":"run","model":"m","in":1,"cached":0,"out":1,"nanoUSD":1}`,
		"notes.jsonl":      "x",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := ledger.Usage(dir, "2026-01-01")
	if err != nil {
		t.Fatal(err)
	}
	want := []ledger.Row{
		{Day: "2026-01-01", Chat: "web-chat-2", Model: "m", Calls: 1, Amount: ledger.Amount{Input: 1, Output: 1, NanoUSD: 1}},
		{Day: "2026-01-02", Chat: "web-chat-1", Model: "m", Calls: 1, Amount: ledger.Amount{Input: 100, Output: 50, NanoUSD: 9}},
		{Day: "2026-01-02", Chat: "web-chat-2", Model: "m", Calls: 2, Amount: ledger.Amount{Input: 11, Cached: 4, Output: 6, NanoUSD: 4}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if rows, err := ledger.Usage(filepath.Join(dir, "none"), ""); err != nil || len(rows) > 0 {
		t.Errorf("without a folder: %v, %v", rows, err)
	}
}

// What cannot be recorded is not sent while there is a limit, and is sent while there is none.
func TestUnwritable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "usage")
	failures := 0
	l, err := ledger.Open(dir, time.UTC, func(error) { failures++ })
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // a file in place of the folder
		t.Fatal(err)
	}
	if use(t, l, call("r"), 1); failures != 1 {
		t.Errorf("%d failures were reported, want 1", failures)
	}
	l.SetLimits(ledger.Limits{RunTokens: 5})
	if _, err := l.Reserve(t.Context(), call("r"), func() ledger.Amount { return amount(1) }); err == nil {
		t.Error("a call was admitted")
	}
}

// Whatever a file holds, it is read, and every row is of a call.
func FuzzUsage(f *testing.F) {
	f.Add([]byte(`{"ts":1,"id":"a","is":"spent","chat":"c","work":"run","model":"m","in":1,"cached":0,"out":1,"nanoUSD":1}` + "\n"))
	f.Add([]byte("\n\x00{\"id\":\"a\",\"is\":\"free\",\"in\":-1}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "2026-01-02.jsonl"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		rows, err := ledger.Usage(dir, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if r.Calls < 1 {
				t.Errorf("a row without calls: %+v", r)
			}
		}
	})
}
