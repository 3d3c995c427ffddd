package host

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/cmd/internal/budgets"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/ledger"
)

// spender is a host whose model says what it used.
type spender struct {
	chosen
	model  *modeltest.Server
	limits atomic.Pointer[map[string]string]
}

// noon is a time zone in which midnight is far away.
func noon() string { return fmt.Sprintf("Etc/GMT%+d", time.Now().UTC().Hour()-12) }

func newSpender(t *testing.T, m model.Model, limits map[string]string) *spender {
	t.Helper()
	s := &spender{chosen: chosen{project: newProject(t)}, model: modeltest.NewServer(m, modeltest.ServerOptions{})}
	t.Cleanup(s.model.Close)
	s.api.AddChat(telegramtest.Chat{ID: 2, Type: "private"})
	s.flags = merged(telegramFlags(s.project), map[string]string{
		"adapters.telegram.egress": "direct", "llm.provider": "custom", "llm.baseUrl": s.model.URL, "llm.model": "m", "timezone": noon(),
		"llm.models": `{"m": {"usdPerMInput": 1, "usdPerMCached": 0.1, "usdPerMOutput": 10}}`,
	})
	s.limits.Store(&limits)
	s.opts.Reload = func() (*config.Loaded, error) { return s.load(t, merged(s.flags, *s.limits.Load())), nil }
	return s
}

func (s *spender) start(t *testing.T) {
	t.Helper()
	s.h = s.prepare(t, s.opts, merged(s.flags, *s.limits.Load()))
	stdtest.Must(t, s.h.Start(t.Context()))
}

// limit changes the limits while the host runs.
func (s *spender) limit(t *testing.T, limits map[string]string) {
	t.Helper()
	s.limits.Store(&limits)
	s.h.reloadSettings()
	if st := s.h.Status(t.Context()); len(st.Restart) > 0 {
		t.Errorf("needs a restart for %v", st.Restart)
	}
}

// used is what the ledger of the project has, by chat.
func (s *spender) used(t *testing.T) map[string]ledger.Amount {
	t.Helper()
	rows, err := ledger.Usage(budgets.Dir(filepath.Join(s.dir, ".ship")), "")
	stdtest.Must(t, err)
	out := map[string]ledger.Amount{}
	for _, r := range rows {
		sum := out[string(r.Chat)]
		sum.Input, sum.Cached, sum.Output, sum.NanoUSD = sum.Input+r.Input, sum.Cached+r.Cached, sum.Output+r.Output, sum.NanoUSD+r.NanoUSD
		out[string(r.Chat)] = sum
	}
	return out
}

// saysWell is a model that answers with a word, for 80 tokens and 20.
func saysWell(model.Request) []model.Event {
	end := modeltest.Finish("stop")
	end.Usage = model.Usage{InputTokens: new(int64(80)), CachedInputTokens: new(int64(30)), OutputTokens: new(int64(20))}
	return append(modeltest.TextEvents("Well."), end)
}

// What a chat may use in a day is a limit: people read why there is no answer and until when, in their language. A
// restart changes nothing about it; the next day, or a higher limit, does.
func TestBudgetOfAChat(t *testing.T) {
	s := newSpender(t, modeltest.NewFunc(saysWell), map[string]string{"budget.chatTokensPerDay": "150"})
	s.start(t)
	zone, err := time.LoadLocation(noon())
	stdtest.Must(t, err)
	today := time.Now().In(zone)
	until := today.AddDate(0, 0, 1).Format("2006-01-02 00:00 -07:00")
	refused := "I cannot answer now: this chat has used what it may use of my model in a day. Ask again after " + until +
		", or once the owner has raised the limit (budget.chatTokensPerDay)."
	zh := "现在无法回答：这个聊天今天对模型的用量已达到每日上限。请在 " + until + " 之后再问，或等主人提高上限（budget.chatTokensPerDay）。"
	steps := func(steps ...[2]string) {
		t.Helper()
		for _, step := range steps {
			if got := s.say(t, 1, 7, step[0], nil); got != step[1] {
				t.Errorf("%q was answered %q, want %q", step[0], got, step[1])
			}
		}
	}
	steps([2]string{"one", "Well."}, [2]string{"two", "Well."}, [2]string{"three", refused}, [2]string{"四，你在吗", zh})
	if got := s.say(t, 1, 7, "/status", nil); !strings.Contains(got, "\n今天在这里的用量：200 个 token（上限 150），0.0005 美元\n") {
		t.Errorf("the status says %q", got)
	}
	if got := s.say(t, 2, 8, "and here?", nil); got != "Well." {
		t.Errorf("another chat: %q", got)
	}
	if got := labelled(t, s.h, "sma_budget_refused_total", "limit"); got["chatTokensPerDay"] != 2 {
		t.Errorf("refused: %v", got)
	}
	s.stop(t)
	s.start(t)
	steps([2]string{"five", refused})
	s.limit(t, map[string]string{"budget.chatTokensPerDay": "250"})
	steps([2]string{"six", "Well."}, [2]string{"seven", refused})
	s.limit(t, map[string]string{"budget.chatTokensPerDay": "off"})
	steps([2]string{"eight", "Well."})
	s.limit(t, map[string]string{"budget.usdPerChatPerDay": "0.001"})
	steps([2]string{"nine", strings.ReplaceAll(refused, "chatTokensPerDay", "usdPerChatPerDay")})
	s.stop(t)
	if got, want := s.used(t)["telegram-chat-1"], (ledger.Amount{Input: 320, Cached: 120, Output: 80, NanoUSD: 4 * (50_000 + 3_000 + 200_000)}); got != want {
		t.Errorf("used %+v, want %+v", got, want)
	}
	folder := budgets.Dir(filepath.Join(s.dir, ".ship"))
	stdtest.Must(t, os.Rename(filepath.Join(folder, today.Format(time.DateOnly)+".jsonl"), filepath.Join(folder, today.AddDate(0, 0, -1).Format(time.DateOnly)+".jsonl")))
	s.start(t)
	steps([2]string{"the next day", "Well."})
	s.stop(t)
}

// Chats at once at the edge of the limit of the host: the limit is exceeded by one answer at most, whoever waits for
// others' answers gets its own if there is room, and everybody reads something.
func TestBudgetOfTheHost(t *testing.T) {
	const chats, limit = 12, 350
	s := newSpender(t, modeltest.NewFunc(saysWell), map[string]string{"budget.hostTokensPerDay": fmt.Sprint(limit), "llm.maxOutputTokens": "100"})
	for n := range chats {
		s.api.AddChat(telegramtest.Chat{ID: int64(10 + n), Type: "private"})
	}
	s.start(t)
	for n := range int64(chats) {
		s.api.Say(10+n, 10+n, "hi", nil)
	}
	answered := 0
	for n := range int64(chats) {
		s.api.Await(t, "an answer", func() bool { return len(s.api.Sent(10+n)) == 1 })
		switch text := s.api.Sent(10 + n)[0].Text; {
		case text == "Well.":
			answered++
		case !strings.Contains(text, "all chats together have used what they may use of my model in a day"):
			t.Errorf("chat %d reads %q", n, text)
		}
	}
	if answered != 4 {
		t.Errorf("%d were answered for 100 tokens each, want 4", answered)
	}
	s.stop(t)
	var sum int64
	for _, a := range s.used(t) {
		sum += a.Tokens()
	}
	if sum != 400 {
		t.Errorf("the ledger has %d tokens", sum)
	}
}

// An answer that is stopped costs what was read and written until then.
func TestStoppedAnswerIsPaid(t *testing.T) {
	s := newSpender(t, modeltest.NewScript(modeltest.Held(t.Context().Done(), modeltest.Say("never"))), map[string]string{"budget.usdPerRun": "5"})
	s.start(t)
	s.api.Say(1, 1, "think well", nil)
	faketest.Poll(t, "the request", func() bool { return len(s.model.Bodies()) == 1 })
	s.say(t, 1, 1, "/stop", nil)
	faketest.Poll(t, "the settlement", func() bool {
		text := allText(t, budgets.Dir(filepath.Join(s.dir, ".ship")))
		return strings.Contains(text, `"is":"spent"`)
	})
	s.stop(t)
	if got := s.used(t)["telegram-chat-1"]; got.Input < 100 || got.Output > 10 || got.NanoUSD < 1000*got.Input {
		t.Errorf("used %+v", got)
	}
}

// A run ends at its limit between two steps, and the next message begins with a new one.
func TestBudgetOfARun(t *testing.T) {
	m := modeltest.NewFunc(func(req model.Request) []model.Event {
		call := modeltest.CallEvents(modeltest.Call{ID: fmt.Sprint("call", len(req.Messages)), Name: "exec_shell", Input: fmt.Sprintf(`{"command":"echo %d","why":"to see"}`, len(req.Messages))})
		end := modeltest.Finish("tool-calls")
		end.Usage = model.Usage{InputTokens: new(int64(100)), OutputTokens: new(int64(10))}
		return append(call, end)
	})
	s := newSpender(t, m, map[string]string{"budget.runTokens": "300"})
	maps.Copy(s.flags, map[string]string{"permissions.exec.allow": `["echo *"]`, "permissions.exec.sandbox": "off"})
	s.start(t)
	for n := range 2 {
		got := s.say(t, 1, 1, "count", nil)
		if !strings.HasPrefix(got, "I stopped: this answer has used as much of my model as one answer may.") || !strings.Contains(got, "budget.runTokens") {
			t.Errorf("run %d ended with %q", n, got)
		}
	}
	if err := s.h.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
	if got := s.used(t)["telegram-chat-1"]; got.Tokens() != 2*330 {
		t.Errorf("used %+v, want three steps for each run", got)
	}
}

// What a person may use is counted over all chats, by who wrote the first message of a run: messages of others that join
// it cost them nothing, and they are answered when that person may not be. Without orders of the owner, people read only
// what is theirs.
func TestBudgetOfAPerson(t *testing.T) {
	release := make(chan struct{})
	m := modeltest.NewFunc(func(req model.Request) []model.Event {
		if len(req.Messages) > 1 {
			return saysWell(req)
		}
		select {
		case <-release: // the other person's message waits
		case <-t.Context().Done():
		}
		end := modeltest.Finish("tool-calls")
		end.Usage = model.Usage{InputTokens: new(int64(80)), OutputTokens: new(int64(20))}
		return append(modeltest.CallEvents(modeltest.Call{ID: "call", Name: "exec_shell", Input: `{"command":"echo 1","why":"to see"}`}), end)
	})
	s := newSpender(t, m, map[string]string{"budget.personTokensPerDay": "150", "budget.usdPerPersonPerMonth": "3"})
	maps.Copy(s.flags, map[string]string{"permissions.exec.allow": `["echo *"]`, "permissions.exec.sandbox": "off", "adapters.telegram.groups": "all"})
	s.api.AddChat(telegramtest.Chat{ID: -5, Type: "group", Title: "Us"})
	s.start(t)
	s.api.Say(-5, 1, "one", nil)
	faketest.Poll(t, "the request", func() bool { return len(s.model.Bodies()) == 1 })
	s.api.Say(-5, 2, "two", nil)
	faketest.Poll(t, "the message that waits", func() bool { return labelled(t, s.h, "sma_ingress_total", "result")["accepted"] == 2 })
	close(release)
	s.api.Await(t, "the answer to both", func() bool { return len(s.api.Sent(-5)) == 1 })
	if got := s.say(t, 1, 1, "and in private", nil); !strings.HasPrefix(got, "I cannot answer now: whoever asked this first has used what one person may use of my model in a day.") || !strings.Contains(got, "budget.personTokensPerDay") {
		t.Errorf("the first person is answered %q", got)
	}
	if got := s.say(t, 2, 2, "and I", nil); got != "Well." {
		t.Errorf("the other person is answered %q", got)
	}
	mine := s.say(t, 2, 2, "/usage", nil)
	if !strings.Contains(mine, "used here today: 200 tokens, $0.0005\nby you in all chats today: 200 tokens of 150, $0.0005\n") || !strings.Contains(mine, "this month: 200 tokens, $0.0005 of $3\n") || strings.Contains(mine, "telegram-") || strings.Contains(mine, "everybody") {
		t.Errorf("the other person reads %q", mine)
	}
	s.stop(t)
	rows, err := ledger.Usage(budgets.Dir(filepath.Join(s.dir, ".ship")), "")
	stdtest.Must(t, err)
	got := map[string]int64{}
	for _, r := range rows {
		got[r.Person] += r.Tokens()
	}
	if got["telegram-1"] != 200 || got["telegram-2"] != 200 || len(got) != 2 {
		t.Errorf("people have used %v", got)
	}
}

// At a limit the cheaper model answers, up to its own limit, and people are informed once. Then no model answers.
func TestCheaperModelAtALimit(t *testing.T) {
	s := newSpender(t, modeltest.NewFunc(saysWell), map[string]string{"budget.chatTokensPerDay": "150", "budget.atLimit": "cheaper", "budget.cheaper": "fast", "budget.cheaperPercent": "100"})
	maps.Copy(s.flags, map[string]string{"llm.choices": `[{"name": "fast", "model": "f"}]`})
	s.start(t)
	var got []string
	for range 4 {
		got = append(got, s.say(t, 1, 7, "hi", nil))
	}
	if got[0] != "Well." || got[1] != "Well." || !strings.HasPrefix(got[2], "Well.") || !strings.Contains(got[2], " f answers here, which is cheaper: this chat has used what it may use of my model in a day (budget.chatTokensPerDay).") || !strings.HasPrefix(got[3], "I cannot answer now") {
		t.Errorf("answered %q", got)
	}
	s.limit(t, map[string]string{"budget.chatTokensPerDay": "250", "budget.atLimit": "cheaper", "budget.cheaper": "fast", "budget.cheaperPercent": "100"})
	if got := s.say(t, 1, 7, "again", nil); got != "Well." {
		t.Errorf("told again: %q", got)
	}
	s.limit(t, map[string]string{"budget.chatTokensPerDay": "250", "budget.atLimit": "pause"})
	if got := s.say(t, 1, 7, "and now", nil); !strings.HasPrefix(got, "I cannot answer now") {
		t.Errorf("without a cheaper model: %q", got)
	}
	var asked []string
	for _, b := range s.model.Bodies() {
		asked = append(asked, gjson.GetBytes(b, "model").String())
	}
	stdtest.Diff(t, "asked", []string{"m", "m", "f", "f"}, asked)
	s.stop(t)
}

// At a limit the owner is asked in private, once, and only the owner's own answer allows more: for the chat that waits,
// until midnight, also after a restart. The chat is informed in its language.
func TestOwnerIsAskedAtALimit(t *testing.T) {
	s := newSpender(t, modeltest.NewFunc(saysWell), map[string]string{"budget.chatTokensPerDay": "150", "budget.atLimit": "ask", "adapters.telegram.access": "paired"})
	s.api.AddChat(telegramtest.Chat{ID: -5, Type: "supergroup", Title: "Team"})
	s.start(t)
	summary, err := s.h.Summary(t.Context())
	stdtest.Must(t, err)
	zone, err := time.LoadLocation(noon())
	stdtest.Must(t, err)
	const owner, member = 1, 2
	at, until := "@"+telegramtest.BotName, time.Now().In(zone).AddDate(0, 0, 1).Format("2006-01-02 00:00 -07:00")
	says := func(chat, person int64, text, want string) {
		t.Helper()
		more := map[string]any{}
		switch {
		case strings.HasPrefix(text, at):
			more["entities"] = []any{telegramtest.Entity("mention", 0, len(at))}
		case chat < 0:
			text = strings.Replace(text+" ", " ", at+" ", 1)
		}
		if got := s.say(t, chat, person, text, more); got != want {
			t.Errorf("%q was answered %q, want %q", text, got, want)
		}
	}
	s.say(t, owner, owner, "/start "+summary.OwnerCode, nil)
	s.say(t, -5, owner, "/allow"+at, nil)
	says(-5, member, at+" 一", "Well.")
	says(-5, member, at+" 二", "Well.")
	before := len(s.api.Sent(owner))
	refused := "现在无法回答：这个聊天今天对模型的用量已达到每日上限。请在 " + until + " 之后再问，或等主人用 /more 允许更多用量（budget.chatTokensPerDay）。"
	says(-5, member, at+" 三", refused)
	s.api.Await(t, "the question to the owner", func() bool { return len(s.api.Sent(owner)) > before })
	question := s.api.Sent(owner)[before].Text
	_, rest, _ := strings.Cut(question, "/more ")
	code, _, _ := strings.Cut(rest, " ")
	if want := "The chat “Team” has used what it may use of my model in a day (budget.chatTokensPerDay). Send /more " + code + " to allow as much again until " + until + "."; question != want || len(code) != 6 {
		t.Fatalf("the owner read %q, want %q", question, want)
	}
	says(-5, member, at+" 四", refused)

	s.stop(t)
	s.start(t)
	says(-5, member, at+" 五", refused)
	for _, text := range []string{"/more " + code, "/more"} {
		says(-5, member, text, "只有主人可以允许更多用量。")
	}
	forwarded := map[string]any{"forward_origin": map[string]any{"type": "user", "date": 1, "sender_user": map[string]any{"id": member, "first_name": "Bob"}}}
	if got := s.say(t, owner, owner, "/more "+code, forwarded); got != "Somebody else wrote this command, so I did nothing. Send it yourself." {
		t.Errorf("a command that the owner forwarded: %q", got)
	}
	says(owner, owner, "/more", question) // nothing was sent about it a second time
	says(-5, owner, "/more", "请在私聊里发送 /more 查看等待你决定的用量上限。")
	says(owner, owner, "/more aaaaaa", "No limit waits for an answer with this code. /more lists those that do.")

	before = len(s.api.Sent(-5))
	says(owner, owner, "/more "+strings.ToUpper(code), "Allowed: until "+until+" as much again may be used (budget.chatTokensPerDay).")
	s.api.Await(t, "the word to the group", func() bool { return len(s.api.Sent(-5)) > before })
	if got := s.api.Sent(-5)[before].Text; got != "主人已允许更多用量，请再问一次。" {
		t.Errorf("the group read %q", got)
	}
	says(owner, owner, "/more "+code, "No limit waits for an answer with this code. /more lists those that do.")
	says(owner, owner, "/more", "No limit waits for you.")
	says(-5, member, at+" 六", "Well.")
	says(-5, member, at+" 七", refused)
	s.stop(t)
}
