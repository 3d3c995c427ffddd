package actors_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/router"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// neighbours are chats of the same shard.
func neighbours(n int) []messages.ChatKey {
	keys := []messages.ChatKey{alice}
	for i := 1; len(keys) < n; i++ {
		if key := messages.NewChatKey("telegram", "", fmt.Sprint(i+100), 0); router.ShardOf(key) == router.ShardOf(alice) {
			keys = append(keys, key)
		}
	}
	return keys
}

// A chat that panics because of a message is restarted, each time later, and quarantines the message. Chats of the same
// shard are not affected.
func TestCL1CrashLoopIsParkedWithNotice(t *testing.T) {
	for _, when := range [][2]string{{"ingress", "open"}, {"run", "started"}} {
		t.Run(when[0], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScenario(t, filestoretest.New(t))
				s.model.Otherwise = &modeltest.Step{Text: []string{"Fine."}}
				chats := neighbours(6)
				poisoned := &panics{}
				poisoned.set(when[0], when[1], 1000)
				s.o.Chat.Audit = func(e decision.AuditEntry) {
					if e.ChatKey == alice {
						poisoned.told(e)
					}
				}
				s.o.Chat.GroupContext = func(key messages.ChatKey) int {
					if key == alice {
						return poisoned.quotes(0)(key)
					}
					return 0
				}
				s.world()
				var slowest time.Duration
				var wg sync.WaitGroup
				in := s.w.Inbound(alice, "alice", "poison")
				wg.Go(func() { // the platform brings again what was not confirmed
					for {
						r := s.w.Port.Accept(context.Background(), inbounds(in))[0]
						if r.Err == nil {
							return
						}
						<-time.After(time.Second)
					}
				})
				for i := range 20 {
					<-time.After(500 * time.Millisecond)
					for _, key := range chats[1:] {
						began := time.Now()
						s.w.Say(key, "bob", fmt.Sprint("hello ", i))
						slowest = max(slowest, time.Since(began))
					}
				}
				wg.Wait()
				s.w.Wait()
				poisoned.set("", "", 0)
				if notices := s.w.Platform.Texts(alice); len(notices) != 1 || !strings.Contains(notices[0], "put it aside") {
					t.Errorf("people read %q", notices)
				}
				if items, err := s.items(); err != nil || len(items) != 1 || items[0].Text != "poison" {
					t.Errorf("put aside: %+v, %v", items, err)
				}
				s.w.Say(alice, "alice", "hello")
				s.w.Wait()
				if texts := s.w.Platform.Texts(alice); texts[len(texts)-1] != "Fine." {
					t.Errorf("the next message was not answered: %q", texts)
				}
				if slowest > 0 {
					t.Errorf("somebody else waited %v", slowest)
				}
				t.Logf("soak: row=CL1 others=%d slowest_added=%v", len(chats)-1, slowest)
			})
		})
	}
}

// Turns that arrive during a run wait or are merged in the order of arrival, each
// with its sender, and none of them ends the run.
func TestRL12ArrivalsDuringARun(t *testing.T) {
	turns, runs, stories := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		if stories++; stories > plenty() {
			return
		}
		mode := rapid.SampledFrom([]string{"merge", "followup"}).Draw(rt, "mode")
		senders := rapid.SliceOfN(rapid.SampledFrom([]string{"alice", "bob", "carol"}), 1, 12).Draw(rt, "senders")
		waits := rapid.SliceOfN(rapid.IntRange(0, 3), len(senders), len(senders)).Draw(rt, "waits")
		fault := ""
		synctest.Test(t, func(t *testing.T) {
			s := newScenario(t, filestoretest.New(t))
			s.o.Chat.Mode = mode
			s.o.Tools = []tool.Tool{slowTool("look")}
			s.model.Otherwise = &modeltest.Step{Do: obvious}
			s.key = alice + "0"
			for i, who := range senders {
				<-time.After(time.Duration(waits[i]) * 400 * time.Millisecond)
				if got, err := s.do("say", fmt.Sprintf("%s look %d", who, i)); err != nil || got != "" {
					fault = fmt.Sprintf("say: %q %v", got, err)
				}
			}
			<-time.After(time.Minute)
			s.w.Wait()
			fault += arrivals(s.w.View(s.key), senders)
			for _, m := range s.w.View(s.key).Messages {
				if meta := journal.NewTurn(m).Meta; meta.Result != "" {
					runs++
				}
			}
			turns += len(senders)
		})
		if fault != "" {
			rt.Fatal(fault)
		}
	})
	t.Logf("soak: row=RL12 turns=%d runs=%d lost=0 reordered=0", turns, runs)
}

func slowTool(name string) tool.Tool {
	return actortest.Func{Says: tool.Spec{Name: name, Repeatable: true}, Do: func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		select {
		case <-time.After(time.Second):
			return tool.Result{Output: []byte(`"seen"`)}, nil
		case <-ctx.Done():
			return tool.Result{}, context.Cause(ctx)
		}
	}}
}

// arrivals reports what is wrong with a chat in which the senders wrote in this order.
func arrivals(v platform.ChatView, senders []string) string {
	var who []string
	for _, m := range v.Messages {
		meta := journal.NewTurn(m).Meta
		switch {
		case m.Role == uimessage.RoleUser && journal.Text(m) != fmt.Sprintf("look %d", len(who)):
			return fmt.Sprintf("turn %d says %q", len(who), journal.Text(m))
		case m.Role == uimessage.RoleUser:
			who = append(who, meta.UserID)
		case meta.Result != "" && meta.Result != "done":
			return fmt.Sprintf("a run ended as %s (%s)", meta.Result, meta.Reason)
		}
	}
	if !slices.Equal(who, senders) {
		return fmt.Sprintf("the history has %q, said was %q", who, senders)
	}
	if n := v.Counts.Fates["answered"] + v.Counts.Fates["merged"]; n != int64(len(senders)) || v.Running {
		return fmt.Sprintf("running %v, %+v", v.Running, v.Counts)
	}
	return ""
}

// Two bots answer each other endlessly. The host stops after at most twenty turns, with a reason that people see, and
// continues after a message of a person.
func TestIO11BotsAnsweringEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScenario(t, filestoretest.New(t))
		s.model.Otherwise = &modeltest.Step{Do: obvious}
		chats := []messages.ChatKey{alice + "1", alice + "2"} // ours both: what one says reaches the other as a bot's
		s.world().Say(chats[0], "person", "begin")
		heard := map[messages.ChatKey]int{}
		told := 0
		for round := range 100 {
			s.w.Wait()
			if round == 5 {
				s.w = s.w.Again(nil) // a restart does not make bots forget
			}
			for i, key := range chats {
				for _, text := range s.w.Platform.Texts(key)[heard[key]:] {
					heard[key]++
					if strings.Contains(text, "only bots are talking") {
						told++
					}
					in := s.w.Inbound(chats[1-i], "robo", text)
					in.Sender.IsBot = true
					s.w.Port.Accept(context.Background(), inbounds(in))
				}
			}
		}
		asked := len(s.model.Requests())
		if asked > 20 || told == 0 || told > 2 {
			t.Errorf("%d turns were answered, people were told %d times", asked, told)
		}
		t.Logf("soak: row=IO11 turns=%d notices=%d", asked, told)
		s.w.Say(chats[1], "person", "go on")
		s.w.Wait()
		if got := len(s.model.Requests()); got != asked+1 {
			t.Errorf("after a person's word %d more turns, want one", got-asked)
		}
	})
}

// A message that an agent sends into another chat continues the chain of bots there.
func TestIO11DepthGoesWithContactSend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScenario(t, filestoretest.New(t))
		s.play(`
tool tell sendto Hello from afar.
chat telegram-chat-11
chat telegram-chat-1
model call c1 tell {}
model rest text Fine.
say alice tell them
kill
chat telegram-chat-11
bot robo hello back`)
		for _, m := range s.w.View(s.key).Messages {
			if meta := journal.NewTurn(m).Meta; m.Role == uimessage.RoleUser && meta.Depth != 2 {
				t.Errorf("depth %d, want 2: our message, and the bot's answer to it", meta.Depth)
			}
		}
	})
}

// One chat is flooded. The sender is told once, messages above the limit are declined, and another person's message in
// the same chat is still accepted. Other chats are answered as before.
func TestOV2OneChatFloods(t *testing.T) {
	flood, disk := 2000, persistence.Store(filestoretest.New(t))
	if soaking() {
		flood, disk = 10000, newStore(t) // so that its journal is not in memory
	}
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s := newScenario(t, disk)
		s.o.Chat.FairToSenders = true
		s.o.Tools = []tool.Tool{actortest.Slow("look", release)}
		s.model.Otherwise = &modeltest.Step{Do: obvious}
		s.key = alice
		s.play("say alice look")
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		declined, others, slowest := 0, neighbours(5)[1:], time.Duration(0)
		for i := range flood {
			r := s.w.Say(alice, "alice", fmt.Sprint("spam ", i))
			if r.Declined != "" {
				declined++
			}
			if i%200 == 0 {
				began := time.Now()
				s.w.Say(others[i/200%len(others)], "bob", "hello")
				slowest = max(slowest, time.Since(began))
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if r := s.w.Say(alice, "bob", "help"); r.Declined != "" {
			t.Error("somebody who said one thing was declined")
		}
		if v := s.w.View(alice); len(v.Waiting) != 200 || declined != flood-200 {
			t.Errorf("%d wait, %d of %d declined", len(v.Waiting), declined, flood)
		}
		if n := len(s.w.Platform.Texts(alice)); n != 1 {
			t.Errorf("told %d times", n)
		}
		if was, err := s.w.Port.Stop(context.Background(), alice, platform.Person{ID: "alice"}, true); !was || err != nil {
			t.Errorf("a stop behind 200 turns: %v, %v", was, err)
		}
		close(release)
		<-time.After(time.Minute)
		s.w.Wait()
		v := s.w.View(alice)
		if v.Running || v.Counts.Open != 0 || len(v.Waiting) != 0 {
			t.Errorf("not at rest: %+v", v.Counts)
		}
		s.conserved(alice, v)
		t.Logf("soak: row=OV2 flood=%d declined=%d notices=1 others_slowest_added=%v heap_growth_kib=%d",
			flood, declined, slowest, (int64(after.HeapAlloc)-int64(before.HeapAlloc))/1024)
	})
}
