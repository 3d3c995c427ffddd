package ledger_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/window"
	"github.com/shipmyagent/shipmyagent/persistence/ledger"
)

func asking(scope string, w window.Window, b ledger.Bound) ledger.Limits {
	l := limit(scope, w, b)
	l.Ask = true
	return l
}

// refused returns the question about the limit that refuses a call.
func refused(t *testing.T, l *ledger.Ledger, c ledger.Call) ledger.Exhausted {
	t.Helper()
	_, err := l.Reserve(t.Context(), c, func() ledger.Amount { return amount(1) })
	e, ok := errors.AsType[*ledger.Exhausted](err)
	if !ok {
		t.Fatalf("the call of %s is not refused: %v", c.Chat, err)
	}
	return *e
}

func allow(t *testing.T, l *ledger.Ledger, code string, want bool) {
	t.Helper()
	if _, ok, err := l.Allow(code); ok != want || err != nil {
		t.Fatalf("Allow(%q) = %t, %v, want %t", code, ok, err, want)
	}
}

func shut(t *testing.T, l *ledger.Ledger) {
	t.Helper()
	stdtest.Must(t, l.Close())
}

// The owner is asked once about each limit and whoever it is for. An answer allows as much again, once, in all processes,
// for those only, and until the window ends; after that neither the answer nor the question counts.
func TestAsk(t *testing.T) {
	for w, length := range map[window.Window]time.Duration{window.Hour: time.Hour, window.Day: 24 * time.Hour, window.Month: 31 * 24 * time.Hour} {
		for _, scope := range []string{"Person", "Chat", "Host"} {
			t.Run(fmt.Sprint(scope, w), func(t *testing.T) {
				dir := t.TempDir()
				synctest.Test(t, func(t *testing.T) {
					limits := asking(scope, w, ledger.Bound{Tokens: 10})
					l := open(t, dir, limits)
					mine, theirs := call("a"), ledger.Call{Chat: "web-chat-2", Person: "web-2", Run: "b", Work: "run", Model: "m"}
					use(t, l, mine, 10)
					first, again := refused(t, l, mine), refused(t, l, mine)
					if q := first.Question; !first.First || again.First || q != again.Question || q.Limit != first.Limit || q.Chat != mine.Chat || q.Person != mine.Person {
						t.Fatalf("asked %+v, then %+v", first, again)
					}
					allow(t, l, "aaaaaa", false)
					shut(t, l)

					l = open(t, dir, limits)
					if e := refused(t, l, mine); !e.First || e.Question.Code != first.Question.Code {
						t.Errorf("asked %+v by the next process, want the code %s", e, first.Question.Code)
					}
					<-time.After(length / 3) // a later day of the month
					allow(t, l, first.Question.Code, true)
					allow(t, l, first.Question.Code, false)
					shut(t, l)

					l = open(t, dir, limits)
					if got := use(t, l, mine, 10); got != "" {
						t.Errorf("refused by %s although more is allowed", got)
					}
					used, err := l.Used(mine.Chat, mine.Person)
					most := map[string]ledger.Bound{"Person": used[w].Person.Most, "Chat": used[w].Chat.Most, "Host": used[w].Host.Most}
					if most[scope] != (ledger.Bound{Tokens: 20}) || err != nil {
						t.Errorf("the most is %+v, want 20 for %s, %v", most, scope, err)
					}
					second := refused(t, l, mine).Question
					if second.Code == first.Question.Code {
						t.Error("a question that is answered is asked again")
					}
					if scope != "Host" {
						use(t, l, theirs, 10)
						if q := refused(t, l, theirs).Question; q.Code == second.Code {
							t.Error("one question is about two")
						}
					}
					<-time.After(length)
					allow(t, l, second.Code, false)
					if open, err := l.Questions(); len(open) > 0 || err != nil {
						t.Errorf("open after the window: %+v, %v", open, err)
					}
					use(t, l, mine, 10)
					refused(t, l, mine)
					shut(t, l)
				})
			})
		}
	}
}

// A limit of a run, and any limit without the setting, refuses without a question. An answer to a limit in tokens says
// nothing about one in dollars.
func TestAskOnlyAboutWindows(t *testing.T) {
	for name, limits := range map[string]ledger.Limits{
		"run":         asking("Run", 0, ledger.Bound{Tokens: 10}),
		"without ask": limit("Chat", window.Day, ledger.Bound{Tokens: 10}),
	} {
		t.Run(name, func(t *testing.T) {
			l := open(t, t.TempDir(), limits)
			use(t, l, call("a"), 10)
			if e := refused(t, l, call("a")); e.First || e.Question != (ledger.Question{}) {
				t.Errorf("asked %+v", e)
			}
			shut(t, l)
		})
	}
	l := open(t, t.TempDir(), asking("Chat", window.Day, ledger.Bound{Tokens: 10, NanoUSD: 100}))
	use(t, l, call("a"), 10)
	allow(t, l, refused(t, l, call("a")).Question.Code, true)
	if e := refused(t, l, call("a")); e.Limit != "usdPerChatPerDay" {
		t.Errorf("refused by %s", e.Limit)
	}
	shut(t, l)
}

// Very many chats at their limits do not fill memory and files with questions, and questions are no use of a model.
func TestAskIsBounded(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, asking("Chat", window.Day, ledger.Bound{Tokens: 1}))
	for i := range 200 {
		c := call("a")
		c.Chat = messages.ChatKey(fmt.Sprint("web-chat-", i))
		use(t, l, c, 1)
		if q := refused(t, l, c).Question; (q.Code != "") != (i < 100) {
			t.Fatalf("chat %d: %+v", i, q)
		}
	}
	open, err := l.Questions()
	if err != nil || len(open) != 100 {
		t.Errorf("%d questions, %v", len(open), err)
	}
	rows, err := ledger.Usage(dir, "")
	if err != nil || len(rows) != 200 {
		t.Errorf("%d rows of usage, %v", len(rows), err)
	}
	shut(t, l)
}

// What cannot be recorded is not allowed.
func TestAllowOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, asking("Chat", window.Day, ledger.Bound{Tokens: 1}))
	use(t, l, call("a"), 1)
	code := refused(t, l, call("a")).Question.Code
	shut(t, l)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	whole, err := os.ReadFile(files[0])
	stdtest.Must(t, err)
	l = open(t, dir, asking("Chat", window.Day, ledger.Bound{Tokens: 1}))
	refused(t, l, call("a"))
	stdtest.Must(t, os.Rename(dir, dir+".away"))
	stdtest.Must(t, os.WriteFile(dir, nil, 0o600)) // no file can be made in it
	if _, ok, err := l.Allow(code); ok || err == nil || !strings.Contains(err.Error(), "record the use") {
		t.Errorf("allowed: %t, %v", ok, err)
	}
	stdtest.Must(t, errors.Join(os.Remove(dir), os.Rename(dir+".away", dir)))
	refused(t, l, call("a"))
	if now, err := os.ReadFile(files[0]); err != nil || string(now) != string(whole) {
		t.Errorf("the file changed to %q, %v", now, err)
	}
	allow(t, l, code, true)
	shut(t, l)
}
