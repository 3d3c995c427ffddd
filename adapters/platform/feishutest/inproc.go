package feishutest

import (
	"context"
	"net"
	"net/http"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
)

// NewAPIInProcess is a fake without a socket, which works where time is simulated: only [API.Client] and [API.Dial]
// reach it. It waits for answers as long as the service does, and delivers due events by itself.
func NewAPIInProcess(tb testing.TB) *API {
	tb.Helper()
	a := newFeishuAPI()
	a.pipe = faketest.Serve(tb, a)
	a.work.Go(a.deliver)
	tb.Cleanup(func() {
		a.end()
		a.links.closeAll()
		a.work.Wait()
	})
	return a
}

// Client calls the fake, by its socket if it has one.
func (a *API) Client() *http.Client {
	if a.server != nil {
		return a.server.Client()
	}
	return a.pipe.Client()
}

// Dial connects to the fake without a socket.
func (a *API) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	return a.pipe.Dial(ctx, network, address)
}

// SetPipe makes events go to a webhook behind a pipe.
func (a *API) SetPipe(p *faketest.Pipe, path string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.push.client, a.push.hook = p.Client(), "http://hook.invalid"+path
}

// Away makes the fake unreachable, or reachable again. Existing connections end, and new ones fail.
func (a *API) Away(on bool) {
	a.pipe.Away(on)
	if on {
		a.CutLinks()
	}
}
