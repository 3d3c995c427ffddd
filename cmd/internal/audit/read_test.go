package audit

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func logFile(t *testing.T, state, day string) string {
	t.Helper()
	stdtest.Must(t, os.MkdirAll(filepath.Join(state, "logs"), 0o700))
	return filepath.Join(state, "logs", day+".jsonl")
}

func put(t *testing.T, path, text string, flags int) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|flags, 0o600)
	stdtest.Must(t, err)
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	stdtest.Must(t, f.Close())
}

// named returns a function that checks the names of lines, which stand for the lines.
func named(t *testing.T) func(want string, lines []Line, err error) {
	t.Helper()
	return func(want string, lines []Line, err error) {
		t.Helper()
		stdtest.Must(t, err)
		var got []string
		for _, l := range lines {
			got = append(got, l.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("lines are %q, want %q", got, want)
		}
	}
}

func lines(names ...string) string {
	var out strings.Builder
	for _, n := range names {
		out.WriteString(`{"event":"tool","name":"` + n + `"}` + "\n")
	}
	return out.String()
}

func TestReaderReturnsTheLastLines(t *testing.T) {
	state := t.TempDir()
	put(t, logFile(t, state, "2026-01-01"), lines("a", "b"), 0)
	put(t, logFile(t, state, "2026-01-02"), lines("c")+"damaged\n[]\n"+lines("d", "skip", "e")+`{"name":"torn"`, 0)
	put(t, filepath.Join(state, "logs", "mcp-x.log"), lines("other"), 0)
	keep := func(l Line) bool { return l.Name != "skip" }
	for n, want := range []string{"", "e", "d e", "c d e", "b c d e", "a b c d e", "a b c d e"} {
		got, err := NewReader(state, keep).Last(n)
		named(t)(want, got, err)
	}
	got, err := NewReader(t.TempDir(), keep).Last(9)
	named(t)("", got, err)
}

// A reader that follows misses nothing over midnight, and returns a line once it is whole.
func TestReaderFollows(t *testing.T) {
	state, check := t.TempDir(), named(t)
	r := NewReader(state, func(Line) bool { return true })
	next := func(want string) {
		t.Helper()
		got, err := r.Next()
		check(want, got, err)
	}
	got, err := r.Last(5)
	check("", got, err)
	next("")
	first, second := logFile(t, state, "2026-01-01"), logFile(t, state, "2026-01-02")
	put(t, first, lines("a")+`{"name":"b`, os.O_APPEND)
	next("a")
	next("")
	put(t, first, `"}`+"\n"+lines("c"), os.O_APPEND)
	put(t, second, lines("d"), os.O_APPEND)
	next("b c d")
	put(t, logFile(t, state, "2026-01-04"), lines("f"), os.O_APPEND)
	put(t, second, lines("e"), os.O_APPEND)
	next("e f")

	fourth := logFile(t, state, "2026-01-04")
	put(t, fourth, "", os.O_TRUNC)
	next("")
	put(t, fourth, lines("g"), os.O_APPEND)
	next("g")
	put(t, fourth+".new", lines("h", "i"), 0)
	stdtest.Must(t, os.Rename(fourth+".new", fourth))
	next("h i")
	stdtest.Must(t, os.Remove(fourth))
	next("")
	put(t, fourth, lines("k"), 0)
	next("k")
}

// What the log writes is what a reader returns.
func FuzzReader(f *testing.F) {
	f.Add("run", "telegram-chat-1", "a \"b\"\n中\xff", 3)
	f.Fuzz(func(t *testing.T, event, request, reason string, step int) {
		state := t.TempDir()
		e := decision.AuditEntry{Event: event, RequestID: request, Reason: reason, Step: step}
		put(t, logFile(t, state, "2026-01-02"), string(appendAudit(nil, e.TS, &e))+"{", 0)
		got, err := NewReader(state, func(Line) bool { return true }).Last(2)
		if err != nil || len(got) != 1 || got[0].Step != step {
			t.Fatalf("got %+v, %v", got, err)
		}
		for _, pair := range [][2]string{{got[0].Event, event}, {got[0].RequestID, request}, {got[0].Reason, reason}} {
			if !slices.Equal([]rune(pair[0]), []rune(pair[1])) {
				t.Errorf("read %q, want %q", pair[0], pair[1])
			}
		}
	})
}
