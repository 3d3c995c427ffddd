package actors_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishutest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
)

// feishuWire is a host whose app talks to a fake of Feishu, in simulated time and
// without sockets. The store and the service outlive a kill.
type feishuWire struct {
	t     *testing.T
	api   *feishutest.API
	store *faulty
	model *modeltest.Script
	w     *actortest.World
	link  bool // events come over the long connection
	end   func()
}

// newFeishuWire does not start the host. Every request is answered with its number.
func newFeishuWire(t *testing.T, link bool) *feishuWire {
	t.Helper()
	x := &feishuWire{t: t, api: feishutest.NewAPIInProcess(t), store: newFaulty(filestoretest.New(t)), model: modeltest.NewScript(), link: link}
	ok := modeltest.Say("ok")
	x.model.Otherwise = &ok
	if !link {
		x.api.SetPipe(closedPipe(t), "/feishu")
	}
	return x
}

// closedPipe returns a pipe without a server.
func closedPipe(t *testing.T) *faketest.Pipe {
	t.Helper()
	p := faketest.NewPipe(t)
	_ = p.Close() // it cannot fail
	return p
}

func (x *feishuWire) start() {
	x.t.Helper()
	o := feishu.Options{
		BotOptions: platform.BotOptions{
			BaseURL: x.api.URL(), HTTPClient: x.api.Client(), Access: platform.AccessOpen, Egress: "direct", Now: x.api.Now,
		},
		AppID: feishutest.App, AppSecret: x.api.Secret, Dial: x.api.Dial,
	}
	if !x.link {
		pipe := faketest.NewPipe(x.t)
		o.Webhook = &feishu.Webhook{Path: "/feishu", Listener: pipe, EncryptKey: x.api.EncryptKey, VerificationToken: x.api.VerificationToken}
		x.api.SetPipe(pipe, "/feishu")
	}
	bot, err := feishu.New(o)
	stdtest.Must(x.t, err)
	x.w = actortest.New(x.t, actortest.Options{Store: x.store, Model: x.model, Real: bot})
	ctx, cancel := context.WithCancel(x.t.Context())
	done := make(chan error, 1)
	go func() { done <- bot.Receive(ctx, x.w.Port) }()
	stopped := false
	x.end = func() {
		if stopped {
			return
		}
		stopped = true
		x.store.set(func(s *faulty) { s.dead = true }) // nothing is written any more
		if !x.link {
			x.api.SetPipe(closedPipe(x.t), "/feishu")
		}
		cancel()
		if err := <-done; err != nil {
			x.t.Errorf("Receive: %v", err)
		}
		x.w.Kill()
	}
	x.t.Cleanup(x.end)
}

func (x *feishuWire) revive() {
	x.t.Helper()
	x.store.revive()
	x.start()
}

func (x *feishuWire) later(d time.Duration) {
	<-time.After(d)
	if x.w != nil {
		x.w.Wait()
	}
}

func feishuKey(chat string) messages.ChatKey { return messages.NewChatKey("feishu", "", chat, 0) }

// settled checks that the texts of a chat are in the history once, in order, each with its fate, and that there are as
// many answers as runs.
func (x *feishuWire) settled(chat string, want []string, answers int) {
	x.t.Helper()
	v := x.w.View(feishuKey(chat))
	stdtest.Diff(x.t, fmt.Sprintf("history of %s", chat), want, turns(v))
	if v.Running || v.Counts.Open != 0 || v.Counts.Pending != 0 || v.Counts.Accepted != int64(len(want)) {
		x.t.Errorf("%s: %+v", chat, v.Counts)
	}
	if n := len(x.api.Sent(chat)); answers > 0 && n != answers {
		x.t.Errorf("%s shows %d answers, want %d", chat, n, answers)
	}
}

// The host is down for the first tries of an event, each of which goes to another process, and up for the last one; or
// the process is killed before or after an operation of its store, once for each try. In all cases the message is
// answered once.
func TestIO2FeishuSchedule(t *testing.T) {
	schedule := []time.Duration{0, 15 * time.Second, 5 * time.Minute, time.Hour, 6 * time.Hour}
	const margin = 4 * time.Second // the service gives up a try after three
	for _, link := range []bool{false, true} {
		for up := range schedule {
			t.Run(fmt.Sprintf("link %t, away for %d tries", link, up), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					x := newFeishuWire(t, link)
					x.api.AddChat("oc_1", "p2p")
					if up == 0 {
						x.start()
						x.later(time.Second)
					}
					x.api.Say("oc_1", "ou_1", "hello", nil)
					for try, after := range schedule {
						if try == up && up > 0 {
							x.start()
						}
						x.later(after + margin)
					}
					x.settled("oc_1", []string{"hello"}, 1)
					if done, waiting, lost := x.api.Pushed(); done != 1 || waiting != 0 || lost != 0 {
						t.Errorf("%d answered, %d wait, %d are lost", done, waiting, lost)
					}
				})
			})
		}
	}
	operations := 0
	deaths := 0
	for n := 1; n <= max(operations, 3); n++ {
		for _, after := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				x := newFeishuWire(t, false)
				x.api.AddChat("oc_1", "p2p")
				x.start()
				x.later(time.Second)
				x.store.set(func(s *faulty) { s.dieAt, s.after = len(s.trace)+n, after })
				x.api.Say("oc_1", "ou_1", "hello", nil)
				revived := func() bool {
					dead := false
					if x.store.isDead(&dead) {
						x.end()
						x.revive()
					}
					return dead
				}
				for range schedule[1:] {
					x.later(margin)
					if revived() {
						deaths++
						x.store.set(func(s *faulty) { s.dieAt, s.after = len(s.trace)+n, after })
					}
					x.later(15 * time.Second)
				}
				x.store.set(func(s *faulty) { s.dieAt = 0 })
				revived() // it may have died since the last look, and the service tries only until the sixth hour
				x.later(8 * time.Hour)
				if revived() {
					x.later(8 * time.Hour)
				}
				x.settled("oc_1", []string{"hello"}, 0)
				if sent := x.api.Sent("oc_1"); len(sent) == 0 {
					t.Errorf("died at operation %d, after it %t: no answer", n, after)
				}
				x.store.set(func(s *faulty) { operations = max(operations, len(s.trace)) })
			})
			operations = min(operations, soak(6, 30))
		}
	}
	t.Logf("soak: row=IO2 platform=feishu deaths=%d lost=0 double=0", deaths)
}

// The service is unreachable for ten minutes, in three ways, while answers wait to be sent and people write. Ten
// seconds after its return the host is connected, and the messages arrive with the service's next tries, in order.
func TestIO13FeishuTenMinutes(t *testing.T) {
	for name, gone := range map[string]func(x *feishuWire, on bool){
		"nothing connects": func(x *feishuWire, on bool) { x.api.Away(on) },
		"connections break": func(x *feishuWire, on bool) {
			x.api.Heal()
			if on {
				x.api.Fail(feishutest.Fault{Kind: faketest.ResetBefore, N: -1})
				x.api.CutLinks()
			}
		},
		"half open": func(x *feishuWire, on bool) {
			x.api.Heal()
			x.api.FreezeLinks(on)
			if on {
				x.api.Fail(feishutest.Fault{Kind: faketest.Hang, N: -1})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newFeishuWire(t, true)
				chats := []string{"oc_1", "oc_2", "oc_3"}
				for _, c := range chats {
					x.api.AddChat(c, "p2p")
				}
				x.start()
				x.later(time.Second)
				want := []string{"before", "just before"}
				for _, c := range chats {
					x.api.Say(c, "ou_1", "before", nil)
				}
				x.later(time.Second)
				for _, c := range chats { // their answers meet the outage
					x.api.Fail(feishutest.Fault{Path: "/im/v1/messages", Kind: faketest.ResetBefore})
					x.api.Say(c, "ou_1", "just before", nil)
				}
				x.w.Wait()
				_, made := x.api.Links()
				gone(x, true)
				for i := range 4 {
					x.later(150 * time.Second)
					want = append(want, fmt.Sprint("meanwhile ", i))
					for _, c := range chats {
						x.api.Say(c, "ou_1", want[i+2], nil)
					}
				}
				gone(x, false)
				x.later(10 * time.Second)
				if open, now := x.api.Links(); open != 1 || now <= made {
					t.Errorf("ten seconds after the return: %d connections, %d made, %d before", open, now, made)
				}
				x.later(8 * time.Hour) // the last try of the service
				for _, c := range chats {
					v := x.w.View(feishuKey(c))
					if got := turns(v); len(got) != len(want) || v.Counts.Open != 0 || v.Counts.Pending != 0 || v.Running {
						t.Errorf("%s: %v, %+v", c, got, v.Counts)
					}
					if n := len(x.api.Sent(c)); n < 3 || n > len(want) {
						t.Errorf("%s shows %d answers to %d messages", c, n, len(want))
					}
				}
				if done, waiting, lost := x.api.Pushed(); waiting != 0 || lost != 0 || done != len(want)*len(chats) {
					t.Errorf("%d answered, %d wait, %d are lost", done, waiting, lost)
				}
			})
		})
	}
}
