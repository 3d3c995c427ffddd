package host

import (
	"bytes"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// post sends a text to the web chat and returns the stream.
func post(t *testing.T, h *Host, id, text string) string {
	t.Helper()
	body := `{"id":"c1","trigger":"submit-message","message":{"id":"` + id + `","role":"user","parts":[{"type":"text","text":"` + text + `"}]}}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.webAddr+"/api/chat", bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+h.login.token.Reveal())
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	all, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}

// Every command of the help is answered on the web page by the host, and none of it
// gets into the history.
func TestCommandsOnTheWeb(t *testing.T) {
	p := newProject(t)
	h := p.start(t, Options{}, map[string]string{"llm.provider": "demo"})
	for text, want := range map[string]string{
		"/help":          "/language en|zh|auto - chooses",
		"/status":        "chat: web-chat-c1",
		"/model":         "Only the operator changes it",
		"/why":           "I know of no message here",
		"/approvals":     "Nothing is waiting for your decision.",
		"/approve 1":     "Nothing is waiting for your decision.",
		"/deny 1":        "Nothing is waiting for your decision.",
		"/stop":          "I am not working on anything",
		"/compact":       "This chat is still short",
		"/new":           "This conversation is still empty",
		"/contexts":      "No conversation is archived yet",
		"/load x":        "No conversation is archived yet",
		"/start":         "Just write to me",
		"/language":      "My own words here are in: auto",
		"/language fish": "My own words here are in: auto",
	} {
		got := post(t, h, "m"+strings.ReplaceAll(text, " ", "-")[1:], text)
		if !strings.Contains(got, want) || !strings.HasSuffix(strings.TrimSpace(got), "data: [DONE]") {
			t.Errorf("%s: got %s, want %q", text, got, want)
		}
	}
	if code, _ := getPage(t, h, "/api/chat/c1"); code != http.StatusNotFound {
		t.Errorf("the history answers %d, want that there is none", code)
	}
}

// What people chose holds after a restart.
func TestLanguageIsKept(t *testing.T) {
	p := newProject(t)
	flags := map[string]string{"llm.provider": "demo"}
	h := p.prepare(t, Options{}, flags)
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := post(t, h, "m1", "/language ZH"); !strings.Contains(got, "使用中文") {
		t.Errorf("got %s", got)
	}
	if err := h.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	h = p.start(t, Options{}, flags)
	if got := post(t, h, "m2", "/stop"); !strings.Contains(got, "我现在没有在处理消息") {
		t.Errorf("got %s", got)
	}
	if got := post(t, h, "m3", "/help"); !strings.Contains(got, "列出所有命令") {
		t.Errorf("got %s", got)
	}
	if got := post(t, h, "m4", "/language auto"); !strings.Contains(got, "in English") {
		t.Errorf("got %s", got)
	}
	dir, err := h.store.ChatDir("web-chat-c1")
	if err != nil {
		t.Fatal(err)
	}
	if found, _ := filepath.Glob(filepath.Join(dir, "preferences.json*")); len(found) > 0 {
		t.Errorf("%v is left, though nothing is set", found)
	}
}

// Commands are announced to the service in both languages, and answered.
func TestCommandsOnTelegram(t *testing.T) {
	p := newProject(t)
	p.start(t, Options{}, telegramFlags(p))
	p.api.Await(t, "the commands to be announced", func() bool {
		calls := p.api.Calls("setMyCommands")
		return len(calls) == 2 && calls[1].Code != 0
	})
	for i, language := range []string{"", "zh"} {
		call := p.api.Calls("setMyCommands")[i]
		if call.Code != http.StatusOK || call.Params.Text("language_code") != language || !strings.Contains(call.Params.Text("commands"), `"language"`) {
			t.Errorf("announced %+v", call)
		}
	}
	p.api.Say(1, 7, "/status", nil)
	p.api.Await(t, "the status", func() bool {
		return slices.ContainsFunc(p.api.Sent(1), func(s platformtest.Sent) bool { return strings.Contains(s.Text, "telegram-chat-1") })
	})
}

// In a group, people with no say do not change how the bot speaks.
func TestLanguageInAGroup(t *testing.T) {
	h := &Host{}
	say := func(en, _ string) (string, bool) { return en, true }
	cmd := machine.Command{ChatKey: "telegram-chat--5", ChatType: "supergroup", Args: "zh", By: messages.Asker{Platform: "telegram", ID: "7"}}
	if got, _ := h.chooseLanguage(cmd, say); !strings.Contains(got, "only my owner") {
		t.Errorf("got %q", got)
	}
}

func TestWhy(t *testing.T) {
	say := func(en, _ string) (string, bool) { return en, true }
	zh := func(_, zh string) (string, bool) { return zh, true }
	for _, c := range []struct {
		e        journal.LedgerEntry
		want, zh string
	}{
		{journal.LedgerEntry{Fate: journal.FateIgnored, Reason: "unaddressed", Username: "Bob", MessageID: "9"}, "did not speak to me", "没有叫我"},
		{journal.LedgerEntry{Fate: journal.FateDeclined, Reason: "lane_full", UserID: "7"}, "too many messages", "消息太多"},
		{journal.LedgerEntry{Fate: journal.FateMerged, Step: 3, RunID: "r1"}, "at step 3", "第 3 步"},
		{journal.LedgerEntry{Fate: journal.FateStopped}, "was stopped", "停止"},
		{journal.LedgerEntry{Fate: journal.FateIgnored, Reason: "something new"}, "was not for me", "不是发给我"},
	} {
		en, _ := whyAnswer(&c.e, time.UTC, say)
		chinese, _ := whyAnswer(&c.e, time.UTC, zh)
		if !strings.Contains(en, c.want) || !strings.Contains(chinese, c.zh) || !strings.Contains(en, string(c.e.Fate)) {
			t.Errorf("%+v: %q, %q", c.e, en, chinese)
		}
	}
}

// The table is what the service takes, and both languages say something.
func TestOrdersAreWhole(t *testing.T) {
	seen := map[string]bool{}
	group := here(orders(true), machine.Command{ChatKey: "telegram-chat--5", ChatType: "supergroup"})
	for _, o := range orders(true) {
		if seen[o.name] || o.en == "" || o.zh == "" || len(o.name) > 32 || strings.Trim(o.name, "abcdefghijklmnopqrstuvwxyz") != "" {
			t.Errorf("the command %+v is not whole", o)
		}
		seen[o.name] = true
		for _, words := range []string{help(group, false), help(group, true)} {
			if !o.hidden && !strings.Contains(words, "\n/"+o.name) {
				t.Errorf("the help does not tell of %s", o.name)
			}
		}
	}
	if strings.Contains(help(here(orders(true), machine.Command{ChatKey: "telegram-chat-5", ChatType: "private"}), false), "/allow") {
		t.Error("a chat of one person is told of commands for groups")
	}
	if strings.Contains(help(here(orders(true), machine.Command{ChatKey: "feishu-chat-oc_1", ChatType: "group"}), false), "/activation") {
		t.Error("a group is told of a command that its platform does not have")
	}
}
