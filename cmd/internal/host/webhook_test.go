package host

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
)

// TestIO5WebhookOfAStalledModel: two hundred events over real sockets and the
// real store, while the model never answers. With SOAK the 99th of a hundred
// answers comes within half a second.
func TestIO5WebhookOfAStalledModel(t *testing.T) {
	const events = 200
	p := newProject(t)
	script := modeltest.NewScript()
	release := make(chan struct{})
	defer close(release) // lets the host stop without waiting
	stalled := modeltest.Held(release, modeltest.Say("late"))
	script.Otherwise = &stalled
	flags := telegramFlags(p)
	flags["adapters.telegram.webhook.url"], flags["adapters.telegram.webhook.listen"] = "https://bot.example/hook", "127.0.0.1:0"
	address := p.start(t, Options{Model: script}, flags).hookAddr
	p.api.Await(t, "the webhook", func() bool { return p.api.Webhook() != "" })
	for c := range int64(events) {
		p.api.AddChat(telegramtest.Chat{ID: c + 1, Type: "private"})
		p.api.Say(c+1, 7, fmt.Sprint("event ", c), nil)
	}
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 40, MaxIdleConnsPerHost: 40}}
	defer client.CloseIdleConnections()
	type ack struct {
		code int
		took time.Duration
	}
	acks := make(chan ack, events)
	slots := make(chan struct{}, 40) // as many as the service makes
	for _, body := range p.api.Waiting() {
		slots <- struct{}{}
		go func() {
			defer func() { <-slots }()
			began := time.Now()
			code, err := p.api.Bring(t.Context(), client, "http://"+address+"/hook", body)
			if err != nil {
				t.Error(err)
			}
			acks <- ack{code, time.Since(began)}
		}()
	}
	var times []time.Duration
	for range events {
		a := <-acks
		if a.code != http.StatusOK {
			t.Errorf("answered %d", a.code)
		}
		times = append(times, a.took)
	}
	slices.Sort(times)
	p99 := times[events*99/100]
	t.Logf("soak: row=IO5 events=%d p50=%v p99=%v", events, times[events/2], p99)
	if os.Getenv("SOAK") != "" && p99 > 500*time.Millisecond {
		t.Errorf("p99 is %v", p99)
	}
	if n := len(p.api.Calls("getUpdates")); n != 0 {
		t.Errorf("polled %d times beside the webhook", n)
	}
}
