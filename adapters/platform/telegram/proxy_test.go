package telegram_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram"
)

// All traffic uses the configured proxy: received messages, sent texts and files.
func TestProxy(t *testing.T) {
	var asked atomic.Int64
	var b *bench
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Host != "bot.invalid" { // the form of a request to a proxy
			http.Error(w, "not for me", http.StatusBadGateway)
			return
		}
		asked.Add(1)
		b.api.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		proxy.CloseClientConnections()
		proxy.Close()
	})
	b = newBench(t, func(o *telegram.Options) { o.BaseURL, o.Proxy, o.HTTPClient = "http://bot.invalid", proxy.URL, nil })
	host := platformtest.NewHost()
	b.receive(t, host)
	b.api.Say(private, 7, "hello", nil)
	host.AwaitAccepted(t, 1)
	if _, err := b.bot.Send(t.Context(), target(private, 0), platform.Part{Text: "hi"}); err != nil {
		t.Error(err)
	}
	if _, err := b.bot.Send(t.Context(), target(private, 0), platform.Part{Attachment: &platform.Attachment{FileID: "f", Kind: "document"}}); err != nil {
		t.Error(err)
	}
	if asked.Load() < 4 {
		t.Errorf("%d requests went through the proxy", asked.Load())
	}
	_, err := telegram.New(telegram.Options{Token: func() string { return "1:x" }, Proxy: "nowhere", BotOptions: platform.BotOptions{Access: "open"}})
	if err == nil {
		t.Error("any word is taken for a proxy")
	}
}
