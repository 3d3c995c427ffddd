package query

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
)

// listed is a state folder and its list of chats.
type listed struct {
	t     *testing.T
	state string
	desk  *Desk
}

func newListed(t *testing.T) *listed {
	t.Helper()
	l := &listed{t: t, state: t.TempDir()}
	store := filestoretest.In(t, l.state)
	l.desk = New(l.state, store, nil, nil, slog.New(slog.DiscardHandler), nil, nil)
	return l
}

// turn is a line of a history. Times are minutes of one hour.
func turn(minute int, more string) string {
	return fmt.Sprintf(`{"id":"m%d","role":"user","parts":[{"type":"text","text":"\"metadata\":{\"ts\":9"}],"metadata":{"ts":%d,"chatKey":"x"%s,"seq":1}}`+"\n", minute, at(minute).UnixMilli(), more)
}

func at(minute int) time.Time { return time.Date(2026, 1, 2, 3, minute, 0, 0, time.UTC) }

// file writes a file of a chat as of a time.
func (l *listed) file(key, name string, minute int, text string) {
	l.t.Helper()
	path := filepath.Join(l.state, "chat", key, "messages", name)
	stdtest.Write(l.t, path, text)
	stdtest.Must(l.t, os.Chtimes(path, at(minute), at(minute)))
}

func (l *listed) want(what string, want ...string) {
	l.t.Helper()
	lines, err := l.desk.Chats(l.t.Context(), Asked{})
	stdtest.Must(l.t, err)
	var got []string
	for _, line := range lines {
		got = append(got, fmt.Sprintf("%s %d", line.ChatKey, line.UpdatedAt.UTC().Minute()))
	}
	stdtest.Diff(l.t, what, want, got)
}

// A checkpoint or a compaction changes the files of a chat, but not its place in the list.
func TestChatsStandByTheirLastTurns(t *testing.T) {
	const a, b = "web-chat-a", "web-chat-b"
	l := newListed(t)
	finish := `{"n":5,"ts":1,"kind":"finish","runId":"r","message":` + turn(20, "")[:len(turn(20, ""))-1] + `,"result":"done"}` + "\n"
	l.file(a, "history.jsonl", 10, turn(10, ""))
	l.file(a, "journal.jsonl", 20, finish+`{"n":6,"ts":2,"kind":"settled","key":{"messageId":"m20","n":1},"outcome":"delivered"}`+"\n    ")
	l.file(b, "history.jsonl", 30, turn(30, ""))
	l.want("after both turns", b+" 30", a+" 20")
	l.file(a, "history.jsonl", 40, turn(10, "")+turn(20, ""))
	l.file(a, "journal.jsonl", 40, "")
	l.want("after the checkpoint of the older one", b+" 30", a+" 20")
	l.file(a, "history.jsonl", 50, turn(49, `,"kind":"summary"`)+turn(20, ""))
	l.want("after a compaction", b+" 30", a+" 20")
	l.desk.latest = &latest{}
	l.want("after a restart", b+" 30", a+" 20")
	l.file(a, "history.jsonl", 55, turn(10, ""))
	l.want("after going back", b+" 30", a+" 10")
}

// Without a turn that says its time, it is when something was written. A chat without files has none.
func TestChatsWithoutTimes(t *testing.T) {
	l := newListed(t)
	l.file("web-chat-adopted", "history.jsonl", 7, `{"id":"m","role":"user","parts":[]}`+"\n")
	l.file("web-chat-forged", "history.jsonl", 8, turn(10, "")+turn(59, "")+`{"metadata":{"ts":99999999999999999,"x":1}}`+"\n")
	stdtest.Write(t, filepath.Join(l.state, "chat", "web-chat-ids", "messages", "meta.json"), "{}")
	lines, err := l.desk.Chats(t.Context(), Asked{})
	if err != nil || len(lines) != 3 {
		t.Fatalf("%+v, %v", lines, err)
	}
	for i, want := range []ChatLine{{ChatKey: "web-chat-forged", UpdatedAt: at(59)}, {ChatKey: "web-chat-adopted", UpdatedAt: at(7)}, {ChatKey: "web-chat-ids"}} {
		if got := lines[i]; got.ChatKey != want.ChatKey || !got.UpdatedAt.Equal(want.UpdatedAt) {
			t.Errorf("got %s at %s, want %s at %s", got.ChatKey, got.UpdatedAt, want.ChatKey, want.UpdatedAt)
		}
	}
}

// A change right after a reading may leave size and time of a file as they were, as in a journal with padding.
func TestChatsThatChangeWhileTheyAreRead(t *testing.T) {
	l := newListed(t)
	l.file("web-chat-a", "history.jsonl", 10, turn(10, ""))
	path := filepath.Join(l.state, "chat", "web-chat-a", "messages", "history.jsonl")
	now := time.Now()
	for _, minute := range []int{20, 30} {
		stdtest.Write(t, path, turn(minute, ""))
		stdtest.Must(t, os.Chtimes(path, now, now))
		l.want("with a file of now", fmt.Sprint("web-chat-a ", minute))
	}
}

// The files of chats that did not change are not opened for a list.
func TestChatsAtRestAreNotReadAgain(t *testing.T) {
	l := newListed(t)
	for n := range 3 {
		l.file(fmt.Sprint("web-chat-", n), "history.jsonl", 10+n, turn(10+n, ""))
	}
	l.want("at first", "web-chat-2 12", "web-chat-1 11", "web-chat-0 10")
	l.file("web-chat-0", "history.jsonl", 10, turn(40, "")) // looks the same
	l.want("with a file that looks the same", "web-chat-2 12", "web-chat-1 11", "web-chat-0 10")
	l.file("web-chat-0", "history.jsonl", 45, turn(40, ""))
	l.want("with a file that has changed", "web-chat-0 40", "web-chat-2 12", "web-chat-1 11")
	if got := len(*l.desk.latest.known.Load()); got != 3 {
		t.Errorf("%d chats are known", got)
	}
	stdtest.Must(t, os.RemoveAll(filepath.Join(l.state, "chat", "web-chat-1")))
	l.want("without one", "web-chat-0 40", "web-chat-2 12")
	if got := len(*l.desk.latest.known.Load()); got != 2 {
		t.Errorf("%d chats are known after one has gone", got)
	}
}
