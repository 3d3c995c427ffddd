package actors_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages"
)

// second may decide as well as the owner.
const second = 101

// newReferrals is a bot over the wire that a stranger uses in private, and whose requests two other people may decide
// in their own private chats, as long as may says so.
func newReferrals(t *testing.T, may *atomic.Bool) *desk {
	t.Helper()
	d := newDesk(t)
	d.end()
	may.Store(true)
	d.approver = func(c approval.Claim) bool {
		return may.Load() && (c.Person == strconv.Itoa(owner) || c.Person == strconv.Itoa(second))
	}
	d.deciders = func(approval.Claim) []approval.Decider {
		if !may.Load() {
			return nil
		}
		return []approval.Decider{
			{ChatKey: keyOf(owner), ChatType: "private", Person: strconv.Itoa(owner), Name: "Ann", Role: approval.DeciderOwner},
			{ChatKey: keyOf(second), ChatType: "private", Person: strconv.Itoa(second), Name: "Cy", Role: approval.DeciderApprover},
		}
	}
	d.store.revive()
	d.grants = newGrants(t)
	d.start()
	for _, id := range []int64{owner, second, stranger, 300, place} {
		d.chat(id)
	}
	d.model.Add(modeltest.CallTools(sh("c1", "git push")))
	d.api.Say(stranger, stranger, "push it", nil)
	d.later(5 * time.Second)
	return d
}

// shownIn is the last message with buttons in a chat.
func (d *desk) shownIn(id int64) telegramtest.Sent {
	d.t.Helper()
	for _, m := range slices.Backward(d.api.Sent(id)) {
		if len(m.Buttons) > 0 {
			return m
		}
	}
	d.t.Fatalf("nothing asks in %d: %+v", id, d.api.Sent(id))
	return telegramtest.Sent{}
}

// The requests of a stranger are decided once, in the private chats of the people who may decide.
func TestReferrals(t *testing.T) {
	say := func(in, from int64, words string, more map[string]any) func(*desk, *atomic.Bool) {
		return func(d *desk, _ *atomic.Bool) {
			d.api.Say(in, from, words, more)
			d.later(5 * time.Second)
		}
	}
	then := func(steps ...func(*desk, *atomic.Bool)) func(*desk, *atomic.Bool) {
		return func(d *desk, may *atomic.Bool) {
			for _, step := range steps {
				step(d, may)
			}
		}
	}
	press := func(in, from, shown int64, yes bool) func(*desk, *atomic.Bool) {
		return func(d *desk, _ *atomic.Bool) {
			m := d.shownIn(shown)
			data := yesOf(m)
			if !yes {
				data = noOf(m)
			}
			if in != shown { // somebody made the same button elsewhere
				m.ID = d.api.Sent(in)[0].ID
			}
			d.press(in, from, m, data, nil)
		}
	}
	wait := func(d time.Duration) func(*desk, *atomic.Bool) {
		return func(x *desk, _ *atomic.Bool) { x.later(d) }
	}
	kill := func(d *desk, _ *atomic.Bool) { d.again(); d.later(5 * time.Second) }
	rewind := func(d *desk, _ *atomic.Bool) {
		if err := d.w.Port.Rewind(d.t.Context(), keyOf(stranger), ""); err != nil {
			d.t.Error(err)
		}
		d.later(5 * time.Second)
	}
	lose := func(_ *desk, may *atomic.Bool) { may.Store(false) }
	forwarded := map[string]any{"forward_origin": map[string]any{"type": "hidden_user", "date": 1, "sender_user_name": "Ann"}}
	for _, tt := range []struct {
		name string
		do   func(*desk, *atomic.Bool)
		ran  int64
		ends string // what stays below the message in the owner's chat; empty: buttons
	}{
		{"yes", say(owner, owner, "yes", nil), 1, "#1 ✅ Ann"},
		{"同意", say(owner, owner, "同意", nil), 1, "#1 ✅ Ann"},
		{"its number", say(owner, owner, "/approve 1", nil), 1, "#1 ✅ Ann"},
		{"this command", say(owner, owner, "approve this command", nil), 1, "#1 ✅ Ann"},
		{"这个命令", say(owner, owner, "批准这个命令", nil), 1, "#1 ✅ Ann"},
		{"a button", press(owner, owner, owner, true), 1, "#1 ✅ Ann"},
		{"no", say(owner, owner, "no", nil), 0, "#1 ❌ Ann"},
		{"全部拒绝", say(owner, owner, "全部拒绝", nil), 0, "#1 ❌ Ann"},
		{"a button says no", press(owner, owner, owner, false), 0, "#1 ❌ Ann"},
		{"the second person", say(second, second, "yes", nil), 1, "#1 ✅ Ann"},
		{"both, the first counts", then(press(second, second, second, false), say(owner, owner, "/approve 1", nil)), 0, "#1 ❌ Ann"},
		{"both at once", func(d *desk, _ *atomic.Bool) {
			d.api.Say(owner, owner, "yes", nil)
			d.api.Say(second, second, "yes", nil)
			d.later(5 * time.Second)
		}, 1, "#1 ✅ Ann"},
		{"yes twice", then(say(owner, owner, "yes", nil), say(owner, owner, "/approve 1", nil)), 1, "#1 ✅ Ann"},
		{"after a crash", then(kill, say(owner, owner, "/approve 1", nil)), 1, "#1 ✅ Ann"},
		{"a button after a crash", then(kill, press(owner, owner, owner, true)), 1, "#1 ✅ Ann"},
		{"time passes", wait(31 * time.Minute), 0, "#1 ⌛"},
		{"time passes while it is down", then(kill, wait(31*time.Minute), kill), 0, "#1 ⌛"},
		{"too late", then(wait(31*time.Minute), say(owner, owner, "/approve 1", nil)), 0, "#1 ⌛"},
		{"it was taken back", rewind, 0, "#1 ⏹"},
		{"too late, since it was taken back", then(rewind, say(owner, owner, "/approve 1", nil)), 0, "#1 ⏹"},
		{"taken back, and a crash", then(rewind, kill, say(owner, owner, "yes", nil)), 0, "#1 ⏹"},
		{"who asked says yes", say(stranger, stranger, "yes", nil), 0, ""},
		{"who asked names it", say(stranger, stranger, "/approve 1", nil), 0, ""},
		{"who asked makes the button", press(stranger, stranger, owner, true), 0, ""},
		{"somebody else's private chat", say(300, 300, "/approve 1", nil), 0, ""},
		{"somebody else's private chat, in words", say(300, 300, "approve #1", nil), 0, ""},
		{"somebody else makes the button", then(say(300, 300, "hi", nil), press(300, 300, owner, true)), 0, ""},
		{"somebody else presses in the owner's chat", press(owner, 300, owner, true), 0, ""},
		{"the owner says it in a group", say(place, owner, "/approve 1", nil), 0, ""},
		{"forwarded", say(owner, owner, "yes", forwarded), 0, ""},
		{"an answer to something elsewhere", say(owner, owner, "/approve 1", map[string]any{"external_reply": map[string]any{"origin": map[string]any{"type": "user"}}}), 0, ""},
		{"the bot has spoken since", then(say(owner, owner, "hello", nil), say(owner, owner, "yes", nil)), 0, ""},
		{"another number", say(owner, owner, "/approve 2", nil), 0, ""},
		{"who lost the right", then(lose, say(owner, owner, "/approve 1", nil)), 0, ""},
		{"who lost the right presses", then(lose, press(owner, owner, owner, true)), 0, ""},
		{"a model that asks the same", func(d *desk, _ *atomic.Bool) {
			d.model.Add(modeltest.Say("#2: may I run git push? Answer yes or no, or /approve 2 or /deny 2."))
			d.api.Say(second, second, "hello", nil)
			d.later(5 * time.Second)
			d.api.Say(second, second, "yes", nil)
			d.later(time.Second)
			d.api.Say(second, second, "/approve 2", nil)
			d.later(5 * time.Second)
		}, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var may atomic.Bool
				d := newReferrals(t, &may)
				for _, m := range d.api.Sent(stranger) {
					if len(m.Buttons) > 0 || strings.Contains(m.Text, "Answer yes or no") {
						t.Errorf("who asked is told to decide: %+v", m)
					}
				}
				tt.do(d, &may)
				d.ran(tt.ran)
				for _, id := range []int64{owner, second} {
					buttons := d.shownIn(id).Buttons
					if ended := len(buttons[0]) == 2; ended != (tt.ends != "") || ended && !strings.HasPrefix(buttons[0][0], tt.ends) {
						t.Errorf("below the message in %d: %q, want %q", id, buttons, tt.ends)
					}
				}
			})
		})
	}
}

// The process is killed at every operation of the store in turn, while one of the two chats is doing something. What
// the person decided is done at most once, and in the end both chats agree and have nothing left to send.
func TestReferralSurvivesEveryCrash(t *testing.T) {
	for at := 1; ; at++ {
		died := false
		t.Run(fmt.Sprintf("at=%d", at), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { died = referralDiesAt(t, at) })
		})
		if !died || t.Failed() {
			break
		}
	}
}

func referralDiesAt(t *testing.T, at int) bool {
	t.Helper()
	var n atomic.Int64
	store := newStore(t)
	const boss messages.ChatKey = "telegram-chat-9"
	a := newApprovals(t, func(o *actortest.Options) {
		o.Store = store
		o.Chat.MayDecide = func(c approval.Claim) bool { return c.Person == "boss" }
		o.Chat.Deciders = func(approval.Claim) []approval.Decider {
			return []approval.Decider{{ChatKey: boss, ChatType: "private", Person: "boss", Name: "Boss", Role: approval.DeciderOwner}}
		}
		o.Fail = func(string) error {
			if n.Add(1) >= int64(at) {
				return errDied
			}
			return nil
		}
	})
	a.script.Otherwise = &modeltest.Step{Do: answerAll}
	play := func() {
		a.say("1", "remove a")
		a.pass(2 * time.Second)
		in := a.Inbound(boss, "boss", "/approve 1")
		in.IngressID, in.MessageID = "9", "9"
		a.Port.Accept(t.Context(), inbounds(in))
		a.pass(10 * time.Second)
	}
	play()
	died := n.Load() >= int64(at)
	a.World = a.Again(func(o *actortest.Options) { o.Fail = nil })
	a.pass(10 * time.Second)
	play()
	a.pass(time.Minute)
	if ids := a.open(); len(ids) != 0 {
		t.Errorf("still open: %v", ids)
	}
	history := strings.Join(a.history(), "\n")
	if ran := a.tool.ran.Load(); ran > 1 || ran == 1 && !strings.Contains(history, "output-") || ran == 0 && !strings.Contains(history, "output-error") {
		t.Errorf("the tool ran %d times:\n%s", ran, history)
	}
	for _, key := range []messages.ChatKey{alice, boss} {
		if v := a.View(key); v.Counts.Pending != 0 || v.Running || v.Counts.Open != 0 {
			t.Errorf("%s owes something: %+v", key, v.Counts)
		}
	}
	if v := a.View(boss); len(v.Messages) != 0 {
		t.Errorf("words of a decision reached the model: %+v", v.Messages)
	}
	return died
}

// A timed grant that a person gives in their private chat applies in the chat where it was asked for, for the person
// who asked there, and for nobody else.
func TestReferredGrant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var may atomic.Bool
		d := newReferrals(t, &may)
		d.api.Say(owner, owner, "allow git push for 10 minutes", nil)
		d.later(5 * time.Second)
		d.ran(1)
		sent := d.api.Sent(owner)
		if last := sent[len(sent)-1].Text; !strings.Contains(last, "For 10 minutes") || !strings.Contains(last, "in that chat") {
			t.Errorf("told %q", last)
		}
		d.model.Add(modeltest.CallTools(sh("c2", "git push")))
		d.api.Say(stranger, stranger, "again", nil)
		d.later(5 * time.Second)
		d.ran(2)
		d.model.Add(modeltest.CallTools(sh("c3", "git push")))
		d.api.Say(owner, owner, "push here", nil)
		d.later(5 * time.Second)
		d.ran(2) // the owner's own chat asks
		if n := d.openIn(owner); n != 1 {
			t.Errorf("%d requests are open in the owner's chat, want 1", n)
		}
		may.Store(false) // whoever gave it may not any more
		d.model.Add(modeltest.CallTools(sh("c4", "git push")))
		d.api.Say(stranger, stranger, "and again", nil)
		d.later(5 * time.Second)
		d.ran(2)
	})
}

// A decision on the host ends the request in all chats that show it.
func TestReferralDecidedOnTheHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var may atomic.Bool
		d := newReferrals(t, &may)
		d.approver = func(approval.Claim) bool { return true }
		ids := (&approvals{World: d.w, t: t}).openIn(keyOf(stranger))
		d.again()
		d.later(time.Second)
		order := messages.DecideApproval{
			ChatKey: keyOf(stranger), RequestID: "r", By: messages.Asker{Platform: "control", ID: "owner", Name: "owner"},
			Say: []messages.Decision{{ApprovalID: ids[0], Approved: true}},
		}
		if _, err := d.w.System.Root.RequestFuture(d.w.Router, order, time.Second).Result(); err != nil {
			t.Fatal(err)
		}
		d.later(5 * time.Second)
		d.ran(1)
		for _, id := range []int64{owner, second} {
			if b := d.shownIn(id).Buttons; len(b[0]) != 2 || b[0][0] != "#1 ✅ owner" {
				t.Errorf("below the message in %d: %q", id, b)
			}
		}
	})
}
