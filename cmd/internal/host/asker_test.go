package host

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/shell"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// What follows the notice that a process has ended is asked for by who had it started, in their language, even if
// somebody else has written since.
func TestProcessNoticeKeepsItsAsker(t *testing.T) {
	for _, tt := range []struct {
		name, chat, person, id, addressed, other string
		want                                     []string
	}{
		{"the owner", "1", "ann", "1", "", "say ann 1 再见\n", []string{`sendMessage 1 html "#1：可以`, "✅ 批准"}},
		{"a member of a group", "-5", "bob", "2", "@sample_bot ", "say eve -5 @sample_bot 你好\n", []string{`sendMessage 1 html "#1：成员“Bob”在群“Friends”里的请求`, "✅ 批准"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			script := `show apart
set access paired
set permissions.exec.approvers ["owner"]
chat -5 supergroup Friends
model text 好的。
model text Hello.
pair ann 1
say ann -5 /allow
say ` + tt.person + " " + tt.chat + " " + tt.addressed + "请开始构建\n" + tt.other
			s := newScene(t)
			s.play(script)
			for _, answer := range []string{`call memory_upsert {"scope":"chat","text":"It ended."}`, "text 我等你的决定。"} {
				if _, err := s.do("model", answer); err != nil {
					t.Fatal(err)
				}
			}
			s.h.processEnded(t.Context(), shell.Ended{
				ID: "pabc", Command: "make", Exit: sandbox.Exit{Code: 2}, Took: time.Minute,
				Run: tool.Run{ChatKey: messages.ChatKey("telegram-chat-" + tt.chat), Asker: tool.Person{Platform: "telegram", ID: tt.id, Name: "Bob"}},
			})
			faketest.Poll(t, "the request", func() bool { return strings.Contains(s.show(script)["calls"], "✅ 批准") })
			for _, want := range tt.want {
				if got := s.show(script)["calls"]; !strings.Contains(got, want) {
					t.Errorf("%q is not in\n%s", want, got)
				}
			}
		})
	}
}

// A message that the page or a program sends while too many wait is refused, and is taken when it is sent again.
func TestRefusedMessageCanBeSentAgain(t *testing.T) {
	p := newProject(t)
	h := p.start(t, Options{}, map[string]string{"llm.provider": "demo", "context.chatQueue.maxQueued": "1"})
	const chat = "web-chat-x"
	post := func(id string, want int) {
		t.Helper()
		body := `{"id":"x","trigger":"submit-message","message":{"id":"` + id + `","role":"user","parts":[{"type":"text","text":"hello"}]}}`
		code, _, text := request(t, http.MethodPost, h.webAddr+"/api/chat", h.login.token.Reveal(), body, "Accept", "application/json", "Prefer", "respond-async")
		if code != want {
			t.Fatalf("the message %s is answered %d, want %d: %s", id, code, want, text)
		}
	}
	answered := func(n int64) {
		t.Helper()
		faketest.Poll(t, "the answers", func() bool {
			v, err := h.ports["web"].port.History(t.Context(), chat)
			return err == nil && !v.Running && v.Counts.Open == 0 && v.Counts.Accepted == n
		})
	}
	pause := func(paused bool) {
		t.Helper()
		if _, err := h.desk().Pause(t.Context(), query.PauseOrder{ChatKey: chat, Paused: paused}); err != nil {
			t.Fatal(err)
		}
	}
	post("a", http.StatusAccepted)
	answered(1)
	pause(true)
	post("b", http.StatusAccepted)
	post("c", http.StatusTooManyRequests)
	pause(false)
	answered(2)
	post("c", http.StatusAccepted)
	answered(3)
	view, err := h.ports["web"].port.History(t.Context(), chat)
	if err != nil || len(view.Messages) != 6 {
		t.Errorf("the history has %d messages, want three with their answers; %v", len(view.Messages), err)
	}
}

// In a room of the API the model reads who wrote which message.
func TestRoomOfTheAPITellsPeopleApart(t *testing.T) {
	p := newProject(t)
	stdtest.Write(t, filepath.Join(p.dir, "ship.json"), `{"adapters": {"api": {"enabled": true, "token": "`+apiToken+`"}}}`)
	script := modeltest.NewFunc(func(model.Request) []model.Event {
		return append(modeltest.TextEvents("read"), modeltest.Finish("stop"))
	})
	h := p.start(t, Options{Model: script}, map[string]string{"llm.model": "fake"})
	for _, body := range []string{`{"instructions":"I pay.","userId":"ann"}`, `{"instructions":"I do not.","userId":"bob"}`} {
		if code, _, text := request(t, http.MethodPost, h.webAddr+"/api/execute", apiToken, body); code != http.StatusOK {
			t.Fatalf("%s is answered %d: %s", body, code, text)
		}
	}
	all := script.Requests()
	raw, err := json.Marshal(all[len(all)-1].Messages)
	stdtest.Must(t, err)
	for _, want := range []string{`\"user\":\"ann\"`, `\"user\":\"bob\"`} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("%s is missing in %s", want, raw)
		}
	}
}
