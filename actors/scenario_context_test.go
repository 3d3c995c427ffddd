package actors_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/tool/contexts"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// withContexts gives chats the tools and the commands of contexts. Ids are numbered.
func (s *scenario) withContexts() {
	n := 0
	s.o.Chat.Contexts = true
	s.o.Chat.Commands = func(cmd decision.Command) (string, bool) {
		words := []string{string(cmd.Contexts.Outcome)}
		for _, item := range cmd.Contexts.Items {
			words = append(words, item.Title)
		}
		return strings.Join(words, "; "), cmd.Contexts.Outcome != decision.ContextsOff
	}
	s.o.Tools = append(s.o.Tools, contexts.Tools(contexts.Options{
		Store: s.store, Zone: time.UTC, Random: func() string {
			n++
			return fmt.Sprintf("%04d", n)
		},
	})...)
}

func (s *scenario) contexts() (string, error) {
	items, err := s.store.Contexts(s.t.Context(), s.key)
	var out []string
	for _, item := range items {
		c, err := s.store.ReadContext(s.t.Context(), s.key, item.ID)
		if err != nil {
			return "", err
		}
		out = append(out, fmt.Sprintf("%d %s", len(c.Messages), c.Title))
	}
	return strings.Join(out, "; "), err
}

// nothingLost checks that every message of people is in the history or in a context, and that every context begins with
// a user turn and ends with the answer to its last one.
func (s *scenario) nothingLost() {
	s.t.Helper()
	if !s.o.Chat.Contexts {
		return
	}
	have := map[string]bool{}
	keep := func(list []uimessage.Message) {
		for _, m := range list {
			have[journal.NewTurn(m).Meta.MessageID] = true
		}
	}
	keep(s.w.View(s.key).Messages)
	items, err := s.store.Contexts(s.t.Context(), s.key)
	if err != nil || len(items) == 0 {
		s.t.Fatalf("%d contexts, %v", len(items), err)
	}
	for _, item := range items {
		c, err := s.store.ReadContext(s.t.Context(), s.key, item.ID)
		if err != nil || len(c.Messages) == 0 {
			s.t.Fatalf("context %+v: %v", item, err)
		}
		first, last := c.Messages[0], journal.NewTurn(c.Messages[len(c.Messages)-1])
		if first.Role != uimessage.RoleUser || !last.Ends() || last.ID != c.Checkpoint {
			s.t.Errorf("context %s is not whole: from %s to %s", c.ID, first.ID, last.ID)
		}
		keep(c.Messages)
	}
	for _, in := range s.in {
		if !have[in.MessageID] && in.Kind != platform.KindCommand {
			s.t.Errorf("message %s is in no context", in.MessageID)
		}
	}
}

// A process is killed before or after any operation of its store while contexts are switched, and any operation may
// fail. Every context is complete, and nothing is lost.
func TestContextCrashAnywhere(t *testing.T) {
	const script = `
set contexts on
prefix broken by a context switch
say alice one
say alice fresh
advance 1m
say alice /new
say alice back one
say alice two`
	every := 4
	if os.Getenv("SOAK") != "" {
		every = 1
	}
	total := 0
	synctest.Test(t, func(t *testing.T) { total = crashAt(t, script, func(*faulty) {}) })
	if total < 20 {
		t.Fatalf("the whole conversation made %d operations", total)
	}
	played := 0
	for i, what := range slices.Sorted(maps.Keys(failures)) {
		for n := 1 + i%every; n <= total && !t.Failed(); n += every {
			played++
			synctest.Test(t, func(t *testing.T) {
				if crashAt(t, script, func(s *faulty) { failures[what](s, n) }); t.Failed() {
					t.Logf("at operation %d %s", n, what)
				}
			})
		}
	}
	t.Logf("%d failures at %d operations", played, total)
}
