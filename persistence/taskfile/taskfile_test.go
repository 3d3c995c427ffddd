package taskfile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/frontmatter"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

func berlin(tb testing.TB) *time.Location {
	tb.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	stdtest.Must(tb, err)
	return zone
}

func TestParseReportsLineAndHint(t *testing.T) {
	t.Parallel()
	const head = "---\ntitle: Report\n"
	for _, tt := range []struct {
		name, text string
		line       int
		what       string
	}{
		{"empty", "", 1, "there is no front matter"},
		{"no end", "---\ntitle: x\n", 1, "does not end"},
		{"no YAML", "---\ntitle: x\ncron: * * * * *\n---\ngo", 3, "no YAML"},
		{"a list", "---\n- a\n---\ngo", 2, "no members"},
		{"no title", "---\ncron: \"0 9 * * *\"\n---\ngo", 2, "title is missing"},
		{"no time", head + "---\ngo", 2, "time is missing"},
		{"both times", head + "cron: \"0 9 * * *\"\nwhen: 2026-01-01 09:00\n---\ngo", 4, "cron and when"},
		{"bad cron", head + "cron: \"0 25 * * *\"\n---\ngo", 3, "cron:"},
		{"bad when", head + "when: tomorrow\n---\ngo", 3, "when:"},
		{"bad zone", head + "cron: \"0 9 * * *\"\ntimezone: Mars/Base\n---\ngo", 4, "timezone:"},
		{"bad chat", head + "cron: \"0 9 * * *\"\nchatKey: Alice\n---\ngo", 4, "chatKey:"},
		{"a task's own chat", head + "cron: \"0 9 * * *\"\nchatKey: task-x-1\n---\ngo", 4, "chatKey:"},
		{"bad status", head + "cron: \"0 9 * * *\"\nstatus: on\n---\ngo", 4, "status:"},
		{"bad type of chat", head + "cron: \"0 9 * * *\"\nchatType: crowd\n---\ngo", 4, "chatType:"},
		{"bad policy", head + "cron: \"0 9 * * *\"\ncatchUp: all\n---\ngo", 4, "catchUp:"},
		{"a typo", head + "corn: \"0 9 * * *\"\n---\ngo", 3, "\"corn\" is not known"},
		{"twice", head + "title: y\n---\ngo", 3, "twice"},
		{"a list inside", head + "cron: [a]\n---\ngo", 3, "not text"},
		{"nothing to do", head + "cron: \"0 9 * * *\"\n---\n\n", 4, "nothing to do"},
		{"two things to do", head + "cron: \"0 9 * * *\"\nsay: hi\nchatKey: web-chat-a\n---\ngo", 4, "both there"},
		{"nobody to say it to", head + "cron: \"0 9 * * *\"\nsay: hi\n---\n", 4, "nobody"},
		{"turned letters", head + "cron: \"0 9 * * *\"\n---\ngo \u202e og", 5, "U+202E"},
		{"no UTF-8", head + "cron: \"0 9 * * *\"\n---\n\xff", 5, "UTF-8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := parse("report", []byte(tt.text), time.UTC)
			f, ok := errors.AsType[frontmatter.Fault](err)
			if !ok {
				t.Fatalf("got %v, want a fault", err)
			}
			if f.Line != tt.line || !strings.Contains(f.What, tt.what) || f.Hint == "" {
				t.Errorf("got line %d, %q, hint %q; want line %d, %q", f.Line, f.What, f.Hint, tt.line, tt.what)
			}
		})
	}
}

func TestParseTask(t *testing.T) {
	t.Parallel()
	got, err := parse("report", []byte("---\r\ntitle: Morning  report\r\nwhen: 2026-03-29 02:30\r\nchatKey: telegram-chat--100\r\ncatchUp: skip\r\n---\r\n\r\nSum up.\r\n"), berlin(t))
	stdtest.Must(t, err)
	want := timetable.Task{
		ID: "report", Title: "Morning report", When: time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC), ChatKey: "telegram-chat--100",
		Status: timetable.Active, CatchUp: timetable.CatchUpSkip, Body: "Sum up.",
	}
	stdtest.Diff(t, "", want, got)
}

func FuzzParse(f *testing.F) {
	f.Add("---\ntitle: Report\ncron: \"0 9 * * 1-5\"\nchatKey: web-chat-a\n---\nSum up.\n")
	f.Add("---\ntitle: x\nwhen: 2026-03-29 02:30\nsay: \"a: b\"\nchatKey: cli-chat-b\n---\n")
	f.Add("---\n&a [*a]\n---\n")
	f.Fuzz(func(t *testing.T, text string) {
		task, err := parse("id", []byte(text), time.UTC)
		if err != nil {
			if _, ok := errors.AsType[frontmatter.Fault](err); !ok {
				t.Fatalf("%v is no fault", err)
			}
			return
		}
		raw, err := format(task)
		stdtest.Must(t, err)
		again, err := parse("id", raw, time.UTC)
		if err != nil {
			t.Fatalf("%q: our own file: %v\n%s", text, err, raw)
		}
		if diff := cmp.Diff(task, again, cmp.Comparer(func(a, b time.Time) bool { return a.Truncate(time.Second).Equal(b.Truncate(time.Second)) })); diff != "" {
			t.Fatalf("%q (-read +read again):\n%s", text, diff)
		}
		const by = `api-"a": #b`
		if done, err := parse("id", withStatus(raw, timetable.Done, by), time.UTC); err != nil || done.Status != timetable.Done || done.StoppedBy != by {
			t.Fatalf("%q: the status cannot be set: %v", text, err)
		}
	})
}

func task(id string) timetable.Task {
	return timetable.Task{ID: id, Title: "Report", Cron: "0 9 * * *", ChatKey: "web-chat-a", Body: "Sum up."}
}

func TestStore(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := New(t.TempDir(), time.UTC)
	if tasks, problems, err := s.Tasks(ctx); len(tasks)+len(problems) > 0 || err != nil {
		t.Fatalf("got %v, %v, %v; want nothing", tasks, problems, err)
	}
	stdtest.Must(t, errors.Join(s.AddTask(ctx, task("b")), s.AddTask(ctx, task("a"))))
	if err := s.AddTask(ctx, task("a")); !errors.Is(err, persistence.ErrTaskExists) {
		t.Errorf("got %v, want %v", err, persistence.ErrTaskExists)
	}
	for _, id := range []string{"../x", "", "A", "a/b", strings.Repeat("a", 65)} {
		if err := s.AddTask(ctx, task(id)); err == nil {
			t.Errorf("the id %q was taken", id)
		}
		if err := s.RemoveTask(ctx, id); !errors.Is(err, persistence.ErrTask) {
			t.Errorf("removing %q: got %v, want %v", id, err, persistence.ErrTask)
		}
	}
	// The text that people wrote stays, except for the status.
	own := "---\n# mine\ntitle: Own\ncron: \"@daily\"\nstatus: active # for now\n---\nGo.\n"
	stdtest.Must(t, os.WriteFile(s.Path("own"), []byte(own), 0o600))
	stdtest.Must(t, s.SetTaskStatus(ctx, "own", timetable.Paused, ""))
	raw, err := os.ReadFile(s.Path("own"))
	if want := strings.Replace(own, "active # for now", "paused", 1); err != nil || string(raw) != want {
		t.Errorf("got %q, %v; want %q", raw, err, want)
	}
	if err := s.SetTaskStatus(ctx, "none", timetable.Done, ""); !errors.Is(err, persistence.ErrTask) {
		t.Errorf("got %v, want %v", err, persistence.ErrTask)
	}
	stdtest.Must(t, errors.Join(os.WriteFile(s.Path("bad"), []byte("hello"), 0o600), os.Symlink("/etc/passwd", s.Path("link"))))
	tasks, problems, err := s.Tasks(ctx)
	if err != nil || len(tasks) != 3 || tasks[0].ID != "a" || len(problems) != 2 {
		t.Fatalf("got %v, %v, %v; want three tasks, two problems", tasks, problems, err)
	}
	if got := problems[0].String(); !strings.HasPrefix(got, s.Path("bad")+":1: there is no front matter; ") {
		t.Errorf("got %q", got)
	}
	if err := errors.Join(s.RemoveTask(ctx, "bad"), s.RemoveTask(ctx, "a")); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(s.Path("b")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v; want mode 0600", info, err)
	}
}

// Tasks are numbered again if the file of numbers cannot be decoded.
func TestNumbersThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"null", "[]", `{"telegram-chat-7": 3}`, "{", ""} {
		s := New(t.TempDir(), time.UTC)
		stdtest.Must(t, s.AddTask(t.Context(), task("a")))
		stdtest.Must(t, os.WriteFile(s.numbers().Path, []byte(text), 0o600))
		got, err := s.TaskNumbers(t.Context(), "telegram-chat-7", []string{"a"})
		if err != nil || got["a"] != 1 {
			t.Errorf("%q: got %v, %v; want number 1", text, got, err)
		}
	}
}

func TestStoreChangesAreOrdered(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var wg sync.WaitGroup
	won := make([]error, 16)
	for i := range won {
		wg.Go(func() { won[i] = New(dir, time.UTC).AddTask(context.Background(), task("same")) })
	}
	wg.Wait()
	first := 0
	for _, err := range won {
		if err == nil {
			first++
		} else if !errors.Is(err, persistence.ErrTaskExists) {
			t.Error(err)
		}
	}
	if first != 1 {
		t.Errorf("%d of them added the task, want one", first)
	}
}

func fire(is timetable.FireKind, n int) timetable.Fire {
	at := time.Date(2026, 1, 1, 0, n, 0, 0, time.UTC)
	return timetable.Fire{V: version, Is: is, At: at, Task: "a", ID: timetable.FireID("a", at), Planned: at, Text: "said", Body: "do"}
}

// The log is cut at every byte: complete records are read, and the next record starts a line.
func TestCL9TheFireLogTornAtEveryByte(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := NewLog(dir)
	stdtest.Must(t, l.AddFires(t.Context(), fire(timetable.FireStarted, 1), fire(timetable.FireEnded, 1)))
	stdtest.Must(t, l.Close())
	whole := stdtest.Read(t, l.path)
	for cut := range len(whole) + 1 {
		stdtest.Must(t, os.WriteFile(l.path, whole[:cut], 0o600))
		next := NewLog(dir)
		stdtest.Must(t, next.AddFires(t.Context(), fire(timetable.FireSettled, 1)))
		fires, err := next.Fires(t.Context())
		stdtest.Must(t, errors.Join(err, next.Close()))
		want := 1 + strings.Count(string(whole[:cut]), "\n")
		if cut > 0 && json.Valid([]byte(lastLine(whole[:cut]))) {
			want++ // only its newline is missing
		}
		if len(fires) != want || fires[len(fires)-1].Is != timetable.FireSettled {
			t.Fatalf("cut at %d: %d records, want %d", cut, len(fires), want)
		}
	}
}

func lastLine(raw []byte) string {
	text := string(raw)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

func TestLogLeavesBehindWhatIsSettled(t *testing.T) {
	t.Parallel()
	l := NewLog(t.TempDir())
	var fires []timetable.Fire
	for n := range keepPerTask + 5000 {
		fires = append(fires, fire(timetable.FireStarted, n), fire(timetable.FireEnded, n))
		if n > 0 {
			fires = append(fires, fire(timetable.FireSettled, n))
		}
	}
	for i := range fires {
		fires[i].At = time.Now()
	}
	stdtest.Must(t, l.AddFires(t.Context(), fires...)) // enough for the next record to clean up the file
	stdtest.Must(t, l.AddFires(t.Context(), fire(timetable.FireSeen, 0)))
	got, err := l.Fires(t.Context())
	stdtest.Must(t, errors.Join(err, l.Close()))
	if want := 2 + 3*keepPerTask + 1; len(got) != want {
		t.Errorf("%d records are left, want %d", len(got), want)
	}
	if got[0].Body == "" || got[1].Text == "" || got[2].Body != "" {
		t.Error("an open fire keeps its texts, a settled one does not")
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(l.path), "fires.jsonl")); err != nil {
		t.Error(err)
	}
}

// What is older than a month is left behind, except what prevents that a time runs again, waits, or has a chat.
func TestLogLeavesBehindWhatIsOld(t *testing.T) {
	t.Parallel()
	now := time.Now()
	state := t.TempDir()
	stdtest.Must(t, os.MkdirAll(filepath.Join(state, "tasks"), 0o700))
	for _, id := range []string{"daily", "yearly", "late"} {
		stdtest.Must(t, os.WriteFile(filepath.Join(state, "tasks", id+ext), []byte("x"), 0o600))
	}
	var fires []timetable.Fire
	add := func(task string, daysAgo int, by string, more ...timetable.FireKind) string {
		at := now.AddDate(0, 0, -daysAgo)
		id := timetable.FireID(task, at)
		if by != "" {
			id = timetable.FireByHand(task, at)
		}
		for _, is := range append([]timetable.FireKind{timetable.FireStarted}, more...) {
			fires = append(fires, timetable.Fire{Is: is, At: at, Task: task, ID: id, Planned: at, By: by})
		}
		return id
	}
	const seen, ended, settled = timetable.FireSeen, timetable.FireEnded, timetable.FireSettled
	fires = append(fires, timetable.Fire{Is: seen, At: now.AddDate(-1, 0, 0), Task: "gone"}, timetable.Fire{Is: seen, At: now.AddDate(-1, 0, 0), Task: "yearly"})
	add("daily", 40, "", ended, settled)
	chat := add("daily", 39, "", ended, settled)
	waits := add("gone", 38, "", timetable.FireWaits)
	telling := add("gone", 37, "", ended)
	add("gone", 36, "", ended, settled)
	yearly := add("yearly", 35, "", ended, settled)
	add("daily", 34, "", ended, settled)
	first := add("late", 33, "", ended, settled)
	add("late", 32, "me", ended, settled)
	byHand := add("late", 31, "me", ended, settled)
	young, recently := add("daily", 29, "", ended, settled), add("gone", 28, "", ended, settled)
	stdtest.Must(t, os.MkdirAll(filepath.Join(state, "chat", string(timetable.FireChat(strings.NewReplacer("T", "+t", "Z", "+z").Replace(chat)))), 0o700))
	l := NewLog(state)
	var got []string
	for _, f := range l.needed(fires, now) {
		switch f.Is {
		case seen:
			got = append(got, "seen "+f.Task)
		case timetable.FireStarted:
			got = append(got, f.ID)
		case timetable.FireSkipped, timetable.FireWaits, ended, settled:
			if !slices.Contains(got, f.ID) {
				t.Errorf("%s of %s is kept without its start", f.Is, f.ID)
			}
		}
	}
	stdtest.Diff(t, "", []string{"seen yearly", chat, waits, telling, yearly, first, byHand, young, recently}, got)
}

// A log that is open for days is cleaned up, too.
func TestLogIsCleanedUpEveryDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLog(t.TempDir())
		for n := range 1000 {
			at := time.Now()
			id := timetable.FireID("minutes", at)
			stdtest.Must(t, l.AddFires(t.Context(),
				timetable.Fire{Is: timetable.FireStarted, At: at, Task: "a", ID: id, Planned: at}, timetable.Fire{Is: timetable.FireSettled, At: at, Task: "a", ID: id}))
			if n%10 == 0 {
				fires, err := l.Fires(t.Context())
				if err != nil || len(fires) > 2*2*2*32 { // two records of each, twice a day, for twice a month
					t.Fatalf("day %d: %d records, %v", n/2, len(fires), err)
				}
			}
			<-time.After(12 * time.Hour)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A fire is found by its id, wherever it is in the log.
func TestFireByItsID(t *testing.T) {
	t.Parallel()
	l := NewLog(t.TempDir())
	find := func(id string) (timetable.Fire, bool) {
		t.Helper()
		f, found, err := l.Fire(id)
		stdtest.Must(t, err)
		return f, found
	}
	if _, found := find("a"); found {
		t.Error("a fire was found without a log")
	}
	var fires []timetable.Fire
	const many = 3000
	for n := range many {
		started, ended := fire(timetable.FireStarted, n), fire(timetable.FireEnded, n)
		started.ChatKey = messages.ChatKey(fmt.Sprint("telegram-chat-", n))
		if n == many/2 {
			started.Body = strings.Repeat("long ", 10_000)
		}
		fires = append(fires, started, ended)
	}
	stdtest.Must(t, errors.Join(l.AddFires(t.Context(), fires...), l.Close()))
	for _, n := range []int{0, 1, many/2 - 1, many / 2, many/2 + 1, many - 1} {
		f, found := find(fires[2*n].ID)
		if want := fires[2*n].ChatKey; !found || f.ChatKey != want || f.Is != timetable.FireStarted {
			t.Errorf("%d: %v %v %v, want %v", n, found, f.Is, f.ChatKey, want)
		}
	}
	for _, id := range []string{"", "a", fires[0].ID[:10], fires[0].ID + "x", "a" + fires[0].ID} {
		if f, found := find(id); found {
			t.Errorf("%q found %s", id, f.ID)
		}
	}
}

func TestLogOfANewerVersionIsRefused(t *testing.T) {
	t.Parallel()
	l := NewLog(t.TempDir())
	stdtest.Must(t, errors.Join(os.MkdirAll(filepath.Dir(l.path), 0o700), os.WriteFile(l.path, fmt.Appendf(nil, `{"v":%d,"is":"seen","task":"a"}`, version+1), 0o600)))
	if _, err := l.Fires(t.Context()); err == nil {
		t.Error("it was read")
	}
	if err := l.AddFires(t.Context(), fire(timetable.FireSeen, 0)); err == nil {
		t.Error("it was written")
	}
}

// A reminder is settled without a chat of its own, so there is none to delete.
func TestChatsOfTasksExist(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	l := NewLog(state)
	var fires []timetable.Fire
	for n, is := range []timetable.FireKind{timetable.FireSettled, timetable.FireSettled, timetable.FireEnded} {
		f := fire(timetable.FireStarted, n)
		f.ChatKey = "telegram-chat-1"
		fires = append(fires, f, fire(is, n))
	}
	stdtest.Must(t, errors.Join(l.AddFires(t.Context(), fires...), l.Close(), os.MkdirAll(filepath.Join(state, "chat", "task-a-20260101+t000100+z"), 0o700)))
	got, err := l.Chats(t.Context(), "telegram-chat-1")
	stdtest.Must(t, err)
	stdtest.Diff(t, "", []messages.ChatKey{timetable.FireChat(fires[2].ID), timetable.FireChat(fires[4].ID)}, got)
}
