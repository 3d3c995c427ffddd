package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/access"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
)

// asked is a project without a host, and what its host would answer.
type asked struct {
	t          *testing.T
	dir, state string
	app        *app
}

func newAsked(t *testing.T) *asked {
	t.Helper()
	dir := t.TempDir()
	q := &asked{t: t, dir: dir, state: filepath.Join(dir, ".ship"), app: &app{Console: &console.Console{
		Dir: "elsewhere", Stderr: &bytes.Buffer{}, Env: func(string) (string, bool) { return "", false },
	}}}
	chat, err := filestore.ChatDir(q.state, "telegram-chat-1")
	stdtest.Must(t, err)
	for path, text := range map[string]string{
		filepath.Join(dir, "Agent.md"):                                    "# Ada\n",
		filepath.Join(q.state, "memory", "project.md"):                    "likes tea\n",
		filepath.Join(q.state, "tasks", "standup.md"):                     "---\ntitle: Stand-up\ncron: \"0 9 * * 1-5\"\nchatKey: telegram-chat-1\n---\nWhat is next?\n",
		filepath.Join(q.state, "tasks", "broken.md"):                      "nothing",
		filepath.Join(q.state, "skills", "pdf", "SKILL.md"):               "---\nname: pdf\ndescription: Reads PDF files.\n---\nRead them.\n",
		filepath.Join(q.state, "logs", "2026-01-02.jsonl"):                `{"ts":"2026-01-02T03:04:05Z","event":"run","chatKey":"telegram-chat-1"}` + "\n" + `{"ts":"2026-01-02T03:04:06Z","event":"run"}` + "\n",
		filepath.Join(chat, "messages", "archive", "first.json"):          `{"v":1,"chatKey":"telegram-chat-1","archivedAt":1000,"lines":["{\"id\":\"u1\",\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"text\":\"hi\"}]}"]}`,
		filepath.Join(filepath.Dir(chat), "secret.json"):                  `{"v":1,"lines":[]}`,
		filepath.Join(chat, "messages", "archive", "not-an-archive.json"): "{",
	} {
		stdtest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		stdtest.Must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return q
}

func (q *asked) answer(what, of string) (value any, failure string) {
	q.t.Helper()
	answer, ok := q.app.questions(q.dir, q.state)[what](q.t.Context(), of).(hostAnswer)
	if !ok {
		q.t.Fatalf("%s is no answer", what)
	}
	if answer.Failure != nil {
		return nil, answer.Failure.What
	}
	return decoded(q.t, string(answer.Value)), ""
}

func (q *asked) command(args ...string) any {
	q.t.Helper()
	var out, problems bytes.Buffer
	code := Run(q.t.Context(), Options{Args: append(args, "--json", "-C", q.dir), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &problems, Env: q.app.Env})
	if code != console.CodeOK {
		q.t.Fatalf("%q ends with %d: %s", args, code, problems.String())
	}
	if args[0] == "logs" {
		return decoded(q.t, "["+strings.Join(strings.Fields(out.String()), ",")+"]")
	}
	return decoded(q.t, out.String())
}

func decoded(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func member(doc any, name string) any {
	object, _ := doc.(map[string]any)
	return object[name]
}

// The console gets the documents that commands print.
func TestQuestionsAreAnsweredLikeCommands(t *testing.T) {
	q := newAsked(t)
	for _, tt := range []struct {
		what, of string
		want     any
	}{
		{"tasks", "", q.command("tasks", "list")},
		{"memories", "", member(q.command("memory", "list"), "memories")},
		{"memory", "project", q.command("memory", "show", "project")},
		{"skills", "", q.command("skills", "list")},
		{"skills", "pdf", q.command("skills", "show", "pdf")},
		{"log", "", q.command("logs")},
		{"log", "1", q.command("logs", "-n", "1")},
	} {
		t.Run(tt.what+tt.of, func(t *testing.T) {
			got, failure := q.answer(tt.what, tt.of)
			if diff := cmp.Diff(tt.want, got); diff != "" || got == nil {
				t.Errorf("%s (-command +answer):\n%s", failure, diff)
			}
		})
	}
	got, _ := q.answer("usage", "2026-01-01")
	if diff := cmp.Diff(member(q.command("usage", "--since", "2026-01-01"), "usage"), member(got, "usage")); diff != "" || member(got, "limits") == nil || member(got, "today") == nil {
		t.Errorf("usage (-command +answer):\n%s", diff)
	}
}

// What was used lately begins on a day of the project, as in the ledger. One of these zones always has another date than
// the machine.
func TestUsageOfTheDaysOfTheProject(t *testing.T) {
	for _, name := range []string{"Pacific/Kiritimati", "Etc/GMT+12"} {
		zone, err := time.LoadLocation(name)
		stdtest.Must(t, err)
		q := newAsked(t)
		first := time.Now().In(zone).AddDate(0, 0, -6)
		for path, text := range map[string]string{
			filepath.Join(q.dir, "ship.json"):                                                       `{"timezone": "` + name + `"}`,
			filepath.Join(q.state, "usage", first.Format(time.DateOnly)+".jsonl"):                   `{"id":"1","is":"spent","model":"first"}`,
			filepath.Join(q.state, "usage", first.AddDate(0, 0, -1).Format(time.DateOnly)+".jsonl"): `{"id":"2","is":"spent","model":"before"}`,
		} {
			stdtest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
			stdtest.Must(t, os.WriteFile(path, []byte(text), 0o600))
		}
		got, failure := q.answer("usage", "")
		for what, lines := range map[string]any{"console": member(got, "usage"), "command": member(q.command("usage"), "usage")} {
			if text := fmt.Sprint(lines); !strings.Contains(text, "first") || strings.Contains(text, "before") {
				t.Errorf("%s in %s: %s %s", what, name, text, failure)
			}
		}
	}
}

func TestQuestionsThatAreRefused(t *testing.T) {
	q := newAsked(t)
	for _, tt := range []struct{ what, of string }{
		{"usage", "yesterday"},
		{"memory", "user:../../x"},
		{"memory", ""},
		{"skills", "none"},
		{"log", "0"},
		{"log", "1001"},
		{"log", "x"},
		{"archives", ""},
		{"archives", "telegram-chat-1\n"},
		{"archives", "telegram-chat-1\n../../secret"},
		{"archives", "telegram-chat-1\nnot-an-archive"},
		{"archives", "telegram-chat-1\nnone"},
	} {
		if got, failure := q.answer(tt.what, tt.of); failure == "" {
			t.Errorf("%s of %q is answered: %v", tt.what, tt.of, got)
		}
	}
}

func TestArchivesAreShown(t *testing.T) {
	q := newAsked(t)
	list, failure := q.answer("archives", "telegram-chat-1")
	if ids, _ := list.([]any); len(ids) != 2 || member(ids[0], "id") != "first" {
		t.Errorf("the archives are %v (%s)", list, failure)
	}
	want := decoded(t, `{"id":"first","archivedAt":"1970-01-01T00:00:01Z","messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":"hi"}]}]}`)
	got, failure := q.answer("archives", "telegram-chat-1\nfirst")
	stdtest.Diff(t, failure, want, got)
	if none, failure := q.answer("archives", "web-chat-none"); failure != "" || !cmp.Equal(none, []any{}) {
		t.Errorf("a chat without archives: %v, %s", none, failure)
	}
}

// order gives an order as the console does.
func (q *asked) order(name, order string) (any, error) {
	q.t.Helper()
	return q.app.orders(q.dir, q.state)[name](q.t.Context(), []byte(order))
}

// A memory is written only over the text that the person saw, and the old text is kept.
func TestMemoryOrders(t *testing.T) {
	q := newAsked(t)
	for _, tt := range []struct{ order, failure, now string }{
		{`{"memory":"project","was":"something else","text":"x"}`, "changed meanwhile", "likes tea\n"},
		{`{"memory":"project","was":"likes tea\n","text":"likes coffee\n"}`, "", "likes coffee\n"},
		{`{"memory":"project","was":"likes coffee\n","text":"` + strings.Repeat("x", 1<<20+1) + `"}`, "cannot be written", "likes coffee\n"},
		{`{"memory":"user:../../Agent","was":"","text":"x"}`, "not a memory", "likes coffee\n"},
		{`[]`, "cannot be read", "likes coffee\n"},
		{`{"memory":"project","was":"likes coffee\n","text":""}`, "", ""},
	} {
		_, err := q.order("memory", tt.order)
		if (err == nil) != (tt.failure == "") || err != nil && !strings.Contains(err.Error(), tt.failure) {
			t.Errorf("%.80s: %v, want %q", tt.order, err, tt.failure)
		}
		if got, _ := q.answer("memory", "project"); member(got, "text") != tt.now {
			t.Errorf("%.80s: it is %q now, want %q", tt.order, member(got, "text"), tt.now)
		}
	}
	if old, err := filepath.Glob(filepath.Join(q.state, "memory", "backup", "*")); err != nil || len(old) < 2 {
		t.Errorf("the backups are %v (%v)", old, err)
	}
}

// People are let in with the code that they got from the bot, which the console does not show, and are removed by id.
func TestPeopleOrders(t *testing.T) {
	q := newAsked(t)
	people, err := access.Open(filepath.Join(q.state, "access.json"), access.Options{})
	stdtest.Must(t, err)
	code, _, err := people.Request(t.Context(), "telegram", platform.AccessRequest{Who: platform.Person{ID: "42", Name: "Bob"}})
	stdtest.Must(t, err)
	list, failure := q.answer("people", "")
	text, err := json.Marshal(list)
	if err != nil || strings.Contains(string(text), code) || !strings.Contains(string(text), "Bob") {
		t.Errorf("the people are %s (%v, %s)", text, err, failure)
	}
	for _, tt := range []struct{ order, failure string }{
		{`{"bot":"telegram","do":"approve","code":"WRONG"}`, "not valid"},
		{`{"bot":"nobody","do":"approve","code":"` + code + `"}`, "no bot"},
		{`{"bot":"telegram","do":"remove"}`, "an order is"},
		{`{"bot":"telegram","do":"other","id":"42"}`, "an order is"},
		{`{`, "cannot be read"},
		{`{"bot":"telegram","do":"approve","code":"` + code + `"}`, ""},
		{`{"bot":"telegram","do":"approve","code":"` + code + `"}`, "not valid"},
		{`{"bot":"telegram","do":"remove","id":"42"}`, ""},
		{`{"bot":"telegram","do":"remove","id":"42"}`, "had no access"},
	} {
		_, err := q.order("people", tt.order)
		if (err == nil) != (tt.failure == "") || err != nil && !strings.Contains(err.Error(), tt.failure) {
			t.Errorf("%s: %v, want %q", tt.order, err, tt.failure)
		}
	}
}
