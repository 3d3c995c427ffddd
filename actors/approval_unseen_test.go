package actors_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
)

// Nothing that people write or press decides a request before it is known that its whole message has reached the
// platform, whatever delayed it. The request stays open and is decided once after it was shown.
func TestUnseenIsUndecided(t *testing.T) {
	long := "git push " + strings.Repeat("x", 9000) // in several messages
	at := telegramtest.Fault{Method: "sendMessage", Chat: owner, N: -1}
	fault := func(kind faketest.FaultKind, code int) telegramtest.Fault {
		f := at
		f.Kind, f.Code, f.Text, f.Delay = kind, code, "no", time.Minute
		return f
	}
	flood := fault(faketest.Refuse, 429)
	flood.RetryAfter = 300
	first := at // one message goes through
	first.Kind, first.N, first.Delay = faketest.Latency, 1, time.Millisecond
	ways := []struct {
		name    string
		command string
		faults  []telegramtest.Fault
	}{
		{"the service refuses it", "git push", []telegramtest.Fault{fault(faketest.Refuse, 400)}},
		{"the bot was thrown out", "git push", []telegramtest.Fault{fault(faketest.Refuse, 403)}},
		{"the service is flooded", "git push", []telegramtest.Fault{flood}},
		{"the service is down", "git push", []telegramtest.Fault{fault(faketest.Garbage, 502)}},
		{"the connection breaks before", "git push", []telegramtest.Fault{fault(faketest.ResetBefore, 0)}},
		{"the connection breaks after", "git push", []telegramtest.Fault{fault(faketest.ResetAfter, 0)}},
		{"the service hangs", "git push", []telegramtest.Fault{fault(faketest.Hang, 0)}},
		{"it takes a minute", "git push", []telegramtest.Fault{fault(faketest.Latency, 0)}},
		{"the second message is refused", long, []telegramtest.Fault{first, fault(faketest.Refuse, 400)}},
		{"the second message is late", long, []telegramtest.Fault{first, fault(faketest.Latency, 0)}},
		{"the receipt of the second message is lost", long, []telegramtest.Fault{first, fault(faketest.ResetAfter, 0)}},
	}
	acts := []string{"yes", "好的", "/approve 1", "同意第1个", "approve all", "the button", "yes, after a restart"}
	for _, way := range ways {
		for _, act := range acts {
			t.Run(way.name+"/"+act, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := newDesk(t)
					d.chat(owner)
					for _, f := range way.faults {
						d.api.Fail(f)
					}
					d.model.Add(modeltest.CallTools(sh("c1", way.command)))
					d.api.Say(owner, owner, "do it", nil)
					d.later(5 * time.Second)
					words, restarted := strings.CutSuffix(act, ", after a restart")
					switch {
					case act == "the button":
						for _, m := range d.api.Sent(owner) {
							if len(m.Buttons) > 0 {
								d.api.Press(owner, owner, m.ID, yesOf(m), nil)
							}
						}
					case restarted:
						d.again()
						d.api.Say(owner, owner, words, nil)
					default:
						d.api.Say(owner, owner, words, nil)
					}
					d.later(20 * time.Second)
					d.ran(0)
					if n := d.openIn(owner); n != 1 {
						t.Fatalf("%d requests are open, want one", n)
					}
					d.api.Heal()
					d.later(8 * time.Minute)
					d.ran(0)
					d.api.Say(owner, owner, "/approvals", nil)
					d.later(10 * time.Second)
					d.api.Say(owner, owner, "/approve 1", nil)
					d.later(10 * time.Second)
					d.ran(1)
				})
			})
		}
	}
}
