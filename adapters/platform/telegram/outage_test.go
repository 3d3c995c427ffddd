package telegram_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestIO13Outage breaks the network in all ways, over real sockets. What people wrote meanwhile
// arrives in order afterwards. With SOAK the outage lasts ten minutes and the recovery at most ten
// seconds.
func TestIO13Outage(t *testing.T) {
	for _, c := range []struct {
		name  string
		line  faketest.Line
		blink bool // recovers before anybody notices; open connections stay dead
	}{
		{"reset", faketest.Breaking, false},
		{"silent", faketest.Silent, false},
		{"half-open", faketest.Silent, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var proxy *faketest.Proxy
			b := newBench(t, func(o *telegram.Options) {
				proxy = faketest.NewProxy(t, strings.TrimPrefix(o.BaseURL, "http://"))
				o.BaseURL, o.HTTPClient = "http://"+proxy.Address(), nil
			})
			host := platformtest.NewHost()
			b.receive(t, host)
			want := []string{"before"}
			b.api.Say(private, owner, want[0], nil)
			host.AwaitAccepted(t, 1)
			b.api.AwaitPoller(t)
			proxy.Set(c.line)
			if !c.blink {
				host.Await(t, "the outage to be noticed", func() bool {
					s := host.States()
					return !s[len(s)-1].Up
				})
				if os.Getenv("SOAK") != "" {
					<-time.After(10 * time.Minute)
				}
			}
			for i := range 5 {
				want = append(want, fmt.Sprint("meanwhile ", i))
				b.api.Say(private, owner, want[i+1], nil)
			}
			proxy.Set(faketest.Passing)
			back := time.Now()
			got := texts(host.AwaitAccepted(t, len(want)))
			took := time.Since(back)
			stdtest.Diff(t, "", want, got)
			t.Logf("all is there %v after the return", took.Round(time.Millisecond))
			if os.Getenv("SOAK") != "" && took > 10*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}
