package host

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// The setting removes tools and commands alike.
func TestContextsEnabled(t *testing.T) {
	for _, on := range []bool{true, false} {
		loaded := &config.Loaded{}
		loaded.Settings.Context.Contexts.Enabled = on
		h := &Host{}
		h.opts.Settings = loaded
		var names []string
		for _, c := range h.contextTools() {
			names = append(names, c.Spec().Name)
		}
		words := slices.DeleteFunc(chatCommands(on), func(name string) bool { return slices.Contains(chatCommands(false), name) })
		var wantNames, wantWords []string
		if on {
			wantNames = []string{"chat_context_new", "chat_context_clear_active", "chat_context_list", "chat_context_load", "chat_context_recall"}
			wantWords = []string{"new", "contexts", "load"}
		}
		if diff := cmp.Diff(wantNames, names); diff != "" {
			t.Errorf("%v: tools (-want +got):\n%s", on, diff)
		}
		if strings.Join(words, " ") != strings.Join(wantWords, " ") {
			t.Errorf("%v: commands %q", on, words)
		}
	}
}

// Every answer has words in both languages; without contexts the command is unknown.
func TestContextsAnswer(t *testing.T) {
	h := &Host{zone: time.UTC}
	items := []journal.ContextItem{{ID: "c_20260102_abcd", Title: "trip", MessageCount: 4}, {ID: "c_20260102_efgh"}}
	for _, are := range []machine.ContextsAre{
		machine.ContextsNew, machine.ContextsLoaded, machine.ContextsListed, machine.ContextsChoose, machine.ContextsEmpty, machine.ContextsBusy, machine.ContextsFailed,
	} {
		var en, zh string
		_, ok := h.contextsAnswer(machine.ContextsAnswer{Are: are, Items: items}, func(a, b string) (string, bool) { en, zh = a, b; return a, true })
		if !ok || en == "" || zh == "" || en == zh {
			t.Errorf("%s: %q, %q", are, en, zh)
		}
	}
	say := func(en, _ string) (string, bool) { return en, true }
	listed, _ := h.contextsAnswer(machine.ContextsAnswer{Are: machine.ContextsListed, Items: items}, say)
	if !strings.Contains(listed, "1. trip (1970-01-01 00:00, 4 messages)\n2. c_20260102_efgh") {
		t.Errorf("listed %q", listed)
	}
	choose, _ := h.contextsAnswer(machine.ContextsAnswer{Are: machine.ContextsChoose, Items: items}, say)
	if !strings.Contains(choose, "`c_20260102_abcd` trip") {
		t.Errorf("choose %q", choose)
	}
	if words, ok := h.contextsAnswer(machine.ContextsAnswer{}, say); ok {
		t.Errorf("without contexts: %q", words)
	}
}
