package actors_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// Readers without an outbox get the reason if there is no answer.
func TestWatchersHearOfAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &actortest.Platform{} // the reader fetches the history
		w := actortest.New(t, actortest.Options{Store: newStore(t), Platform: p, Model: modeltest.NewScript(modeltest.FailWith(model.ReasonAuth, false))})
		frames, err := w.Port.Watch(t.Context(), alice)
		stdtest.Must(t, err)
		w.Say(alice, "alice", "hi")
		w.Wait()
		var words, result string
		for len(frames) > 0 {
			f := <-frames
			for _, c := range f.Chunks {
				if e, ok := c.(uistream.Error); ok {
					words = e.ErrorText
				}
			}
			result += f.Result
		}
		if !strings.Contains(words, "llm.apiKey") || result != "failed" {
			t.Errorf("readers heard %q, result %q", words, result)
		}
	})
}

// The number of undelivered rows and of steps is counted, and reduced again.
func TestOutboxAndStepsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &actortest.Platform{Caps: platform.Capabilities{Outbox: true}}
		p.Fail = func(string, int) error {
			return &platform.Error{Reason: platform.SendNetwork, Retryable: true, Err: errors.New("away")}
		}
		w := actortest.New(t, actortest.Options{Store: newStore(t), Platform: p, Model: modeltest.NewScript(modeltest.Say("a"), modeltest.Say("b"))})
		w.Say(alice, "alice", "hi")
		w.Wait()
		w.Say(alice, "alice", "ho")
		w.Wait()
		if got := w.Metric("sma_outbox_pending"); got != 2 {
			t.Errorf("%v rows are owed, want 2", got)
		}
		p.Heal()
		<-time.After(time.Minute)
		if owed, runs := w.Metric("sma_outbox_pending"), w.Metric("sma_run_steps"); owed != 0 || runs != 2 {
			t.Errorf("%v rows are owed, want none; %v runs were counted, want 2", owed, runs)
		}
	})
}
