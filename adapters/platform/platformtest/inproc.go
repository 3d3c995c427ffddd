package platformtest

import (
	"net/http"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
)

// NewBotAPIInProcess is a fake that is reached through its [BotAPI.Client] only,
// with no socket, so that it works where time is simulated.
func NewBotAPIInProcess(tb testing.TB) *BotAPI {
	tb.Helper()
	a := newBotAPI()
	tb.Cleanup(func() { close(a.quit) })
	return a
}

// Client calls the fake without a socket.
func (a *BotAPI) Client() *http.Client { return faketest.ClientOf(a) }

// Away makes the fake unreachable for its Client, or reachable again: nothing connects.
func (a *BotAPI) Away(on bool) {
	a.mu.Lock()
	a.away = on
	if on {
		a.stopPoller()
	}
	a.mu.Unlock()
	a.Signal()
}

// Gone tells whether nothing connects.
func (a *BotAPI) Gone() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.away
}
