package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/window"
	"github.com/shipmyagent/shipmyagent/persistence/ledger"
)

func open(t *testing.T, dir string, limits ledger.Limits) *ledger.Ledger {
	t.Helper()
	l := ledger.Open(dir, time.UTC, func(err error) { t.Error(err) })
	set(t, l, limits)
	return l
}

func set(t *testing.T, l *ledger.Ledger, limits ledger.Limits) {
	t.Helper()
	stdtest.Must(t, l.SetLimits(limits))
}

func call(chat string) ledger.Call {
	return ledger.Call{Chat: "web-chat-1", Person: "web-1", Run: chat, Work: "run", Model: "m"}
}

// use reserves and settles a call, and returns the limit that refuses it.
func use(t *testing.T, l *ledger.Ledger, c ledger.Call, tokens int64) string {
	t.Helper()
	r, err := l.Reserve(t.Context(), c, func() ledger.Amount { return amount(tokens) })
	if refused, ok := errors.AsType[*ledger.Exhausted](err); ok {
		return refused.Limit
	}
	stdtest.Must(t, err)
	r.Settle(amount(tokens))
	return ""
}

// limit is a single limit.
func limit(scope string, w window.Window, b ledger.Bound) ledger.Limits {
	var l ledger.Limits
	switch scope {
	case "Run":
		l.Run = b
	case "Person":
		l.Person[w] = b
	case "Chat":
		l.Chat[w] = b
	case "Host":
		l.Host[w] = b
	}
	return l
}

// Every limit refuses when it is reached, has the name of its setting, is for one scope, and ends with its window.
func TestLimits(t *testing.T) {
	for name, tt := range map[string]struct {
		limits ledger.Limits
		// other and friend are what refuses calls of other people, in another chat and in this one. later is whether a call
		// of the same run is still refused after an hour, a day and a month; a run is looked for yesterday and today.
		other, friend string
		later         [3]bool
	}{
		"runTokens":           {limit("Run", 0, ledger.Bound{Tokens: 10}), "", "", [3]bool{true, true}},
		"usdPerRun":           {limit("Run", 0, ledger.Bound{NanoUSD: 100}), "", "", [3]bool{true, true}},
		"personTokensPerHour": {limit("Person", window.Hour, ledger.Bound{Tokens: 10}), "", "", [3]bool{}},
		"personTokensPerDay":  {limit("Person", window.Day, ledger.Bound{Tokens: 10}), "", "", [3]bool{true}},
		"usdPerPersonPerMonth": {
			limit("Person", window.Month, ledger.Bound{NanoUSD: 100}), "", "", [3]bool{true, true},
		},
		"usdPerChatPerHour":  {limit("Chat", window.Hour, ledger.Bound{NanoUSD: 100}), "", "usdPerChatPerHour", [3]bool{}},
		"chatTokensPerDay":   {limit("Chat", window.Day, ledger.Bound{Tokens: 10}), "", "chatTokensPerDay", [3]bool{true}},
		"usdPerChatPerDay":   {limit("Chat", window.Day, ledger.Bound{NanoUSD: 100}), "", "usdPerChatPerDay", [3]bool{true}},
		"chatTokensPerMonth": {limit("Chat", window.Month, ledger.Bound{Tokens: 10}), "", "chatTokensPerMonth", [3]bool{true, true}},
		"hostTokensPerHour":  {limit("Host", window.Hour, ledger.Bound{Tokens: 10}), "hostTokensPerHour", "hostTokensPerHour", [3]bool{}},
		"usdPerHostPerDay":   {limit("Host", window.Day, ledger.Bound{NanoUSD: 100}), "usdPerHostPerDay", "usdPerHostPerDay", [3]bool{true}},
		"hostTokensPerMonth": {limit("Host", window.Month, ledger.Bound{Tokens: 10}), "hostTokensPerMonth", "hostTokensPerMonth", [3]bool{true, true}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				l := open(t, dir, tt.limits)
				if got := use(t, l, call("r1"), 9) + use(t, l, call("r1"), 5); got != "" {
					t.Errorf("below the limit, %s refuses", got)
				}
				if got := use(t, l, call("r1"), 1); got != name {
					t.Errorf("%q refuses, want %s", got, name)
				}
				if got := use(t, l, ledger.Call{Chat: "web-chat-2", Person: "web-2", Run: "r2", Work: "run", Model: "m"}, 1); got != tt.other {
					t.Errorf("another person in another chat is refused by %q", got)
				}
				if got := use(t, l, ledger.Call{Chat: "web-chat-1", Person: "web-2", Run: "r2", Work: "run", Model: "m"}, 1); got != tt.friend {
					t.Errorf("another person in the chat is refused by %q", got)
				}
				for i, hours := range []int{1, 23, 30 * 24} {
					if err := l.Close(); err != nil { // every other process finds what was
						t.Error(err)
					}
					<-time.After(time.Duration(hours) * time.Hour)
					l = open(t, dir, tt.limits)
					if got := use(t, l, call("r1"), 1); (got == name) != tt.later[i] {
						t.Errorf("after %d hours, it is refused by %q", hours, got)
					}
				}
				set(t, l, limit("Run", 0, ledger.Bound{Tokens: 1000}))
				if got := use(t, l, call("r1"), 1); got != "" {
					t.Errorf("with raised limits, %s refuses", got)
				}
				if err := l.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// In a running process, windows end without a file being read, and a window that gets a limit late knows what was
// used before, and what is reserved.
func TestWindowsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hour, month := limit("Chat", window.Hour, ledger.Bound{Tokens: 10}), limit("Chat", window.Month, ledger.Bound{Tokens: 50})
		dir := t.TempDir()
		l := open(t, dir, hour)
		defer func() { _ = l.Close() }()
		for n := range 4 {
			if got := use(t, l, call(fmt.Sprint(n)), 10) + use(t, l, call(fmt.Sprint(n)), 10); got != "chatTokensPerHour" {
				t.Errorf("in hour %d %q refuses", n, got)
			}
			<-time.After(time.Hour)
		}
		r, err := l.Reserve(t.Context(), call("r"), func() ledger.Amount { return amount(10) })
		stdtest.Must(t, err)
		set(t, l, month)
		set(t, l, hour)
		set(t, l, month)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.ErrUnsupported)
		defer cancel()
		if _, err := l.Reserve(ctx, call("r"), func() ledger.Amount { return amount(1) }); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("with 40 used and 10 reserved of 50: %v", err)
		}
		r.Settle(amount(5))
		if got := use(t, l, call("r"), 5); got != "" {
			t.Errorf("with 45 used of 50, %q refuses", got)
		}
		if got := use(t, l, call("r"), 1); got != "chatTokensPerMonth" {
			t.Errorf("with 50 used of 50, %q refuses", got)
		}
		<-time.After(31 * 24 * time.Hour)
		if got := use(t, l, call("r"), 1); got != "" {
			t.Errorf("in the next month, %q refuses", got)
		}
	})
}

// A cheaper model may use more than a limit, and no more than that. Its chat is told once in the window.
func TestCheaper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := limit("Chat", window.Hour, ledger.Bound{Tokens: 10})
		limits.CheaperPercent = 50
		l := open(t, t.TempDir(), limits)
		defer func() { _ = l.Close() }()
		dear, cheap := call("r"), call("r")
		cheap.Cheaper = true
		if got := use(t, l, dear, 10) + use(t, l, dear, 1); got != "chatTokensPerHour" {
			t.Errorf("%q refuses", got)
		}
		if got := use(t, l, cheap, 5); got != "" {
			t.Errorf("%q refuses the cheaper model", got)
		}
		if got := use(t, l, cheap, 1); got != "chatTokensPerHour" {
			t.Errorf("%q refuses the cheaper model at its limit", got)
		}
		for range 2 {
			if !l.Tell(cheap, "chatTokensPerHour") || l.Tell(dear, "chatTokensPerHour") || !l.Tell(ledger.Call{Chat: "web-chat-2"}, "chatTokensPerHour") {
				t.Error("not told once")
			}
			<-time.After(time.Hour)
			use(t, l, dear, 1)
		}
		set(t, l, limit("Run", 0, ledger.Bound{Tokens: 1000}))
		if !l.Tell(cheap, "runTokens") || l.Tell(dear, "runTokens") || !l.Tell(call("other"), "runTokens") {
			t.Error("not told once in a run")
		}
	})
}

// A call that only the reservations of others keep out waits for what these really use. Work without a run has no limit
// of runs.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, t.TempDir(), ledger.Limits{Run: ledger.Bound{Tokens: 1}, Host: limit("Host", window.Day, ledger.Bound{Tokens: 100}).Host})
		defer func() { _ = l.Close() }()
		work := ledger.Call{Chat: "web-chat-1", Work: "memory", Model: "m"}
		most := func() ledger.Amount { return amount(100) }
		first, err := l.Reserve(t.Context(), work, most)
		stdtest.Must(t, err)
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
		time.AfterFunc(time.Minute, func() { set(t, l, ledger.Limits{}) })
		if _, err := l.Reserve(t.Context(), work, most); err != nil {
			t.Error(err)
		}
		second.Settle(ledger.Amount{})
		if got, err := l.Used("web-chat-1", "web-1"); err != nil || got[window.Day] != (ledger.Used{Chat: ledger.Share{Amount: amount(3)}, Host: ledger.Share{Amount: amount(3)}}) {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// A clock that goes back finds the day as it was, and so does one that comes back.
func TestClockGoesBack(t *testing.T) {
	dir := t.TempDir()
	limits := limit("Chat", window.Day, ledger.Bound{Tokens: 10})
	played := func(at time.Duration, want string) {
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
	played(time.Hour, "chatTokensPerDay")
	played(25*time.Hour, "chatTokensPerDay")
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
			stdtest.Must(t, err)
			r.Settle(amount(6))
		}
		refused, err := l.Reserve(t.Context(), call("r"), nil)
		stdtest.Must(t, err)
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
		stdtest.Must(t, err)
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		late.Settle(amount(6)) // a call that ends after the stop
		if got := written(); strings.Count(got, `"is":"spent"`) != 4 {
			t.Errorf("after the stop: %s", got)
		}
		l = open(t, dir, limit("Run", 0, ledger.Bound{Tokens: 24}))
		if got := use(t, l, call("r"), 1); got != "runTokens" {
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
{"ts":2,"id":"b","is":"reserved","chat":"web-chat-1","person":"web-1","run":"r","work":"run","model":"m","in":100,"cached":0,"out":50,"nanoUSD":9}
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
		stdtest.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	got, err := ledger.Usage(dir, "2026-01-01")
	stdtest.Must(t, err)
	want := []ledger.Row{
		{Day: "2026-01-01", Chat: "web-chat-2", Model: "m", Work: "run", Calls: 1, Amount: ledger.Amount{Input: 1, Output: 1, NanoUSD: 1}},
		{Day: "2026-01-02", Chat: "web-chat-1", Person: "web-1", Model: "m", Work: "run", Calls: 1, Amount: ledger.Amount{Input: 100, Output: 50, NanoUSD: 9}},
		{Day: "2026-01-02", Chat: "web-chat-2", Model: "m", Work: "memory", Calls: 1, Amount: ledger.Amount{Input: 1, Output: 1, NanoUSD: 1}},
		{Day: "2026-01-02", Chat: "web-chat-2", Model: "m", Work: "run", Calls: 1, Amount: ledger.Amount{Input: 10, Cached: 4, Output: 5, NanoUSD: 3}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if rows, err := ledger.Usage(filepath.Join(dir, "none"), ""); err != nil || len(rows) > 0 {
		t.Errorf("without a folder: %v, %v", rows, err)
	}
}

// Nothing is read before there is a limit, or a question. A limit of runs that is set late counts what its run has used
// since yesterday, here and in an earlier process.
func TestReadsLate(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		earlier := open(t, dir, ledger.Limits{})
		use(t, earlier, call("r1"), 20)
		stdtest.Must(t, earlier.Close())
		<-time.After(25 * time.Hour)
		today := filepath.Join(dir, time.Now().UTC().Format(time.DateOnly)+".jsonl")
		stdtest.Must(t, os.Mkdir(today, 0o700)) // it cannot be read
		l := open(t, dir, ledger.Limits{})
		defer func() { _ = l.Close() }()
		stdtest.Must(t, os.Remove(today))
		r, err := l.Reserve(t.Context(), call("r1"), func() ledger.Amount { return amount(10) })
		stdtest.Must(t, err)
		use(t, l, call("r1"), 30)
		set(t, l, limit("Run", 0, ledger.Bound{Tokens: 65}))
		r.Settle(amount(10))
		if got := use(t, l, call("r1"), 5) + use(t, l, call("r2"), 60); got != "" {
			t.Errorf("below the limit %s refuses", got)
		}
		if got := use(t, l, call("r1"), 1); got != "runTokens" {
			t.Errorf("%q refuses what is above it", got)
		}
		set(t, l, ledger.Limits{})
		use(t, l, call("r1"), 10)
		set(t, l, limit("Run", 0, ledger.Bound{Tokens: 75}))
		if got := use(t, l, call("r1"), 1); got != "runTokens" {
			t.Errorf("after a time without a limit, %q refuses what is above it", got)
		}
	})
}

// What cannot be recorded is not sent while there is a limit, and is sent while there is none.
// What a call used that began before there was a limit counts in an hour that gets its first limit after the end of the call.
func TestHourIsLimitedLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, t.TempDir(), ledger.Limits{})
		r, err := l.Reserve(t.Context(), call("a"), func() ledger.Amount { return ledger.Amount{} })
		stdtest.Must(t, err)
		set(t, l, limit("Host", window.Day, ledger.Bound{Tokens: 1000}))
		r.Settle(amount(100))
		set(t, l, limit("Host", window.Hour, ledger.Bound{Tokens: 100}))
		if got := use(t, l, call("b"), 1); got != "hostTokensPerHour" {
			t.Errorf("refused by %q", got)
		}
	})
}

func TestUnwritable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "usage")
	failures := 0
	l := ledger.Open(dir, time.UTC, func(error) { failures++ })
	stdtest.Must(t, os.WriteFile(dir, nil, 0o600)) // a file in place of the folder
	if use(t, l, call("r"), 1); failures != 1 {
		t.Errorf("%d failures were reported, want 1", failures)
	}
	if err := l.SetLimits(limit("Run", 0, ledger.Bound{Tokens: 5})); err == nil {
		t.Error("limits are kept, though nobody knows what was used")
	}
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
		stdtest.Must(t, os.WriteFile(filepath.Join(dir, "2026-01-02.jsonl"), text, 0o600))
		rows, err := ledger.Usage(dir, "")
		stdtest.Must(t, err)
		for _, r := range rows {
			if r.Calls < 1 {
				t.Errorf("a row without calls: %+v", r)
			}
		}
	})
}
