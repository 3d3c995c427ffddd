package telegram_test

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// An edit that changes no text is not answered; one that changes text is, also if an update is
// redelivered.
func TestEditsOfNothing(t *testing.T) {
	b := newBench(t, nil)
	host := platformtest.NewHost()
	b.receive(t, host)
	id := b.api.Say(private, owner, "what is 3 + 3", nil)
	first := b.api.NextUpdate()
	b.api.Edit(private, owner, id, 1700000001, "what is 3 + 3")
	b.api.Edit(private, owner, id, 1700000002, "what is 3 + 4")
	b.api.Edit(private, owner, id, 1700000003, "what is 3 + 4")
	host.AwaitAccepted(t, 4)
	b.api.Redeliver(first)     // changes nothing
	b.api.Redeliver(first + 1) // changes the text
	b.api.Say(private, owner, "bye", nil)
	host.AwaitAccepted(t, 5)
	var got []string
	for _, in := range host.Offered() {
		if in.Gate.Open {
			got = append(got, in.Text)
		} else {
			got = append(got, in.Gate.Reason)
		}
	}
	want := []string{"what is 3 + 3", "unchanged", "what is 3 + 4", "unchanged"}
	stdtest.Diff(t, "", want, got[:4])
	for _, in := range host.Accepted() {
		if in.Kind == platform.KindEdit && in.Gate.Open != (in.Text == "what is 3 + 4" && in.IngressID[len(in.IngressID)-1] == '2') {
			t.Errorf("%s %q open: %v", in.IngressID, in.Text, in.Gate.Open)
		}
	}
}
