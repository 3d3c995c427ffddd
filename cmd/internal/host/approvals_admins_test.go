package host

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/messages"
)

// registrar is a platform that knows administrators, if it answers.
type registrar struct {
	ids   []string
	err   error
	takes time.Duration
	asked atomic.Int64
}

func (r *registrar) Admins(ctx context.Context, _ string) ([]string, error) {
	r.asked.Add(1)
	select {
	case <-time.After(r.takes): // fake
		return r.ids, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

const friends = messages.ChatKey("telegram@work-chat--7-topic-3")

// TestAP5AdministratorsAreKnownForAMinute: what the platform said counts for a minute
// and no longer, is asked for anew meanwhile, and without an answer nobody is one.
func TestAP5AdministratorsAreKnownForAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &registrar{ids: []string{"3", ""}, takes: 100 * time.Millisecond}
		a := newAdmins(slog.New(slog.DiscardHandler), func(name string) platform.Administered {
			if name != "telegram@work" {
				return nil
			}
			return r
		})
		defer func() { _ = a.close(t.Context()) }()
		pass := func(d time.Duration) {
			<-time.After(d) // fake
			synctest.Wait()
		}
		want := func(what string, has bool, asked int64) {
			t.Helper()
			if got := a.has(friends, "3"); got != has || r.asked.Load() != asked {
				t.Errorf("%s: %v after %d questions, want %v after %d", what, got, r.asked.Load(), has, asked)
			}
		}
		want("before anybody asked", false, 0)
		if err := a.learn(t.Context(), friends); err != nil {
			t.Fatal(err)
		}
		want("once the platform said so", true, 1)
		for who, in := range map[string]messages.ChatKey{"4": friends, "": friends, "3": "telegram-chat--7"} {
			if a.has(in, who) {
				t.Errorf("%q administers %s", who, in)
			}
		}
		if !a.has("telegram@work-chat--7", "3") {
			t.Error("another topic of the group has other administrators")
		}
		for range 100 {
			if err := a.learn(t.Context(), friends); err != nil {
				t.Fatal(err)
			}
		}
		want("asked again and again", true, 1)
		r.ids = nil // not any more
		pass(adminsFresh)
		want("while it is asked anew", true, 1)
		pass(time.Second)
		want("a former administrator", false, 2)

		r.ids = []string{"3"}
		pass(adminsFresh)
		if err := a.learn(t.Context(), friends); err != nil {
			t.Fatal(err)
		}
		want("again", true, 3)
		r.err = errors.New("the network is gone")
		pass(adminsHold - time.Second)
		want("what was said just before the network went", true, 3)
		pass(time.Second)
		want("a minute after", false, 4)
		if err := a.learn(t.Context(), friends); err == nil {
			t.Error("an unreachable platform is taken for an answer")
		}
		if n := r.asked.Load(); n != 4 {
			t.Errorf("asked %d times, want no question right after one in vain", n)
		}
		pass(adminsAgain)
		if err := a.learn(t.Context(), friends); err == nil || !a.unknown(friends) {
			t.Errorf("an unreachable platform is taken for an answer: %v", err)
		}
		r.err, r.takes = nil, time.Hour
		pass(adminsAgain)
		began := time.Now()
		if err := a.learn(t.Context(), friends); err == nil || time.Since(began) != adminsWait {
			t.Errorf("a platform that does not answer: %v after %s", err, time.Since(began))
		}
		if err := a.learn(t.Context(), "feishu-chat-oc_1"); err == nil {
			t.Error("a platform that is not there gave an answer")
		}
	})
}

// Many who ask at once are one question, and no more groups are kept than the limit.
func TestAdministratorsAreAskedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &registrar{takes: time.Second}
		a := newAdmins(slog.New(slog.DiscardHandler), func(string) platform.Administered { return r })
		for range 50 {
			go func() { _ = a.learn(t.Context(), friends) }()
		}
		<-time.After(2 * time.Second) // fake
		synctest.Wait()
		if n := r.asked.Load(); n != 1 {
			t.Errorf("asked %d times", n)
		}
		r.takes = 0
		for i := range maxAdminChats + 10 {
			key := messages.NewChatKey("telegram", "", "-"+strings.Repeat("1", 1+i%9)+strings.Repeat("2", 1+i/9%30)+strings.Repeat("3", 1+i/270), 0)
			if err := a.learn(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(a.chats); n > maxAdminChats {
			t.Errorf("%d groups are kept", n)
		}
		if err := a.close(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-time.After(adminsHold) // fake
		if err := a.learn(t.Context(), friends); err == nil {
			t.Error("a closed one asks")
		}
	})
}

// TestAP5AdministratorsDecide: with the real host and a strict fake of the service. An
// administrator may, a member and who was one may not; while nobody can be asked nobody
// is one, hears why, and the request stays; in a private chat the owner decides alone.
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
	group := func(t *testing.T, id string, admins ...platformtest.Admin) int64 {
		t.Helper()
		chat := -w.newChat()
		w.api.AddChat(platformtest.Chat{ID: chat, Type: "group", Title: "Friends"})
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
	all := []platformtest.Admin{{ID: admin, Owner: true}, {ID: hidden, Anonymous: true}, {ID: robot, Bot: true}}
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
				eventually(t, "the command to run", func() bool { return want.done(w, tt.id) })
				return
			}
			w.settle(t, chat, 3, tt.id+"z")
			if want.done(w, tt.id) {
				t.Fatal("the command ran")
			}
			w.api.Say(chat, admin, "/approve 1", w.addressed(chat))
			eventually(t, "the command to run", func() bool { return want.done(w, tt.id) })
		})
	}
	t.Run("unreachable", func(t *testing.T) {
		chat := group(t, "un", all...)
		w.api.Fail(platformtest.Fault{Method: "getChatAdministrators", Kind: platformtest.Refuse, Code: 500, Text: "Internal Server Error", N: -1})
		w.h.admins.mu.Lock() // as a minute later
		clear(w.h.admins.chats)
		w.h.admins.mu.Unlock()
		w.api.Say(chat, admin, "/approve 1", w.addressed(chat))
		w.api.Await(t, "the reason", func() bool { return strings.Contains(w.texts(chat), "who administers this group") })
		if said := press(t, chat, admin); !strings.Contains(said, "again") {
			t.Errorf("who pressed the button reads %q", said)
		}
		if want.done(w, "un") {
			t.Fatal("the command ran")
		}
		w.api.Heal()
		w.h.admins.mu.Lock()
		clear(w.h.admins.chats)
		w.h.admins.mu.Unlock()
		w.api.Say(chat, admin, "/approve 1", w.addressed(chat))
		eventually(t, "the command to run", func() bool { return want.done(w, "un") })
	})
	t.Run("grant", func(t *testing.T) {
		chat := -w.newChat()
		w.api.AddChat(platformtest.Chat{ID: chat, Type: "group", Title: "Friends"})
		w.api.SetAdmins(chat, all...)
		run := func(id string) {
			w.model.tell(w.model.runs, id, want.call(w, id))
			w.api.Say(chat, admin, "RUN-"+id+"-NOW", w.addressed(chat))
		}
		run("g1")
		w.api.Await(t, "the request", func() bool { return strings.Contains(w.texts(chat), "ran-g1") })
		w.api.Say(chat, admin, "allow `touch *` for 5 minutes", w.addressed(chat))
		eventually(t, "the command to run", func() bool { return want.done(w, "g1") })
		run("g2")
		eventually(t, "another one to run", func() bool { return want.done(w, "g2") })
		w.api.SetAdmins(chat)
		w.h.admins.mu.Lock() // as a minute later
		clear(w.h.admins.chats)
		w.h.admins.mu.Unlock()
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
