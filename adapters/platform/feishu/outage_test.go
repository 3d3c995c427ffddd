package feishu_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishutest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestIO13FeishuProxy puts a network between app and service that resets all connections, or keeps
// them open and dead. After it has recovered, the app reconnects, and what was said meanwhile
// arrives in order. With SOAK that takes at most ten seconds.
func TestIO13FeishuProxy(t *testing.T) {
	for _, line := range []faketest.Line{faketest.Breaking, faketest.Silent} {
		t.Run(string(line), func(t *testing.T) {
			api := feishutest.NewAPI(t)
			proxy := faketest.NewProxy(t, strings.TrimPrefix(api.URL(), "http://"))
			b := &bench{api: api, log: &platformtest.Log{}}
			api.AddChat(private, "p2p")
			b.make(t, true, func(o *feishu.Options) {
				o.BaseURL, o.PingEvery = "http://"+proxy.Address(), 200*time.Millisecond
			})
			host := platformtest.NewHost()
			b.receive(t, host)
			host.AwaitUp(t)
			want := []string{api.Say(private, owner, "before", nil)}
			host.AwaitAccepted(t, 1)
			api.Await(t, "it to be answered", func() bool { done, _, _ := api.Pushed(); return done == 1 })
			_, made := api.Links()
			proxy.Set(line)
			host.Await(t, "the outage to be noticed", func() bool {
				states := host.States()
				return !states[len(states)-1].Up
			})
			proxy.Set(faketest.Passing)
			back := time.Now()
			api.Await(t, "another connection", func() bool { _, n := api.Links(); return n > made })
			host.AwaitUp(t)
			took := time.Since(back)
			t.Logf("soak: row=IO13 platform=feishu line=%s back_after=%v", line, took)
			if os.Getenv("SOAK") != "" && took > 10*time.Second {
				t.Errorf("back after %v", took)
			}
			for i := range 3 {
				want = append(want, api.Say(private, owner, fmt.Sprint("after ", i), nil))
			}
			var got []string
			for _, in := range host.AwaitAccepted(t, len(want)) {
				got = append(got, in.MessageID)
			}
			stdtest.Diff(t, "taken", want, got)
		})
	}
}
