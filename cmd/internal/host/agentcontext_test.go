package host

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestPI6AgentContextOfAHost: a run reads the results of earlier runs of its own chat, as a tool
// result and never as system text. It reads nothing of another chat. The same holds after a restart.
func TestPI6AgentContextOfAHost(t *testing.T) {
	p := newProject(t)
	p.api.AddChat(telegramtest.Chat{ID: 2, Type: "private"})
	send := func(id, text string) modeltest.Step {
		return modeltest.CallTools(modeltest.Call{ID: id, Name: "chat_send", Input: `{"text":"` + text + `","final":true}`})
	}
	script := modeltest.NewScript(
		send("c1", "planted in May"), send("c2", "canary-words noted"),
		modeltest.CallTools(modeltest.Call{ID: "c3", Name: "agent_load_context", Input: `{}`}), send("c4", "as I said"),
	)
	h := p.prepare(t, Options{Model: script}, telegramFlags(p))
	stdtest.Must(t, h.Start(t.Context()))
	p.api.Say(1, 1, "when did I plant it?", nil)
	p.api.Await(t, "the first answer", func() bool { return len(p.api.Sent(1)) == 1 })
	p.api.Say(2, 2, "keep the canary-words", nil)
	p.api.Await(t, "the second answer", func() bool { return len(p.api.Sent(2)) == 1 })
	stdtest.Must(t, h.Stop(t.Context()))
	p.start(t, Options{Model: script}, telegramFlags(p))
	p.api.Say(1, 1, "/new", nil) // the conversation no longer shows it
	p.api.Await(t, "a clean conversation", func() bool { return len(p.api.Sent(1)) == 2 })
	p.api.Say(1, 1, "what did you say?", nil)
	p.api.Await(t, "the third answer", func() bool { return len(p.api.Sent(1)) == 3 })
	requests := script.Requests()
	if len(requests) != 4 {
		t.Fatalf("%d requests, want 4", len(requests))
	}
	last := requests[3]
	result, err := json.Marshal(last.Messages[len(last.Messages)-1])
	stdtest.Must(t, err)
	for _, want := range []string{"when did I plant it?", "planted in May", "for reference"} {
		if !strings.Contains(string(result), want) {
			t.Errorf("the result has no %q: %s", want, result)
		}
	}
	if strings.Contains(string(result), "canary") {
		t.Errorf("the result holds words of another chat: %s", result)
	}
	if last.System != requests[2].System || strings.Contains(last.System, "planted in May") {
		t.Error("what was recalled is in the system text")
	}
}
