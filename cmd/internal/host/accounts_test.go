package host

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// Two bots of one host have separate chats, even with the same person.
func TestTelegramAccounts(t *testing.T) {
	const second = "4343:second"
	p := newProject(t)
	other := telegramtest.NewAPI(t)
	other.AddChat(telegramtest.Chat{ID: 1, Type: "private"})
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/bot"+second+"/") {
			p.api.ServeHTTP(w, r)
			return
		}
		r.URL.Path = strings.Replace(r.URL.Path, second, other.Token(), 1)
		other.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		service.CloseClientConnections()
		service.Close()
	})
	stdtest.Write(t, filepath.Join(p.dir, "ship.json"), `{"adapters":{"telegram":{"accounts":{"work":{"botToken":"`+second+`"}}}}}`)
	script := modeltest.NewScript()
	script.Otherwise = &modeltest.Step{Text: []string{"answered"}}
	flags := telegramFlags(p)
	flags["adapters.telegram.baseUrl"] = service.URL
	h := p.start(t, Options{Model: script}, flags)
	p.api.Say(1, 1, "to the first", nil)
	p.api.Await(t, "the first bot's answer", func() bool { return len(p.api.Sent(1)) == 1 })
	other.Say(1, 1, "to the second", nil)
	other.Await(t, "the second bot's answer", func() bool { return len(other.Sent(1)) == 1 })
	if n := len(p.api.Sent(1)); n != 1 {
		t.Errorf("the first bot sent %d messages", n)
	}
	for _, ps := range h.Status(t.Context()).Platforms {
		if strings.HasPrefix(ps.Name, "telegram") && !ps.Up {
			t.Errorf("%+v is not up", ps)
		}
	}
	for _, key := range []string{"telegram-chat-1", "telegram@work-chat-1"} {
		found := false
		for _, name := range stdtest.Names(t, filepath.Join(p.dir, ".ship", "chat")) {
			found = found || strings.HasPrefix(name, key+"/") || strings.HasPrefix(name, strings.ReplaceAll(key, "@", "%40")+"/") || strings.HasPrefix(name, strings.ReplaceAll(key, "@", "+40")+"/")
		}
		if !found {
			t.Errorf("no chat %s in %q", key, stdtest.Names(t, filepath.Join(p.dir, ".ship", "chat")))
		}
	}
	if requests := script.Requests(); len(requests) != 2 || strings.Contains(fmt.Sprint(requests[1].Messages), "to the first") {
		t.Errorf("the second bot's chat is not its own, in %d requests", len(requests))
	}
}
