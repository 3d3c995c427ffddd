package actors_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// The service is unreachable for ten minutes while answers wait to be sent and people write. Ten seconds after its
// return everything has been delivered, in order.
func TestIO13TenMinutesAway(t *testing.T) {
	for _, tc := range []struct {
		name string
		gone func(x *wire, on bool)
	}{
		{"nothing connects", func(x *wire, on bool) { x.api.Away(on) }},
		{"connections break", func(x *wire, on bool) { fail(x, faketest.ResetBefore, on) }},
		{"nothing answers", func(x *wire, on bool) { fail(x, faketest.Hang, on) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newWire(t, nil)
				const chats = 4
				x.start()
				for c := range int64(chats) {
					x.chat(c + 1)
					x.api.Say(c+1, 7, "before", nil)
				}
				x.w.Wait()
				x.api.Away(false)
				want := []string{"before", "just before"}
				for c := range int64(chats) { // their answers meet the outage
					x.api.Fail(telegramtest.Fault{Method: "sendMessage", Chat: c + 1, Kind: faketest.ResetBefore})
					x.api.Say(c+1, 7, "just before", nil)
				}
				x.w.Wait()
				tc.gone(x, true)
				for i := range 4 {
					x.later(150 * time.Second)
					want = append(want, fmt.Sprint("meanwhile ", i))
					for c := range int64(chats) {
						x.api.Say(c+1, 7, want[i+2], nil)
					}
				}
				tc.gone(x, false)
				x.later(10 * time.Second)
				for c := range int64(chats) {
					stdtest.Diff(t, fmt.Sprintf("history of chat %d", c+1), want, x.words(c+1))
					if v := x.w.View(keyOf(c + 1)); v.Counts.Open != 0 || v.Counts.Pending != 0 || v.Running {
						t.Errorf("chat %d: %+v", c+1, v.Counts)
					}
					if got := len(x.shown(c + 1)); got < 3 || got > len(want) {
						t.Errorf("chat %d shows %d answers to %d messages", c+1, got, len(want))
					}
				}
				if got := x.w.Metric("sma_outbox_pending"); got != 0 {
					t.Errorf("%v rows are owed", got)
				}
			})
		})
	}
}

// fail makes every call fail, or none.
func fail(x *wire, kind faketest.FaultKind, on bool) {
	x.api.Heal()
	if on {
		x.api.Fail(telegramtest.Fault{Kind: kind, N: -1})
		x.api.SetWebhook("") // ends the poll under way
	}
}
