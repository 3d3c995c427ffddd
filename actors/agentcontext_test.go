package actors_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/actors/chat"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/tooltest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/runlog"
)

// Each run leaves one record once its end is durable, with the questions, including those of merged turns, the calls
// with their failures, and the answer. A failed run leaves one too; a chat without a run leaves none.
func TestRunEntries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		script := modeltest.NewScript(
			modeltest.Step{Text: []string{"Looking.\n\n"}, Calls: []modeltest.Call{
				{ID: "c1", Name: "slow", Input: `{"q":"` + strings.Repeat("天", 200) + `"}`}, {ID: "c2", Name: "broken", Input: `{}`},
			}},
			modeltest.CallTools(modeltest.Call{ID: "c3", Name: "chat_send", Input: `{"text":"It is\nsunny.","final":true}`}),
			modeltest.Fail(&model.Error{Reason: "auth"}),
		)
		var got []runlog.Entry
		w := actortest.New(t, actortest.Options{
			Store: newStore(t), Model: script, Platform: &actortest.Platform{Caps: platform.Capabilities{Outbox: true, ToolEgress: true}},
			Tools: actortest.Tools(actortest.Slow("slow", hold), actortest.Send(), tooltest.New("broken", func(context.Context, tool.Call) (tool.Result, error) {
				return tool.Result{}, errors.New("no such thing")
			})),
			Chat: chat.Options{RunEnded: func(key messages.ChatKey, e runlog.Entry) {
				if key != alice {
					t.Errorf("an entry of %s", key)
				}
				got = append(got, e)
			}},
		})
		w.Say(alice, "alice", "how is the  weather?")
		w.Wait()
		w.Say(alice, "alice", "in Rome")
		w.Wait()
		if len(got) != 0 {
			t.Errorf("a run under way left %+v", got)
		}
		close(hold)
		w.Wait()
		w.Say(alice, "alice", "and tomorrow?")
		w.Wait()
		want := []runlog.Entry{
			{
				Kind: runlog.KindRun, Result: journal.ResultDone, Request: "how is the weather? / in Rome", Answer: "Looking. / It is sunny.",
				Calls: []runlog.Call{
					{Name: "slow", Input: `{"q":"` + strings.Repeat("天", 114) + "…"}, {Name: "broken", Input: "{}", Error: "no such thing"}, {Name: "chat_send"},
				},
				Failures: []string{"broken: no such thing"},
			},
			{Kind: runlog.KindRun, Result: journal.ResultFailed, Request: "and tomorrow?", Failures: []string{"failed: auth"}},
		}
		stdtest.Diff(t, "entries", want, got, cmpopts.IgnoreFields(runlog.Entry{}, "TS", "RunID"))
		for _, e := range got {
			if e.RunID == "" || e.TS == 0 {
				t.Errorf("an entry without a run or a time: %+v", e)
			}
		}
	})
}

// The record of a run is small, however much the run did.
func TestRunEntryBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("a long story ", 5000)
		var calls []modeltest.Call
		for i := range 30 {
			calls = append(calls, modeltest.Call{ID: string(rune('A' + i)), Name: "look", Input: `{"n":` + string(rune('0'+i%10)) + `,"s":"` + long + `"}`})
		}
		var got []runlog.Entry
		w := actortest.New(t, actortest.Options{
			Store: newStore(t), Model: modeltest.NewScript(modeltest.Step{Text: []string{long}, Calls: calls}, modeltest.Say(long)),
			Tools: actortest.Tools(tooltest.New("look", nil)),
			Chat:  chat.Options{RunEnded: func(_ messages.ChatKey, e runlog.Entry) { got = append(got, e) }},
		})
		w.Say(alice, "alice", long)
		w.Wait()
		if len(got) != 1 {
			t.Fatalf("%d entries, want 1", len(got))
		}
		b, err := json.Marshal(got[0])
		if err != nil || len(b) > 4000 || len(got[0].Calls)+got[0].More != 30 {
			t.Errorf("%d bytes for %d and %d calls, %v", len(b), len(got[0].Calls), got[0].More, err)
		}
	})
}
