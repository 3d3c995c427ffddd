package actors_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// crowd is a number of chats that get messages while they are passivated.
type crowd struct {
	w    *actortest.World
	said [200]int // messages so far, by chat
}

func crowdKey(i int) messages.ChatKey {
	return messages.NewChatKey("telegram", "", strconv.Itoa(i+1), 0)
}

// round is one moment: the chats that get messages at once.
type round struct {
	chats []int
	then  time.Duration
}

// A shard looks for idle chats every half minute here. All moments are multiples of that, so that messages arrive in
// the very instant in which chats are asked to stop, are stopping, or have just stopped.
func rounds(t *rapid.T) []round {
	waits := []time.Duration{0, 0, 30 * time.Second, 30 * time.Second, time.Minute, time.Minute, 90 * time.Second, 2 * time.Minute}
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) round {
		return round{
			chats: rapid.SliceOfN(rapid.IntRange(0, 199), 0, 12).Draw(t, "chats"),
			then:  rapid.SampledFrom(waits).Draw(t, "then"),
		}
	}), 1, 60).Draw(t, "rounds")
}

// A message that arrives while its chat is passivated becomes one turn and has one answer, whether its chat was idle
// for long or had to make room. With SOAK there are at least 10,000 rounds.
func TestCL2PassivationRacesAMessage(t *testing.T) {
	want, all, said := 1, 0, 0
	if os.Getenv("SOAK") != "" {
		want = 10_000
	}
	rests := 0.0
	for all < want {
		rapid.Check(t, func(rt *rapid.T) {
			plan := rounds(rt)
			ceiling := rapid.SampledFrom([]int{0, 1, 5}).Draw(rt, "ceiling")
			fault := ""
			synctest.Test(t, func(t *testing.T) {
				c := &crowd{w: actortest.New(t, actortest.Options{
					Store: filestoretest.New(t), Model: slow{}, Idle: time.Minute, MaxChats: ceiling,
				})}
				for _, r := range plan {
					c.play(r)
					said += len(r.chats)
				}
				fault = c.fault()
				rests += c.w.Metric("sma_chat_activations_total")
			})
			if fault != "" {
				rt.Fatal(fault)
			}
			all += len(plan)
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("soak: test=CL2 rounds=%d messages=%d activations=%.0f lost=0 double=0", all, said, rests)
}

// All chats get messages at the moment of every sweep.
func TestCL2EverybodyWritesAtEverySweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{w: actortest.New(t, actortest.Options{Store: filestoretest.New(t), Model: slow{}, Idle: time.Minute})}
		for n := range 20 {
			r := round{then: 30 * time.Second}
			for i := range c.said {
				if (i+n)%3 == 0 {
					r.chats = append(r.chats, i, i)
				}
			}
			c.play(r)
		}
		if fault := c.fault(); fault != "" {
			t.Error(fault)
		}
		c.w.Say(crowdKey(0), "alice", "one more")
		root := c.w.System.Root
		if _, err := root.RequestFuture(c.w.Router, messages.Drain{}, 5*time.Second).Result(); err != nil {
			t.Errorf("drain: %v", err)
		}
		c.w.Wait()
		if left := ours(); left != "" {
			t.Errorf("after the drain there still runs:\n%s", left)
		}
	})
}

// play sends the messages of a round, those of different chats at once.
func (c *crowd) play(r round) {
	batches := map[int][]platform.Inbound{}
	for _, i := range r.chats {
		c.said[i]++
		in := c.w.Inbound(crowdKey(i), "alice", strconv.Itoa(c.said[i]))
		batches[i] = append(batches[i], in)
	}
	var wg sync.WaitGroup
	for _, batch := range batches {
		wg.Go(func() {
			for _, in := range batch {
				c.w.Port.Accept(context.Background(), []platform.Inbound{in}) // what came of it, the histories tell
			}
		})
	}
	wg.Wait()
	<-time.After(r.then)
}

// fault says what was lost, duplicated or out of order. It is empty if nothing was.
func (c *crowd) fault() string {
	<-time.After(5 * time.Minute)
	c.w.Wait()
	reply, err := c.w.System.Root.RequestFuture(c.w.Router, messages.StatsQuery{}, time.Second).Result()
	if err != nil {
		return err.Error()
	}
	if stats, _ := reply.(messages.StatsReply); stats.Active != 0 {
		return fmt.Sprintf("%d chats do not rest", stats.Active)
	}
	for i, n := range c.said {
		if n == 0 {
			continue
		}
		var want []string
		for k := 1; k <= n; k++ {
			want = append(want, strconv.Itoa(k))
		}
		v, err := c.w.Port.History(context.Background(), crowdKey(i))
		if err != nil {
			return err.Error()
		}
		var got []string
		for _, m := range v.Messages {
			if m.Role == uimessage.RoleUser {
				got = append(got, journal.Text(m))
			}
		}
		answered := strings.Fields(strings.Join(c.w.Platform.Texts(crowdKey(i)), " "))
		if diff := cmp.Diff(want, got) + cmp.Diff(strings.Join(want, " "), strings.Join(answered, " ")); diff != "" {
			return fmt.Sprintf("chat %d: turns, answers (-said +there):\n%s", i, diff)
		}
		if v.Counts.Accepted != int64(n) || v.Counts.Open != 0 || v.Counts.Fates["answered"] != int64(n) || v.Counts.Pending != 0 {
			return fmt.Sprintf("chat %d: %d messages, counted %+v", i, n, v.Counts)
		}
	}
	return ""
}

// slow is a model that takes a second, so that a chat that is stopped too early visibly leaves a turn open.
type slow struct{}

func (slow) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			yield(model.Event{}, context.Cause(ctx))
			return
		}
		for _, e := range echo(req) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// echo answers with the words of all turns that have no answer yet.
func echo(req model.Request) []model.Event {
	var words []string
	for i := len(req.Messages) - 1; i >= 0 && req.Messages[i].Role == modelmessage.RoleUser; i-- {
		words = append([]string{said(req.Messages[:i+1])}, words...)
	}
	return append(modeltest.TextEvents(strings.Join(words, " ")), modeltest.Finish("stop"))
}

// ours are the goroutines that run code of the actors, beside the tests.
func ours() string {
	buf := make([]byte, 1<<20)
	var left []string
	for stack := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if strings.Contains(stack, "shipmyagent/actors/") && !strings.Contains(stack, "actors_test.") {
			left = append(left, stack)
		}
	}
	return strings.Join(left, "\n\n")
}
