package chats

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// reader is a console whose terminal has a language.
func reader(language string) *console.Console {
	return &console.Console{Env: func(name string) (string, bool) { return language, name == "LANG" }}
}

// turn is a message as the chat's folder stores it.
func turn(t *testing.T, line string) uimessage.Message {
	t.Helper()
	m, err := uimessage.Decode([]byte(line))
	stdtest.Must(t, err)
	return m
}

// The ledger has a message only after its run has ended. Before that, the history and the lane
// show which messages are waiting.
func TestShowNamesOpenMessages(t *testing.T) {
	said := func(id, text string) uimessage.Message {
		return turn(t, `{"id":"`+id+`","role":"user","parts":[{"type":"text","text":"`+text+`"}],"metadata":{"ts":1700000000000,"userId":"7","username":"Ann"}}`)
	}
	doc := query.ChatDocument{
		ChatKey: "cli-chat-main", Running: true,
		Messages: []uimessage.Message{
			said("1", "old"),
			turn(t, `{"id":"2","role":"assistant","parts":[{"type":"text","text":"done"}],"metadata":{"result":"done"}}`),
			said("3", "first"),
			turn(t, `{"id":"4","role":"assistant","parts":[{"type":"text","text":"so far"}],"metadata":{}}`),
			said("5", "merged"),
		},
		Waiting: []uimessage.Message{said("6", "later")},
	}
	var got []string
	for _, o := range explainChat(doc, nil).Open {
		word := o.ID + " " + o.Username + " " + o.Text
		if o.Waiting {
			word += " waits"
		}
		got = append(got, word)
	}
	if want := []string{"3 Ann first", "5 Ann merged", "6 Ann later waits"}; !slices.Equal(got, want) {
		t.Errorf("open are %q, want %q", got, want)
	}
	text := explainChat(doc, nil).text(reader("en_US.UTF-8"))
	for _, want := range []string{"Ann  open  first\n", "Ann  open  merged\n", "Ann  open, waiting  later\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text is\n%s\nwithout %q", text, want)
		}
	}
}

// Lists for programs are valid JSON, even when they are empty.
func TestEmptyListsAreLists(t *testing.T) {
	b, err := json.Marshal(explainChat(query.ChatDocument{}, nil))
	stdtest.Must(t, err)
	for _, key := range []string{"ledger", "open", "findings"} {
		if strings.Contains(string(b), `"`+key+`":null`) {
			t.Errorf("%s is null in %s", key, b)
		}
	}
}

// Messages are listed in the order of arrival, together with answers that no ledger has and lines
// that are not written yet. People have the names that other messages gave them.
func TestShowInOrderOfArrival(t *testing.T) {
	const base = 1700000000000
	doc := query.ChatDocument{
		ChatKey: "web-chat-a",
		Messages: []uimessage.Message{
			turn(t, `{"id":"u1","role":"user","parts":[{"type":"text","text":"first"}],"metadata":{"ts":1700000001000,"userId":"7","username":"Ann"}}`),
			turn(t, `{"id":"u2","role":"user","parts":[{"type":"text","text":"second"}],"metadata":{"ts":1700000002000,"userId":"7","username":"7"}}`),
			turn(t, `{"id":"a1","role":"assistant","parts":[{"type":"text","text":"the answer"}],"metadata":{"ts":1700000004000,"result":"done","runId":"r1","fates":[{"id":"u1","fate":"answered"},{"id":"u2","fate":"merged","runId":"r1","step":2}]}}`),
			turn(t, `{"id":"u3","role":"user","parts":[{"type":"text","text":"third"}],"metadata":{"ts":1700000006000,"userId":"8"}}`),
		},
	}
	ledger := []journal.LedgerEntry{
		{N: 1, TS: base + 3000, Arrived: base + 3000, Dir: "in", UserID: "7", Text: "declined", Fate: "declined", Reason: "full"},
		{N: 2, TS: base + 5000, Dir: "in", TurnID: "u1", UserID: "7", Text: "first", Fate: "answered"}, // as older versions wrote it
	}
	want := []string{
		"in Ann answered first", "in Ann merged second", "in Ann declined declined", "out agent stored the answer", "in 8 open third",
	}
	out := explainChat(doc, ledger)
	var got []string
	for _, l := range out.Lines {
		got = append(got, l.Dir+" "+l.Who+" "+l.State+" "+l.Text)
	}
	if !slices.Equal(got, want) {
		t.Errorf("lines are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, want := range []string{"in   Ann  answered after 4s  first\n", "merged from step 2 of run r1  second\n", "out  agent  stored  the answer\n"} {
		if !strings.Contains(out.text(reader("en_US.UTF-8")), want) {
			t.Errorf("the text lacks %q:\n%s", want, out.text(reader("en_US.UTF-8")))
		}
	}
	for _, want := range []string{"web-chat-a：空闲，4 条消息", "收    Ann  已回答，用时 4s  first\n", "已并入，自运行 r1 的第 2 步起可见  second\n", "已拒收（full）  declined\n", "发    agent  已保存  the answer\n"} {
		if text := out.text(reader("zh_CN.UTF-8")); !strings.Contains(text, want) {
			t.Errorf("the Chinese text lacks %q:\n%s", want, text)
		}
	}
}

// The model and the effort that people chose are shown, in the words of the command.
func TestShowNamesTheChosenModel(t *testing.T) {
	for _, tt := range []struct{ model, effort, en, zh string }{
		{"", "", "", ""},
		{"deep", "", "chosen with /model: deep\n", "通过 /model 选择：deep\n"},
		{"", "high", "chosen with /model: main high\n", "通过 /model 选择：main high\n"},
		{"deep", "off", "chosen with /model: deep off\n", "通过 /model 选择：deep off\n"},
	} {
		out := explainChat(query.ChatDocument{Model: tt.model, Effort: tt.effort}, nil)
		for locale, want := range map[string]string{"en_US.UTF-8": tt.en, "zh_CN.UTF-8": tt.zh} {
			if text := out.text(reader(locale)); !strings.Contains(text, want) || strings.Contains(text, "/model") != (want != "") {
				t.Errorf("%+v is shown as\n%s", tt, text)
			}
		}
	}
}
