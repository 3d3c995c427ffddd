package budgets_test

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/speech"
	"github.com/shipmyagent/shipmyagent/cmd/internal/budgets"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/ledger"
)

// Speech is paid for by its size, unless the service refused, and obeys the limits of its chat and of the host.
func TestSpeech(t *testing.T) {
	state := t.TempDir()
	b, _ := open(t, state, config.Budget{USDPerChatPerDay: 0.01})
	call := func(m speech.Meter, size int64, paid bool) {
		t.Helper()
		settle, err := m(t.Context(), "web-chat-1", size)
		stdtest.Must(t, err)
		settle(paid)
	}
	call(b.Recordings("ears", 0.006), 90, true)
	call(b.Recordings("ears", 0.006), 90, false)
	call(b.Texts("mouth", 15), 100, true)
	rows, err := ledger.Usage(budgets.Dir(state), "")
	if err != nil || len(rows) != 2 || rows[0].Amount != (ledger.Amount{Seconds: 90, NanoUSD: 9_000_000}) || rows[1].Amount != (ledger.Amount{Characters: 100, NanoUSD: 1_500_000}) {
		t.Errorf("recorded %+v, %v", rows, err)
	}
	if _, err := b.Texts("mouth", 15)(t.Context(), "web-chat-1", 1); speech.ReasonOf(err) != speech.ReasonRate {
		t.Errorf("at the limit: %v", err)
	}
	if _, err := b.Texts("mouth", 15)(t.Context(), "web-chat-2", 1); err != nil {
		t.Errorf("in another chat: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}
