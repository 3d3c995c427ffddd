package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishutest"
)

// feishuWorld is a project on a fake Feishu and a fake model, and the process that is
// killed.
type feishuWorld struct {
	*victim
	api    *feishutest.API
	model  *modeltest.Server
	random *rand.Rand
	said   map[string][]string // words of each chat
}

func newFeishuWorld(t *testing.T, path, receive string, chats int, random *rand.Rand) *feishuWorld {
	t.Helper()
	w := &feishuWorld{
		api: feishutest.NewAPI(t), model: modeltest.NewServer(modeltest.NewFunc(acknowledge), modeltest.ServerOptions{Key: "sk-test"}),
		random: random, said: map[string][]string{},
	}
	t.Cleanup(w.model.Close)
	for n := range chats {
		w.api.AddChat(feishuChat(n), "p2p")
	}
	dir := t.TempDir()
	hook := freeAddress(t)
	if receive == "webhook" {
		w.api.SetWebhook("http://" + hook + "/feishu")
	}
	writeProject(t, dir, fakeModel(w.model, "feishu", map[string]any{
		"enabled": true, "appId": feishutest.App, "appSecret": w.api.Secret(), "encryptKey": w.api.EncryptKey(), "baseUrl": w.api.URL(),
		"verificationToken": w.api.VerificationToken(), "access": "open", "receive": receive, "webhook": map[string]any{"listen": hook},
		"rateLimit": map[string]any{"perSecond": "off", "perChatPerSecond": "off", "perGroupPerMinute": "off"}, "egress": "direct", "drafts": "off",
	}))
	w.victim = newVictim(t, dir, path)
	return w
}

func feishuChat(n int) string { return "oc_" + strconv.Itoa(n) }

// freeAddress is an unused address whose port no client is given while the host is dead.
func freeAddress(t *testing.T) string {
	t.Helper()
	for t.Context().Err() == nil {
		if l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", fmt.Sprint("127.0.0.1:", 20_000+rand.IntN(10_000))); err == nil {
			defer l.Close() //nolint:errcheck // it has no connections
			return l.Addr().String()
		}
	}
	t.Fatal("no port is free")
	return ""
}

func (w *feishuWorld) talk(messages, chats int) {
	for range messages {
		n := w.random.IntN(chats)
		chat := feishuChat(n)
		words := fmt.Sprintf("please m-%d-%d", n, len(w.said[chat]))
		w.said[chat] = append(w.said[chat], words)
		w.api.Say(chat, "ou_1", words, nil)
	}
}

// killSoon starts the host and kills it: around a send, while it connects, or at a moment
// that chance has chosen after somebody has spoken.
func (w *feishuWorld) killSoon(t *testing.T, chats int) {
	t.Helper()
	fired := make(chan struct{})
	fire := func() {
		w.kill()
		close(fired)
	}
	moment := w.random.IntN(6)
	switch moment {
	case 0, 1:
		w.api.Trap("/im/v1/messages", moment == 1, fire)
	case 2:
		w.api.Trap("/bot/v3/info", true, fire)
	}
	w.talk(w.random.IntN(2), chats) // while nobody is there
	w.start(t)
	w.api.Hurry()
	w.talk(1+w.random.IntN(4), chats)
	if moment > 2 {
		_, made := w.api.Links()
		asked := len(w.api.Calls("/bot/v3/info"))
		w.api.Await(t, "the host to come", func() bool {
			_, now := w.api.Links()
			return now > made || len(w.api.Calls("/bot/v3/info")) > asked
		})
		w.talk(1, chats)
		pause(time.Duration(w.random.Int64N(int64(40 * time.Millisecond))))
		fire()
	}
	w.awaitFired(t, fired, fmt.Sprint("moment ", moment))
	w.bury(t)
}

// awaitFired waits until the moment of the kill has come, and meanwhile delivers events again that were not accepted.
func (w *feishuWorld) awaitFired(t *testing.T, fired <-chan struct{}, what string) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.NewTimer(30 * time.Second)
	defer late.Stop()
	for {
		select {
		case <-fired:
			return
		case <-tick.C:
			w.api.Hurry()
		case <-late.C:
			t.Fatalf("the host did not come to %s", what)
		}
	}
}

// rest lets the host come to rest with everything that was said.
func (w *feishuWorld) rest(t *testing.T) {
	t.Helper()
	w.start(t)
	w.ready(t)
	faketest.Poll(t, "every event to be answered", func() bool {
		w.api.Hurry()
		_, waiting, lost := w.api.Pushed()
		return waiting == 0 || lost > 0
	})
	faketest.Poll(t, "everything to be settled", func() bool {
		for chat := range w.said {
			var b book
			w.query(t, &b, "chats", "show", "--json", "--", "feishu-chat-"+chat)
			if b.Counts.Open > 0 || b.Counts.Pending > 0 || b.Running {
				return false
			}
		}
		return true
	})
	w.stop(t)
}

// check holds the histories, the fates and what people see against what was said.
func (w *feishuWorld) check(t *testing.T, sum *tally) {
	t.Helper()
	for chat, said := range w.said {
		b := w.book(t, "feishu-chat-"+chat)
		want := slices.Clone(said)
		slices.Sort(want)
		slices.Sort(b.users) // events come again when the service pleases
		if diff := cmp.Diff(want, b.users); diff != "" {
			t.Errorf("%s: user turns of the history (-said +got):\n%s", chat, diff)
		}
		b.balanced(t, chat, len(said))
		shown := map[string]int{}
		for _, m := range w.api.Sent(chat) {
			for _, found := range token.FindAllString(m.Text, -1) {
				shown[found]++
			}
		}
		for _, words := range said {
			switch n := shown[strings.TrimPrefix(words, "please ")]; {
			case n == 0:
				sum.add("lost", 1)
			case n > 1:
				sum.add("doubled", n-1)
			}
		}
		sum.add("said", len(said))
	}
	if _, _, lost := w.api.Pushed(); lost > 0 {
		t.Errorf("%d events were never taken", lost)
	}
	if faults := w.model.Faults(); len(faults) > 0 {
		t.Errorf("the model was asked wrongly: %v", faults)
	}
}

// TestIO6FeishuKills kills the process while events come and answers go, with events
// by webhook and over the long connection. Every message is in its history once, has a
// fate, and is answered once: a send that is made again carries the id of the first.
func TestIO6FeishuKills(t *testing.T) {
	const chats = 3
	for _, receive := range []string{"webhook", "connection"} {
		t.Run(receive, func(t *testing.T) {
			var sum tally
			inWorlds(t, 1, few(5, 100), func(t *testing.T, path string, random *rand.Rand, kills int) {
				t.Helper()
				w := newFeishuWorld(t, path, receive, chats, random)
				for n := range kills {
					w.killSoon(t, chats)
					if n%2 == 1 { // a run that is interrupted three times is given up
						w.rest(t)
					}
				}
				w.rest(t)
				w.check(t, &sum)
				sum.add("kills", kills)
			})
			sum.report(t, "IO6 platform=feishu receive="+receive)
			if sum.counts["lost"]+sum.counts["doubled"] > 0 {
				t.Errorf("%d messages were not answered, %d twice", sum.counts["lost"], sum.counts["doubled"])
			}
		})
	}
}
