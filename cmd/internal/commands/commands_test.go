package commands

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

var update = flag.Bool("update", false, "write the wanted words")

// In a group, people without a role cannot change the bot's language or the model, and are not offered to.
func TestChoicesInAGroup(t *testing.T) {
	h := New(Options{
		Role:   func(_, _ string) string { return "" },
		Models: func() []decision.ModelChoice { return []decision.ModelChoice{{Name: "main"}, {Name: "deep"}} },
	})
	say := func(en, _ string) (string, bool) { return en, true }
	cmd := decision.Command{ChatKey: "telegram-chat--5", ChatType: "supergroup", By: messages.Asker{Platform: "telegram", ID: "7"}}
	for _, cmd.Args = range []string{"zh", ""} {
		if got, _ := h.chooseLanguage(cmd, say); !strings.Contains(got, "only my owner can choose") {
			t.Errorf("/language %s: %q", cmd.Args, got)
		}
	}
	if got, _ := h.modelAnswer(cmd, say); !strings.Contains(got, "only my owner can choose") {
		t.Errorf("/model: %q", got)
	}
}

func TestWhy(t *testing.T) {
	h := New(Options{Zone: time.UTC})
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
		en, _ := h.whyAnswer(decision.Command{Why: &c.e}, say)
		chinese, _ := h.whyAnswer(decision.Command{Why: &c.e}, zh)
		if !strings.Contains(en, c.want) || !strings.Contains(chinese, c.zh) || !strings.Contains(en, string(c.e.Fate)) {
			t.Errorf("%+v: %q, %q", c.e, en, chinese)
		}
	}
}

// The service accepts the table of commands, and every command has a text in both languages.
func TestOrdersAreWhole(t *testing.T) {
	seen := map[string]bool{}
	group := here(orders(true), decision.Command{ChatKey: "telegram-chat--5", ChatType: "supergroup"})
	for _, o := range orders(true) {
		if seen[o.name] || o.en == "" || o.zh == "" || len(o.name) > 32 || strings.Trim(o.name, "abcdefghijklmnopqrstuvwxyz") != "" {
			t.Errorf("the command %+v is not whole", o)
		}
		seen[o.name] = true
		for _, words := range []string{help(group, "", false), help(group, "", true)} {
			if !o.hidden && !strings.Contains(words, "\n/"+o.name) {
				t.Errorf("the help does not tell of %s", o.name)
			}
		}
	}
	if strings.Contains(help(here(orders(true), decision.Command{ChatKey: "telegram-chat-5", ChatType: "private"}), "", false), "/allow") {
		t.Error("a chat of one person is told of commands for groups")
	}
	if strings.Contains(help(here(orders(true), decision.Command{ChatKey: "feishu-chat-oc_1", ChatType: "group"}), "", false), "/activation") {
		t.Error("a group is told of a command that its platform does not have")
	}
}

// Every answer of /why, by the reason that selects it.
func TestWhySentences(t *testing.T) {
	h := New(Options{Zone: time.UTC})
	var out strings.Builder
	row := func(name, en, zh string) { fmt.Fprintf(&out, "%s\n\t%s\n\t%s\n", name, en, zh) }
	for _, reason := range slices.Sorted(maps.Keys(gateWords(""))) {
		e := journal.LedgerEntry{Fate: journal.FateIgnored, Reason: reason, Username: "Ann", MessageID: "9"}
		en, _ := h.whyAnswer(decision.Command{Why: &e}, func(en, _ string) (string, bool) { return en, true })
		zh, _ := h.whyAnswer(decision.Command{Why: &e}, func(_, zh string) (string, bool) { return zh, true })
		row("why: "+reason, strings.ReplaceAll(en, "\n", " "), strings.ReplaceAll(zh, "\n", " "))
	}
	for _, e := range []journal.LedgerEntry{
		{Fate: journal.FateMerged, Step: 3},
		{Fate: journal.FateStopped},
		{Fate: journal.FateStopped, Reason: "taken_back"},
		{Fate: journal.FateAnswered},
		{Fate: journal.FateAnswered, Reason: "command"},
		{Fate: journal.FateIgnored},
		{Fate: journal.FateDeclined},
	} {
		en, zh := fateWords(e, "")
		row("why: "+strings.TrimSpace(string(e.Fate)+" "+e.Reason), en, zh)
	}
	const file = "testdata/why.golden"
	if *update {
		stdtest.Must(t, os.WriteFile(file, []byte(out.String()), 0o600))
		return
	}
	want := stdtest.Read(t, file)
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(out.String(), "\n")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Every answer has a text in both languages. Without contexts the command is unknown.
func TestContextsAnswer(t *testing.T) {
	h := New(Options{Zone: time.UTC})
	items := []journal.ContextItem{{ID: "c_20260102_abcd", Title: "trip", MessageCount: 4}, {ID: "c_20260102_efgh"}}
	for _, are := range []decision.ContextsOutcome{
		decision.ContextsNew, decision.ContextsLoaded, decision.ContextsListed, decision.ContextsChoose, decision.ContextsEmpty, decision.ContextsBusy, decision.ContextsFailed,
	} {
		var en, zh string
		_, ok := h.contextsAnswer(decision.Command{Contexts: decision.ContextsAnswer{Outcome: are, Items: items}}, func(a, b string) (string, bool) { en, zh = a, b; return a, true })
		if !ok || en == "" || zh == "" || en == zh {
			t.Errorf("%s: %q, %q", are, en, zh)
		}
	}
	say := func(en, _ string) (string, bool) { return en, true }
	listed, _ := h.contextsAnswer(decision.Command{Contexts: decision.ContextsAnswer{Outcome: decision.ContextsListed, Items: items}}, say)
	if !strings.Contains(listed, "1. trip (1970-01-01 00:00, 4 messages)\n2. c_20260102_efgh") {
		t.Errorf("listed %q", listed)
	}
	choose, _ := h.contextsAnswer(decision.Command{Contexts: decision.ContextsAnswer{Outcome: decision.ContextsChoose, Items: items}}, say)
	if !strings.Contains(choose, "`c_20260102_abcd` trip") {
		t.Errorf("choose %q", choose)
	}
	if words, ok := h.contextsAnswer(decision.Command{}, say); ok {
		t.Errorf("without contexts: %q", words)
	}
}
