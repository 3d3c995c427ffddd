package host

import (
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
)

// Whatever the number of chats, people and tools, and whatever names a model
// makes up: the scrape stays small, and names no chat and no text. SOAK makes it
// 10,000 chats.
func TestOV4SeriesAreBounded(t *testing.T) {
	chats := 60
	if os.Getenv("SOAK") != "" {
		chats = 10_000
	}
	p := newProject(t)
	h := p.start(t, Options{Model: modeltest.NewFunc(inventive)}, merged(telegramFlags(p), map[string]string{"adapters.web.enabled": "true", "limits.activeChats": "20000"}))
	const first, batch = 7_700_000, 20
	for chat := range int64(chats) {
		p.api.AddChat(telegramtest.Chat{ID: first + chat, Type: "private"})
		p.api.Say(first+chat, first+chat, fmt.Sprintf("canary-text-%d", chat), nil)
		if chat%batch == batch-1 {
			p.api.Await(t, "an answer in every chat", func() bool { return p.answered(first+chat-batch+1, batch) })
		}
	}
	for n := range 20 {
		getPage(t, h, fmt.Sprintf("/canary-route-%d", n))
	}
	_, text := get(t, "http://"+h.metricsAddr+"/metrics")
	series, names := 0, "" // without the values, which may contain any digits
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			series++
			line = line[:strings.LastIndex(line, " ")]
		}
		names += line + "\n"
	}
	t.Logf("soak: test=OV4 chats=%d series=%d", chats, series)
	if series > 300 {
		t.Errorf("%d series, want at most 300", series)
	}
	for _, never := range []string{"canary", "77000", "telegram-chat", p.api.Token()} {
		if strings.Contains(names, never) {
			t.Errorf("the scrape holds %q", never)
		}
	}
}

func merged(a, b map[string]string) map[string]string {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

func (p *project) answered(first int64, chats int) bool {
	for chat := range int64(chats) {
		if len(p.api.Sent(first+chat)) == 0 {
			return false
		}
	}
	return true
}

// inventive is a model that first calls every tool there is, and some that it
// made up, and then answers.
func inventive(req model.Request) []model.Event {
	last := req.Messages[len(req.Messages)-1]
	if last.Role != "user" {
		return append(modeltest.TextEvents("done"), modeltest.Finish("stop"))
	}
	calls := []modeltest.Call{}
	for n := range 5 {
		calls = append(calls, modeltest.Call{ID: fmt.Sprintf("x%d", n), Name: fmt.Sprintf("canary_tool_%d_%d", len(req.Messages), n), Input: `{}`})
	}
	for n, tool := range req.Tools {
		if tool.Name != "chat_send" {
			calls = append(calls, modeltest.Call{ID: fmt.Sprintf("t%d", n), Name: tool.Name, Input: `{"canary-input": 1}`})
		}
	}
	return append(modeltest.CallEvents(calls...), modeltest.Finish("tool-calls"))
}
