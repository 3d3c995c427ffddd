package actors_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

const alice = messages.ChatKey("telegram-chat-1")

func TestAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := modeltest.NewScript(modeltest.Say("Hello ", "Alice."))
		w := actortest.New(t, actortest.Options{Store: newStore(t), Model: script})
		w.Say(alice, "alice", "hi")
		w.Wait()
		if diff := cmp.Diff([]string{"Hello Alice."}, w.Platform.Texts(alice)); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
		v := w.View(alice)
		if v.Counts.Accepted != 1 || v.Counts.Fates["answered"] != 1 || v.Counts.Open != 0 || v.Running {
			t.Errorf("counts %+v, running %v", v.Counts, v.Running)
		}
		if got := len(v.Messages); got != 2 {
			t.Fatalf("%d messages in the history, want 2", got)
		}
		if got := journal.Text(v.Messages[1]); got != "Hello Alice." {
			t.Errorf("history ends with %q", got)
		}
	})
}

func TestDuplicateIsDroppedAcrossRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := modeltest.NewScript(modeltest.Say("one"), modeltest.Say("two"))
		w := actortest.New(t, actortest.Options{Store: newStore(t), Model: script})
		in := w.Inbound(alice, "alice", "hi")
		w.Port.Accept(t.Context(), inbounds(in))
		w.Wait()
		again := w.Port.Accept(t.Context(), inbounds(in))[0]
		w = w.Again(nil)
		after := w.Port.Accept(t.Context(), inbounds(in))[0]
		w.Wait()
		if !again.Duplicate || !after.Duplicate {
			t.Errorf("duplicate before restart %v, after %v", again.Duplicate, after.Duplicate)
		}
		if got := w.Platform.Texts(alice); len(got) != 1 {
			t.Errorf("sent %q, want one answer", got)
		}
	})
}

func TestMergeDuringTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		slow := actortest.Slow("look", release)
		script := modeltest.NewScript(
			modeltest.CallTools(modeltest.Call{ID: "c1", Name: "look", Input: `{}`}),
			modeltest.Say("done"),
		)
		w := actortest.New(t, actortest.Options{Store: newStore(t), Model: script, Tools: actortest.Tools(slow)})
		w.Say(alice, "alice", "first")
		w.Wait()
		w.Say(alice, "alice", "second")
		w.Say(alice, "bob", "third")
		w.Wait()
		close(release)
		w.Wait()
		v := w.View(alice)
		var roles []string
		for _, m := range v.Messages {
			roles = append(roles, string(m.Role)+":"+journal.Text(m))
		}
		want := []string{"user:first", "assistant:", "user:second", "user:third", "assistant:done"}
		if diff := cmp.Diff(want, roles); diff != "" {
			t.Errorf("history (-want +got):\n%s", diff)
		}
		if v.Counts.Fates["merged"] != 2 || v.Counts.Fates["answered"] != 1 || v.Counts.Accepted != 3 {
			t.Errorf("counts %+v", v.Counts)
		}
		for i, req := range script.Requests() {
			if err := modeltest.Strict(req); err != nil {
				t.Errorf("request %d: %v", i, err)
			}
		}
	})
}

func TestFollowingTurnStartsNextRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		script := modeltest.NewScript(modeltest.Held(release, modeltest.Say("one")), modeltest.Say("two"))
		w := actortest.New(t, actortest.Options{Store: newStore(t), Model: script})
		w.Say(alice, "alice", "first")
		w.Wait()
		w.Say(alice, "alice", "second")
		close(release)
		w.Wait()
		if diff := cmp.Diff([]string{"one", "two"}, w.Platform.Texts(alice)); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
	})
}

func TestStopIsDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := modeltest.NewScript(modeltest.Step{Stall: true}, modeltest.Say("fresh"))
		w := actortest.New(t, actortest.Options{Store: newStore(t), Model: script})
		w.Say(alice, "alice", "work")
		w.Wait()
		w.Say(alice, "alice", "/stop")
		w.Wait()
		w = w.Again(nil)
		w.Wait()
		v := w.View(alice)
		if v.Running || v.Counts.Fates["stopped"] != 1 || v.Counts.Fates["answered"] != 1 || v.Counts.Open != 0 {
			t.Errorf("after a stop and a crash: running %v, %+v", v.Running, v.Counts)
		}
		w.Say(alice, "alice", "again")
		w.Wait()
		if got := strings.Join(w.Platform.Texts(alice), "|"); got != "Stopped.|fresh" {
			t.Errorf("sent %q", got)
		}
	})
}

func TestCrashDuringModelCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := modeltest.NewScript(modeltest.Step{Stall: true}, modeltest.Say("after the crash"))
		w := actortest.New(t, actortest.Options{Store: newStore(t), Model: script})
		w.Say(alice, "alice", "work")
		w.Wait()
		w = w.Again(nil)
		w.Wait()
		if diff := cmp.Diff([]string{"after the crash"}, w.Platform.Texts(alice)); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
		if v := w.View(alice); v.Counts.Fates["answered"] != 1 || v.Counts.Accepted != 1 {
			t.Errorf("counts %+v", v.Counts)
		}
	})
}
