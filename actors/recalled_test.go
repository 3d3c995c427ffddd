package actors_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// recalled is the withdrawal of a message.
func recalled(of platform.Inbound) platform.Inbound {
	return platform.Inbound{
		ChatKey: of.ChatKey, IngressID: messages.RecallID(of.IngressID), RequestID: "back-" + of.IngressID, Kind: platform.KindRecalled,
		Chat: of.Chat, MessageID: of.MessageID, EditOf: of.MessageID, Time: of.Time, Gate: platform.Gate{Open: true, Reason: "taken_back"},
	}
}

// A waiting message that is recalled ends as stopped and is never read. If it was read already, nobody is informed. A
// repeated recall changes nothing.
func TestRecalledDuringARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		script := modeltest.NewScript(modeltest.CallTools(modeltest.Call{ID: "c1", Name: "look", Input: "{}"}), modeltest.Say("Done."))
		w := actortest.New(t, actortest.Options{Store: newStore(t), Model: script, Tools: actortest.Tools(actortest.Slow("look", gate))})
		read, before, behind := w.Inbound(alice, "alice", "look"), w.Inbound(alice, "alice", "before"), w.Inbound(alice, "alice", "behind")
		accept(t, w, read)
		accept(t, w, before, behind, recalled(before), recalled(before), recalled(read))
		close(gate)
		w.Wait()
		v := w.View(alice)
		stdtest.Diff(t, "turns", []string{"look", "behind"}, turns(v))
		stdtest.Diff(t, "fates", map[string]int64{"answered": 1, "merged": 1, "stopped": 1, "ignored": 2}, v.Counts.Fates)
		atRest(t, w, 5)
	})
}

// A message that waits for its file, alone or with others, is not read after it was recalled, and the file is not
// waited for. This also holds after a crash.
func TestRecalledWhileItWaitsForItsFile(t *testing.T) {
	for name, x := range map[string]struct {
		with bool // another message waits behind it
		want []string
	}{
		"alone": {false, []string{"[taken back]", "later"}}, "with others": {true, []string{"[taken back]", "and?", "later"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, script := &post{}, modeltest.NewScript(modeltest.Say("One."), modeltest.Say("Two."))
				w := fetchWorld(t, newStore(t), p, script)
				voice := withFile(w, "", "a", "")
				accept(t, w, voice)
				accepted := int64(3)
				if x.with {
					accept(t, w, w.Inbound(alice, "alice", "and?"))
					accepted++
				}
				if n := len(script.Requests()); n != 0 {
					t.Fatalf("%d requests before the file is there", n)
				}
				accept(t, w, recalled(voice))
				w = w.Again(nil)
				accept(t, w, recalled(voice), voice)
				accept(t, w, w.Inbound(alice, "alice", "later"))
				stdtest.Diff(t, "turns", x.want, turns(w.View(alice)))
				atRest(t, w, accepted)
			})
		})
	}
}

// A recall may arrive before the message itself, which then is not read.
func TestRecalledBeforeItArrived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := modeltest.NewScript(modeltest.Say("Hello."))
		w := actortest.New(t, actortest.Options{Store: newStore(t), Model: script})
		late := w.Inbound(alice, "alice", "late")
		accept(t, w, recalled(late))
		w = w.Again(nil)
		accept(t, w, late)
		accept(t, w, late)
		<-time.After(time.Minute)
		if n := len(script.Requests()); n != 0 {
			t.Errorf("%d requests", n)
		}
		v := w.View(alice)
		stdtest.Diff(t, "fates", map[string]int64{"stopped": 1, "ignored": 1}, v.Counts.Fates)
		atRest(t, w, 2)
	})
}
