package host

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// The model searches its own chat. It finds earlier messages, but not the current question and nothing of other chats.
// Before that the index is not opened.
func TestPI6HistorySearchOfAHost(t *testing.T) {
	p := newProject(t)
	p.api.AddChat(telegramtest.Chat{ID: 2, Type: "private"})
	send := func(id, text string) modeltest.Step {
		return modeltest.CallTools(modeltest.Call{ID: id, Name: "chat_send", Input: `{"text":"` + text + `","final":true}`})
	}
	script := modeltest.NewScript(
		send("c1", "noted by one"), send("c2", "noted by two"),
		modeltest.CallTools(modeltest.Call{ID: "c3", Name: "chat_history_search", Input: `{"query":"marigold canary"}`}),
		send("c4", "it was in May"),
	)
	h := p.start(t, Options{Model: script}, telegramFlags(p))
	index := filepath.Join(p.dir, ".ship", "index")
	p.api.Say(1, 1, "I planted the marigold in May", nil)
	p.api.Await(t, "the first answer", func() bool { return len(p.api.Sent(1)) == 1 })
	p.api.Say(2, 2, "the marigold of canary-words died", nil)
	p.api.Await(t, "the second answer", func() bool { return len(p.api.Sent(2)) == 1 })
	if _, err := os.Stat(index); !os.IsNotExist(err) {
		t.Errorf("the index is there before a search: %v", err)
	}
	p.leave(t, h, 1) // the conversation no longer shows it
	p.api.Say(1, 1, "when was it with the marigold?", nil)
	p.api.Await(t, "the third answer", func() bool { return len(p.api.Sent(1)) == 3 })
	if _, err := os.Stat(index); err != nil {
		t.Errorf("the index after a search: %v", err)
	}
	requests := script.Requests()
	if len(requests) != 4 {
		t.Fatalf("%d requests, want 4", len(requests))
	}
	list := requests[3].Messages
	result, err := json.Marshal(list[len(list)-1])
	stdtest.Must(t, err)
	text := string(result)
	if !strings.Contains(text, "I planted the marigold in May") || strings.Contains(text, "canary-words") || strings.Contains(text, "when was it") {
		t.Errorf("the model read %s", text)
	}
	if out := p.log.String(); strings.Contains(out, "marigold") {
		t.Error("the log holds what was searched for")
	}

	// People who run the host see all chats.
	lines, err := h.desk().Search(t.Context(), query.Asked{Words: "canary-words"})
	if err != nil || len(lines) != 1 || lines[0].ChatKey != "telegram-chat-2" {
		t.Errorf("search of all chats: %+v, %v", lines, err)
	}
}
