package host

import (
	"slices"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
)

// With the real host and a strict fake of the service: an administrator may decide; a member and a former administrator
// may not. While the service does not answer nobody is an administrator, people are told why, and the request stays
// open. In a private chat the owner decides alone.
func TestAP5AdministratorsDecide(t *testing.T) {
	w := newWorld(t)
	w.open(map[string]string{"permissions.exec.approvers": `["owner","platformAdmins"]`})
	want := effects()[0]
	const admin, member, hidden, robot = 5, 6, 7, 8
	request := func(t *testing.T, chat int64, id string) {
		t.Helper()
		w.model.tell(w.model.runs, id, want.call(w, id))
		w.api.Say(chat, max(3, chat), "RUN-"+id+"-NOW", w.addressed(chat))
		w.api.Await(t, "the request", func() bool { return strings.Contains(w.texts(chat), "ran-"+id) })
	}
	group := func(t *testing.T, id string, admins ...telegramtest.Admin) int64 {
		t.Helper()
		chat := -w.newChat()
		w.api.AddChat(telegramtest.Chat{ID: chat, Type: "group", Title: "Friends"})
		w.api.SetAdmins(chat, admins...)
		request(t, chat, id)
		return chat
	}
	press := func(t *testing.T, chat, who int64) string {
		t.Helper()
		n := len(w.api.Calls("answerCallbackQuery"))
		for _, sent := range slices.Backward(w.api.Sent(chat)) {
			if rows := sent.Buttons; len(rows) > 0 {
				w.api.Press(chat, who, sent.ID, rows[0][1], nil)
				return w.api.AwaitCalls(t, "answerCallbackQuery", n+1)[n].Params.Text("text")
			}
		}
		t.Fatal("the request has no buttons")
		return ""
	}
	all := []telegramtest.Admin{{ID: admin, Owner: true}, {ID: hidden, Anonymous: true}, {ID: robot, Bot: true}}
	for _, tt := range []struct {
		id    string
		who   int64
		press bool
		ran   bool
	}{
		{"aw", admin, false, true},
		{"ab", admin, true, true},
		{"mw", member, false, false},
		{"mb", member, true, false},
		{"hw", hidden, false, false},
		{"hb", hidden, true, false},
		{"rw", robot, false, false},
	} {
		t.Run(tt.id, func(t *testing.T) {
			chat := group(t, tt.id, all...)
			if tt.press {
				press(t, chat, tt.who)
			} else {
				w.api.Say(chat, tt.who, "/approve 1", w.addressed(chat))
			}
			if tt.ran {
				faketest.Poll(t, "the command to run", func() bool { return want.done(w, tt.id) })
				return
			}
			w.settle(t, chat, 3, tt.id+"z")
			if want.done(w, tt.id) {
				t.Fatal("the command ran")
			}
			w.api.Say(chat, admin, "/approve 1", w.addressed(chat))
			faketest.Poll(t, "the command to run", func() bool { return want.done(w, tt.id) })
		})
	}
	t.Run("unreachable", func(t *testing.T) {
		chat := group(t, "un", all...)
		w.api.Fail(telegramtest.Fault{Method: "getChatAdministrators", Kind: faketest.Refuse, Code: 500, Text: "Internal Server Error", N: -1})
		w.h.forgetAdmins() // as a minute later
		w.api.Say(chat, admin, "/approve 1", w.addressed(chat))
		w.api.Await(t, "the reason", func() bool { return strings.Contains(w.texts(chat), "who administers this group") })
		if said := press(t, chat, admin); !strings.Contains(said, "again") {
			t.Errorf("who pressed the button reads %q", said)
		}
		if want.done(w, "un") {
			t.Fatal("the command ran")
		}
		w.api.Heal()
		w.h.forgetAdmins()
		w.api.Say(chat, admin, "/approve 1", w.addressed(chat))
		faketest.Poll(t, "the command to run", func() bool { return want.done(w, "un") })
	})
	t.Run("grant", func(t *testing.T) {
		chat := -w.newChat()
		w.api.AddChat(telegramtest.Chat{ID: chat, Type: "group", Title: "Friends"})
		w.api.SetAdmins(chat, all...)
		run := func(id string) {
			w.model.tell(w.model.runs, id, want.call(w, id))
			w.api.Say(chat, admin, "RUN-"+id+"-NOW", w.addressed(chat))
		}
		run("g1")
		w.api.Await(t, "the request", func() bool { return strings.Contains(w.texts(chat), "ran-g1") })
		w.api.Say(chat, admin, "allow `touch *` for 5 minutes", w.addressed(chat))
		faketest.Poll(t, "the command to run", func() bool { return want.done(w, "g1") })
		run("g2")
		faketest.Poll(t, "another one to run", func() bool { return want.done(w, "g2") })
		w.api.SetAdmins(chat)
		w.h.forgetAdmins() // as a minute later
		run("g3")
		w.api.Await(t, "a request again", func() bool { return strings.Contains(w.texts(chat), "ran-g3") })
		if want.done(w, "g3") {
			t.Error("the grant of a former administrator counts")
		}
	})
	t.Run("private", func(t *testing.T) {
		chat := w.newChat()
		request(t, chat, "pr")
		n := len(w.api.Calls("getChatAdministrators"))
		w.api.Say(chat, chat, "/approve 1", nil)
		w.settle(t, chat, chat, "prz")
		if want.done(w, "pr") {
			t.Fatal("the command ran")
		}
		if len(w.api.Calls("getChatAdministrators")) != n {
			t.Error("a private chat was asked for its administrators")
		}
	})
}

// forgetAdmins makes the host ask anew who administers groups.
func (h *Host) forgetAdmins() {
	h.deciders.Admins().Lock()
	defer h.deciders.Admins().Unlock()
	clear(h.deciders.Admins().Known)
}
