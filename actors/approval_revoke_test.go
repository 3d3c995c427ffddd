package actors_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/run"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/permission"
)

// look is a step that calls the shell.
func look(n int) modeltest.Step { return modeltest.CallTools(sh(fmt.Sprint("c", n), "git status")) }

// A revoked grant covers nothing from the next command on, also after a restart. Only people who may decide can revoke,
// and numbers of grants are not those of requests.
func TestAP8RevokedGrants(t *testing.T) {
	for _, tt := range []struct {
		name, who, says string
		restart         bool
		ran             int64 // of the command that follows
		reads           string
	}{
		{"by name", "alice", "/approvals revoke g1", false, 0, "Revoked: g1"},
		{"by number", "alice", "/approvals revoke 1", false, 0, "Revoked: g1"},
		{"all", "alice", "/approvals revoke all", false, 0, "Revoked: g1"},
		{"in Chinese", "alice", "/approvals 撤销 g1", false, 0, "已撤销：g1"},
		{"all, in Chinese", "alice", "/approvals 撤销 全部", false, 0, "已撤销：g1"},
		{"over a restart", "alice", "/approvals revoke g1", true, 0, "Revoked: g1"},
		{"by somebody who may not", "bob", "/approvals revoke g1", false, 1, "You may not revoke"},
		{"all, by somebody who may not", "bob", "/approvals revoke all", false, 1, "You may not revoke"},
		{"another one", "alice", "/approvals revoke g2", false, 1, "g1: for"},
		{"one that is, one that is not", "alice", "/approvals revoke g1 g2", false, 1, "g1: for"},
		{"no number", "alice", "/approvals revoke", false, 1, "g1: for"},
		{"no number at all", "alice", "/approvals revoke x", false, 1, "g1: for"},
		{"a request's", "alice", "/approvals revoke #1", false, 1, "g1: for"},
		{"listed", "alice", "/approvals", false, 1, "/approvals revoke g1"},
		{"denied", "alice", "/deny 1", false, 1, "Nothing is waiting"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newShellWorld(t, func(o *actortest.Options) {
					o.Chat.MayDecide = func(c approval.Claim) bool { return c.Person == "alice" }
				}, look(1), modeltest.Say("Clean."), look(2), modeltest.Say("Well."))
				w.says("alice", "look")
				w.says("alice", "allow git status for 30 minutes")
				w.executed(1)
				w.says(tt.who, tt.says)
				if !strings.Contains(strings.ReplaceAll(w.last(), `\`, ""), tt.reads) {
					t.Errorf("people read %q, want %q in it", w.last(), tt.reads)
				}
				if tt.restart {
					w.again()
				}
				w.says("alice", "again")
				w.executed(1 + tt.ran)
				w.wantOpen(1 - int(tt.ran))
				revoked := 0
				for _, e := range w.audit {
					if e.Event == "approval" && e.Result == "revoked" {
						revoked++
						if e.By != "telegram-alice" || e.Rule != "git status" || e.Name == "" || e.RequestID == "" {
							t.Errorf("entry %+v", e)
						}
					}
				}
				if revoked != 1-int(tt.ran) {
					t.Errorf("%d entries of the audit log tell of it", revoked)
				}
			})
		})
	}
}

// Forwarded messages, messages of bots, and edits revoke nothing and are not sent to a model.
func TestAP5RevokingIsForPeopleOnly(t *testing.T) {
	for _, what := range []string{"forwarded", "bot"} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newShellWorld(t, func(o *actortest.Options) { o.Chat.MayDecide = func(approval.Claim) bool { return true } },
					look(1), modeltest.Say("Clean."), modeltest.Say("Hm."), look(2), modeltest.Say("Well."))
				w.says("alice", "look")
				w.says("alice", "allow git status for 30 minutes")
				in := w.Inbound(alice, "alice", "/approvals revoke all")
				in.Forwarded, in.Sender.IsBot = what == "forwarded", what == "bot"
				w.Port.Accept(t.Context(), inbounds(in))
				w.Wait()
				if grants, err := w.grants.Grants(t.Context(), alice); err != nil || len(grants) != 1 || grants[0].Revoked != 0 {
					t.Errorf("grants %+v, %v", grants, err)
				}
			})
		})
	}
}

// held is a shell whose policy stops while it decides about a command, so that the test can do something meanwhile.
type held struct {
	*shell

	armed       atomic.Bool // the next judgement is held
	judging, on chan struct{}
}

func (h *held) CheckCall(tool.Call) tool.Verdict {
	if h.armed.CompareAndSwap(true, false) {
		h.judging <- struct{}{}
		<-h.on
	}
	return tool.Verdict{Decision: tool.Ask}
}

// A grant that is revoked while a command is checked under it does not cover that command any more: the run learns of
// it before the call may begin.
func TestAP8RevokedWhileACommandIsJudged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := modeltest.NewScript(look(1), modeltest.Say("Clean."), look(2), look(3), modeltest.Say("Well."))
		h := &held{shell: newShell(), judging: make(chan struct{}), on: make(chan struct{})}
		w := newShellWorld(t, func(o *actortest.Options) {
			o.Model, o.Tools = script, actortest.Tools(h)
			o.Chat.MayDecide = func(approval.Claim) bool { return true }
		})
		w.script, w.shell = script, h.shell
		w.says("alice", "look")
		w.says("alice", "allow git status for 30 minutes")
		w.executed(1)
		h.armed.Store(true)
		w.Say(alice, "alice", "again")
		<-h.judging // the run asks whether it is covered, and finds that it is
		in := w.Inbound(alice, "alice", "/approvals revoke g1")
		if r := w.Port.Accept(t.Context(), inbounds(in))[0]; r.Err != nil {
			t.Fatalf("answered %+v", r)
		}
		close(h.on)
		w.Wait()
		w.executed(1)
		w.wantOpen(1) // the model asked anew
		w.sound()
	})
}

// Grants are revoked over the control socket, by numbers or all at once. Repeating an order changes nothing.
func TestRevokedByTheHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var may string
		w := newShellWorld(t, func(o *actortest.Options) {
			o.Rules = run.NewRules([]string{"bash build.sh"}, nil)
			o.Chat.MayDecide = func(c approval.Claim) bool { return c.Person == "alice" || c.Person == may }
		}, modeltest.CallTools(sh("c1", "git status"), sh("c2", "ls src")), modeltest.Say("Clean."), modeltest.CallTools(sh("c3", "bash build.sh")), modeltest.Say("Built."))
		w.says("alice", "look")
		w.says("alice", "allow `git status` and `ls *` for 30 minutes")
		w.executed(2)
		w.says("alice", "build")
		w.decided(true)
		w.executed(3)
		w.again()
		revoke := func(numbers ...int) messages.GrantsRevoked {
			t.Helper()
			got, err := w.System.Root.RequestFuture(w.Router, messages.RevokeGrants{
				ChatKey: alice, RequestID: "r", By: messages.Asker{Platform: "control", ID: "owner"}, Numbers: numbers,
			}, time.Minute).Result()
			stdtest.Must(t, err)
			answer, ok := got.(messages.GrantsRevoked)
			if !ok {
				t.Fatalf("answered %T", got)
			}
			return answer
		}
		for _, tt := range []struct {
			name    string
			may     string
			numbers []int
			want    []int
			reason  string
		}{
			{"somebody who may not", "", []int{1}, nil, "forbidden"},
			{"somebody who may none", "", nil, nil, "forbidden"},
			{"none that there is", "owner", []int{1, 4}, nil, "not_found"},
			{"one", "owner", []int{2}, []int{2}, ""},
			{"the same", "owner", []int{2}, []int{2}, ""},
			{"all", "owner", nil, []int{1, 3}, ""},
			{"all, of nothing", "owner", nil, nil, "not_found"},
		} {
			may = tt.may
			if got := revoke(tt.numbers...); !slices.Equal(got.Numbers, tt.want) || got.Reason != tt.reason || got.Err != "" {
				t.Errorf("%s: %+v, want %v %q", tt.name, got, tt.want, tt.reason)
			}
		}
		grants, err := w.grants.Grants(t.Context(), alice)
		for _, g := range grants {
			if g.Revoked == 0 {
				t.Errorf("%+v counts", g)
			}
		}
		if err != nil || len(grants) != 3 {
			t.Errorf("grants %+v, %v", grants, err)
		}
	})
}

// A grant that is given after another was revoked has a new number, so that a repeated order revokes nothing else.
func TestNumbersOfGrantsAreNotUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newShellWorld(t, nil, look(1), modeltest.Say("Clean."), look(2), modeltest.Say("Well."), look(3), modeltest.Say("Well."))
		w.says("alice", "look")
		w.says("alice", "allow git status for 30 minutes")
		w.says("alice", "/approvals revoke g1")
		w.says("alice", "again")
		w.says("alice", "allow git status for 30 minutes")
		w.executed(2)
		w.says("alice", "/approvals revoke g1")
		w.says("alice", "again")
		w.executed(3)
		w.says("alice", "/approvals")
		if !strings.Contains(w.last(), "g2: for") || strings.Contains(w.last(), "g1: for") {
			t.Errorf("the list is %q", w.last())
		}
	})
}

// While the store cannot write, nothing is revoked and nobody is told that it was. Repeating the order later revokes
// it.
func TestRevokingThatCannotBeSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &sometimes{}
		w := newShellWorld(t, nil, look(1), modeltest.Say("Clean."), look(2), modeltest.Say("Well."))
		disk.GrantStore = w.grants
		w.World = w.Again(func(o *actortest.Options) { o.Chat.Grants = disk })
		w.Wait()
		w.says("alice", "look")
		w.says("alice", "allow git status for 30 minutes")
		w.executed(1)
		disk.full = true
		in := w.Inbound(alice, "alice", "/approvals revoke g1")
		if r := w.Port.Accept(t.Context(), inbounds(in))[0]; r.Err == nil {
			t.Errorf("answered %+v", r)
		}
		w.Wait()
		disk.full = false
		if r := w.Port.Accept(t.Context(), inbounds(in))[0]; r.Err != nil || r.Duplicate {
			t.Errorf("answered %+v", r)
		}
		w.Wait()
		w.says("alice", "again")
		w.executed(1)
		w.wantOpen(1)
	})
}

// sometimes is a store that may fail. It is changed only while no operation is in progress.
type sometimes struct {
	persistence.GrantStore

	full bool
}

func (s *sometimes) SaveGrants(ctx context.Context, key messages.ChatKey, grants []permission.Grant) error {
	if s.full {
		return errors.New("no space left on device")
	}
	return s.GrantStore.SaveGrants(ctx, key, grants)
}
