package chatmetrics_test

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/shipmyagent/shipmyagent/actors/chat/chatmetrics"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Parked rows are still counted after their chat has left memory, which happens within seconds. Otherwise the alert
// OutboxParked would hardly ever fire.
func TestParkedStaysCounted(t *testing.T) {
	reg := prometheus.NewRegistry()
	m := chatmetrics.New(reg)
	parked := journal.State{N: 1, Outbox: []journal.OutboxRow{{Parked: true}, {}}, Quarantine: []journal.Quarantined{{}}}
	settled := journal.State{N: 2}
	want := func(when string, n float64) {
		t.Helper()
		families, err := reg.Gather()
		stdtest.Must(t, err)
		for _, f := range families {
			if got := f.GetMetric()[0].GetGauge().GetValue(); f.GetName() == "sma_outbox_parked" && got != n {
				t.Errorf("%s %v are parked, want %v", when, got, n)
			}
		}
	}
	m.Unloaded(m.Loaded("a", &parked))
	want("after the chat has left memory", 2)
	counted := m.Loaded("a", &parked)
	want("after the chat was loaded again", 2)
	m.Unloaded(m.Update("a", counted, &settled))
	want("after a person has decided", 0)
}
