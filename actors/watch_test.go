package actors_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// A watch that was opened before a message misses nothing of its answer, however
// fast that comes.
func TestWatchSeesTheWholeAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := actortest.New(t, actortest.Options{Store: newStore(t), Model: modeltest.NewScript(modeltest.Say("quick"))})
		frames, err := w.Port.Watch(t.Context(), alice)
		if err != nil {
			t.Fatal(err)
		}
		turn := w.Say(alice, "alice", "hi").TurnID
		w.Wait()
		var kinds []platform.FrameKind
		for len(frames) > 0 {
			f := <-frames
			kinds = append(kinds, f.Kind)
			if f.Kind == platform.FrameStart && !cmp.Equal(f.Sees, []string{turn}) {
				t.Errorf("the message starts with %q in sight, want %q", f.Sees, turn)
			}
		}
		if len(kinds) < 3 || kinds[0] != platform.FrameStart || kinds[len(kinds)-1] != platform.FrameEnd {
			t.Errorf("frames %v", kinds)
		}
	})
}

// A reader that joins in the middle gets what was before it, then the rest.
func TestWatchFromTheMiddle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		script := modeltest.NewScript(modeltest.Step{Text: []string{"first half"}, WaitAfterText: release})
		w := actortest.New(t, actortest.Options{Store: newStore(t), Model: script})
		w.Say(alice, "alice", "hi")
		w.Wait()
		frames, err := w.Port.Watch(t.Context(), alice)
		if err != nil {
			t.Fatal(err)
		}
		w.Wait()
		first := <-frames
		if first.Kind != platform.FrameStart || !first.Replay || len(first.Chunks) == 0 {
			t.Errorf("first frame %+v", first)
		}
		close(release)
		w.Wait()
		last := platform.Frame{}
		for len(frames) > 0 {
			last = <-frames
		}
		if last.Kind != platform.FrameEnd || !last.Last || last.Result != "done" {
			t.Errorf("last frame %+v", last)
		}
	})
}

// Readers without an outbox hear why there is no answer.
func TestWatchersHearOfAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &actortest.Platform{} // the reader fetches the history
		w := actortest.New(t, actortest.Options{Store: newStore(t), Platform: p, Model: modeltest.NewScript(modeltest.FailWith(model.ReasonAuth, false))})
		frames, err := w.Port.Watch(t.Context(), alice)
		if err != nil {
			t.Fatal(err)
		}
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

// What is owed and how many steps runs take is counted, and counted back.
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
