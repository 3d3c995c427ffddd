package platformtest

import (
	"net/http"
	"testing"
)

// NewFeishuAPIInProcess is a fake that is reached through its [FeishuAPI.Client] only,
// with no socket, so that it works where time is simulated. Events go to a webhook
// behind a [Pipe].
func NewFeishuAPIInProcess(tb testing.TB) *FeishuAPI {
	tb.Helper()
	a := newFeishuAPI()
	a.work.Go(a.deliver)
	tb.Cleanup(func() {
		close(a.quit)
		a.links.closeAll()
		a.work.Wait()
	})
	return a
}

// Client calls the fake without a socket.
func (a *FeishuAPI) Client() *http.Client { return &http.Client{Transport: inProcess{a}} }

// SetPipe makes events go to a webhook behind a pipe.
func (a *FeishuAPI) SetPipe(p *Pipe, path string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.push.client, a.push.hook = p.Client(), "http://hook.invalid"+path
}

// Away makes the fake unreachable for its Client, or reachable again: nothing connects.
func (a *FeishuAPI) Away(on bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.away = on
}

// gone tells whether nothing connects.
func (a *FeishuAPI) gone() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.away
}
