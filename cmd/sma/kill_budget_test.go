package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
)

// TestKillKeepsWhatWasSpent kills the process while the model answers. The call counts with the most that it could use,
// so that the run, which continues after the start, is refused by the limit of the chat, and people read that.
func TestKillKeepsWhatWasSpent(t *testing.T) {
	never := modeltest.Held(t.Context().Done(), modeltest.Say("never"))
	w := newKillWorld(t, killable(t), 1, "direct", modeltest.NewScript(never, modeltest.Say("more than it may")), rand.New(rand.NewPCG(1, 1)))
	w.configure(t, "timezone", fmt.Sprintf("Etc/GMT%+d", time.Now().UTC().Hour()-12)) // midnight is far away
	w.configure(t, "budget", map[string]any{"chatTokensPerDay": 900})
	w.configure(t, "llm", map[string]any{
		"provider": "custom", "model": "fake", "baseUrl": w.model.URL, "apiKey": "sk-test", "maxOutputTokens": 1000,
	})
	w.start(t)
	w.say(1, "hello")
	faketest.Poll(t, "the request", func() bool { return len(w.model.Bodies()) > 0 })
	w.kill()
	w.bury(t)
	var out struct {
		Usage []struct {
			Calls                     int
			InputTokens, OutputTokens int64
		}
	}
	w.query(t, &out, "usage", "--json")
	if len(out.Usage) != 1 || out.Usage[0].Calls != 1 || out.Usage[0].InputTokens < 100 || out.Usage[0].OutputTokens != 1000 {
		t.Errorf("after the kill: %+v", out.Usage)
	}
	w.start(t)
	faketest.Poll(t, "an answer", func() bool { return len(w.api.Sent(1)) > 0 })
	if got := w.api.Sent(1)[0].Text; !strings.HasPrefix(got, "I cannot answer now: this chat has used what it may use of my model in a day.") {
		t.Errorf("people read %q", got)
	}
	w.stop(t)
	if n := len(w.model.Bodies()); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
}
