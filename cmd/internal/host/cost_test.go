package host

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"time"
)

// light is a Telegram and a model that allocate little and keep nothing. Unlike the strict fakes
// they check nothing.
type light struct {
	updates chan string
	sent    chan struct{}
}

func (l *light) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // an error shows as a missing answer
	switch path.Base(r.URL.Path) {
	case "getMe":
		l.reply(w, `{"id":1,"is_bot":true,"first_name":"Bot","username":"bot"}`)
	case "getUpdates":
		select {
		case update := <-l.updates:
			l.reply(w, update)
		case <-r.Context().Done():
		}
	case "sendMessage":
		l.reply(w, `{"message_id":1,"date":1,"chat":{"id":1,"type":"private"},"text":"An answer."}`)
		l.sent <- struct{}{}
	case "completions":
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"An answer.\"}}]}\n\n"+
			"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	default:
		l.reply(w, "true")
	}
}

func (*light) reply(w http.ResponseWriter, result string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"ok":true,"result":`+result+`}`)
}

// turn says something in a chat and waits for the answer.
func (l *light) turn(t *testing.T, n, chat int) {
	t.Helper()
	update := fmt.Sprintf(`[{"update_id":%d,"message":{"message_id":%d,"date":1700000000,"text":"A question.",`+
		`"chat":{"id":%d,"type":"private","first_name":"A"},"from":{"id":%d,"first_name":"A"}}}]`, n, n, chat, chat)
	late := time.After(time.Minute)
	select {
	case l.updates <- update:
	case <-late:
		t.Fatalf("turn %d was not fetched", n)
	}
	select {
	case <-l.sent:
	case <-late:
		t.Fatalf("turn %d was not answered", n)
	}
}

// TestTurnAllocatesLittle counts what a plain turn of a whole host allocates: one question on
// Telegram, one answer of a model over HTTP, no tools. The fakes' ends of the calls are in the
// figures. The median of single turns ignores work in the background. Lower the limits when a
// turn allocates less. With the race detector the figures are only logged; `make test` runs this
// without it too.
func TestTurnAllocatesLittle(t *testing.T) {
	const mostObjects, mostBytes = 1_005, 105_500 // within 5 %
	l := &light{updates: make(chan string), sent: make(chan struct{}, 1)}
	server := httptest.NewServer(l)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	p := newProject(t)
	p.start(t, Options{}, merged(telegramFlags(p), map[string]string{
		"adapters.telegram.baseUrl": server.URL, "adapters.telegram.egress": "direct", "llm.provider": "custom", "llm.baseUrl": server.URL + "/v1",
	}))
	const chats, turns = 100, 5
	var objects, bytes []uint64
	for n := range chats * turns {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		l.turn(t, n+1, 1+n%chats)
		runtime.ReadMemStats(&after)
		if n >= chats { // the first turn of a chat makes its files
			objects, bytes = append(objects, after.Mallocs-before.Mallocs), append(bytes, after.TotalAlloc-before.TotalAlloc)
		}
	}
	slices.Sort(objects)
	slices.Sort(bytes)
	o, b := objects[len(objects)/2], bytes[len(bytes)/2]
	t.Logf("a turn allocates %d objects of %d bytes", o, b)
	info, _ := debug.ReadBuildInfo()
	racing := slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
	if !racing && (20*o > 21*mostObjects || 20*b > 21*mostBytes) {
		t.Errorf("want at most %d objects of %d bytes within 5 %%", mostObjects, mostBytes)
	}
}
