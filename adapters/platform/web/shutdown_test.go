package web_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// Browsers connect ahead of time. A shutdown does not wait for unused connections.
func TestShutdownWaitsForNobodyWhoAskedNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := web.New(web.Options{Live: platformtest.NewLive(), Open: true})
		stdtest.Must(t, err)
		ctx, stop := context.WithCancel(t.Context())
		pipe, ended := faketest.NewPipe(t), make(chan error, 1)
		go func() { ended <- p.Serve(ctx, pipe) }()
		for range 3 {
			conn, err := pipe.Dial(ctx, "tcp", "web.invalid:80")
			stdtest.Must(t, err)
			defer conn.Close() //nolint:errcheck // the server has closed it
		}
		synctest.Wait()
		began := time.Now() // simulated: independent of the machine's speed
		stop()
		if err := <-ended; err != nil {
			t.Errorf("ended with %v", err)
		}
		if took := time.Since(began); took > 500*time.Millisecond {
			t.Errorf("the server waited %v for connections that nobody used", took)
		}
	})
}
