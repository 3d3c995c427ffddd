package actors_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// crashScripts are conversations for kills at any operation.
var crashScripts = map[string]string{
	"merge": `
tool look repeatable held T
say alice look
say bob and mine
release T
say alice thanks`,
	"effects": `
tool look held T
say alice look
say alice look again
release T
advance 2s
say alice look once more`,
	"sends": `
set caps tools
tool look repeatable held T
say alice look
say bob hurry
release T
say alice thanks`,
	"long": `
say alice long
say alice two`,
	"drafts": `
set caps drafts
tool look repeatable held T
say alice look
advance 3s
release T
advance 3s`,
	"stops": `
tool look held never
say alice look
say alice wait
stop
say alice /stop
say alice fine`,
	"rests": `
set idle 1m
say alice one
advance 5m
ignored bob blah
say alice two
advance 5m`,
}

// failures are what may go wrong at the n-th operation of the store.
var failures = map[string]func(s *faulty, n int){
	"dies before it":      func(s *faulty, n int) { s.dieAt = n },
	"dies after it":       func(s *faulty, n int) { s.dieAt, s.after = n, true },
	"the disk is full":    func(s *faulty, n int) { s.failAt, s.full = n, true },
	"the disk is damaged": func(s *faulty, n int) { s.failAt = n },
}

// A process is killed before or after any operation of its store, and any operation may fail. Everything that was in
// progress continues: accepted messages have exactly one fate, turns exist once and in order, requests are strict and
// extend each other, and no answer appears twice except after a crash between a send and its receipt.
func TestScenarioCrashAnywhere(t *testing.T) {
	for name, script := range crashScripts {
		t.Run(name, func(t *testing.T) {
			total := 0
			synctest.Test(t, func(t *testing.T) {
				total = crashAt(t, script, func(*faulty) {})
			})
			if total < 8 {
				t.Fatalf("the whole conversation made %d operations", total)
			}
			for n := 1; n <= total && !t.Failed(); n++ {
				for what, happens := range failures {
					synctest.Test(t, func(t *testing.T) {
						if crashAt(t, script, func(s *faulty) { happens(s, n) }); t.Failed() {
							t.Logf("at operation %d %s", n, what)
						}
					})
				}
			}
		})
	}
}

// crashAt plays a script with a failure and checks that it had no effect. It returns the number of operations.
func crashAt(t *testing.T, script string, fault func(*faulty)) int {
	t.Helper()
	s := newScenario(t, filestoretest.New(t))
	s.model.Otherwise = &modeltest.Step{Do: obvious}
	fault(s.store)
	refused := map[int]bool{}
	for line := range strings.SplitSeq(script, "\n") {
		if verb, rest, _ := strings.Cut(strings.TrimSpace(line), " "); verb != "" {
			got, err := s.do(verb, rest)
			if err != nil && !errors.Is(err, persistence.ErrClosed) && verb != "stop" {
				t.Fatalf("%s: %v", line, err)
			}
			refused[len(s.in)] = refused[len(s.in)] || got == "unavailable"
			if s.w != nil {
				s.w.Wait()
			}
		}
	}
	n := 0
	s.store.set(func(f *faulty) { n = len(f.trace) })
	if s.store.dead {
		stdtest.Must(t, s.kill(""))
		s.w.Wait()
	}
	for i := range s.in {
		if refused[i+1] {
			if got, err := s.accept(s.in[i]); err != nil || got == "unavailable" {
				t.Errorf("handed over again, inbound %d came to %q, %v", i+1, got, err)
			}
			s.w.Wait()
		}
	}
	<-time.After(2 * time.Minute)
	s.w.Wait()
	s.twice = "a crash between a send and its receipt, which the ledger marks"
	s.everythingHolds()
	for _, text := range s.repeated {
		if !slices.ContainsFunc(s.marked, func(m string) bool { return strings.Contains(m, text) }) {
			t.Errorf("%q stands twice and the ledger does not say so: %q", text, s.marked)
		}
	}
	return n
}

func (s *scenario) everythingHolds() {
	s.t.Helper()
	v := s.w.View(s.key)
	if v.Running || v.Counts.Open != 0 || v.Counts.Pending != 0 || len(v.Waiting) > 0 {
		s.t.Errorf("not at rest: running %v, %+v", v.Running, v.Counts)
	}
	if got, want := v.Counts.Accepted, int64(len(s.in)); got != want {
		s.t.Errorf("accepted %d of %d", got, want)
	}
	last := int64(0)
	for _, m := range v.Messages {
		meta := journal.NewTurn(m).Meta
		if m.Role != uimessage.RoleUser {
			continue
		}
		if meta.Seq <= last {
			s.t.Errorf("turn %s (seq %d) behind seq %d", m.ID, meta.Seq, last)
		}
		last = meta.Seq
	}
	s.nothingLost()
	s.result()
}

// obvious is a model that calls the tool once for a turn that asks for it, sends by tool where possible, and otherwise
// answers with a text that names the turn.
func obvious(req model.Request) []model.Event {
	last := req.Messages[len(req.Messages)-1]
	id := fmt.Sprintf("c%d", len(req.Messages))
	offered := map[string]bool{}
	for _, t := range req.Tools {
		offered[t.Name] = true
	}
	words := said(req.Messages)
	call := func(name, input string) []model.Event {
		return append(modeltest.CallEvents(modeltest.Call{ID: id, Name: name, Input: input}), modeltest.Finish("tool-calls"))
	}
	switch {
	case last.Role == modelmessage.RoleUser && strings.HasPrefix(words, "look") && offered["look"]:
		return append(modeltest.TextEvents("Looking for "+words+" "+id+"."), call("look", `{"for":"`+words+`"}`)...)
	case last.Role == modelmessage.RoleUser && words == "fresh":
		return call("chat_context_new", `{}`)
	case last.Role == modelmessage.RoleUser && strings.HasPrefix(words, "back "):
		return call("chat_context_load", `{"query":"`+strings.TrimPrefix(words, "back ")+`"}`)
	case last.Role != modelmessage.RoleTool && offered["chat_send"]:
		return call("chat_send", `{"text":"Sent: `+words+` `+id+`","final":true}`)
	case words == "long":
		return append(modeltest.TextEvents(long(9000)), modeltest.Finish("stop"))
	}
	return append(modeltest.TextEvents("About "+words+" "+id), modeltest.Finish("stop"))
}

// said returns the text of the newest user turn.
func said(list []modelmessage.Message) string {
	for _, m := range slices.Backward(list) {
		if m.Role != modelmessage.RoleUser {
			continue
		}
		if text, ok := m.Parts[len(m.Parts)-1].(modelmessage.Text); ok {
			return text.Text
		}
	}
	return ""
}
