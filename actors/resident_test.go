package actors_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
)

// resident are the chats in memory, oldest first, among the first n chats.
func resident(w *actortest.World, n int) []int {
	live := map[string]bool{}
	for _, pid := range living(w.System)["chat"] {
		live[pid.Id[strings.LastIndexByte(pid.Id, '/')+1:]] = true
	}
	out := []int{}
	for i := range n {
		if live[string(crowdKey(i))] {
			out = append(out, i)
		}
	}
	return out
}

// Above the ceiling, the longest unused chats of the whole host leave memory,
// whichever shards they are in, and come back with their next message.
func TestResidentCeilingTakesTheLongestUnused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ceiling, chats = 40, 160
		w := actortest.New(t, actortest.Options{
			Store: filestoretest.New(t), Model: slow{}, Idle: time.Hour, MaxChats: ceiling,
		})
		for i := range chats {
			w.Say(crowdKey(i), "alice", "first")
			<-time.After(2 * time.Second)
		}
		<-time.After(10 * time.Second)
		w.Wait()
		var newest []int
		for i := chats - ceiling; i < chats; i++ {
			newest = append(newest, i)
		}
		if diff := cmp.Diff(newest, resident(w, chats)); diff != "" {
			t.Errorf("chats in memory (-the %d used last +there):\n%s", ceiling, diff)
		}
		if got := w.Metric("sma_chats_active"); got != ceiling {
			t.Errorf("%v chats are active, want %d", got, ceiling)
		}
		for i := range chats {
			w.Say(crowdKey(i), "alice", "second")
		}
		<-time.After(time.Minute)
		w.Wait()
		for i := range chats {
			if got := w.Platform.Texts(crowdKey(i)); len(got) != 2 || !strings.Contains(got[1], "second") {
				t.Fatalf("chat %d was answered %q", i, got)
			}
		}
	})
}

// The ceiling is soft: chats with work stay, and leave when they are done.
func TestResidentCeilingIsSoft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ceiling, chats = 10, 60
		release := make(chan struct{})
		var steps []modeltest.Step
		for range chats {
			steps = append(steps, modeltest.Held(release, modeltest.Say("done")))
		}
		w := actortest.New(t, actortest.Options{
			Store: filestoretest.New(t), Model: modeltest.NewScript(steps...), Idle: time.Hour, MaxChats: ceiling, Slots: chats,
		})
		for i := range chats {
			w.Say(crowdKey(i), "alice", "work")
		}
		<-time.After(3 * time.Minute)
		w.Wait()
		if got := w.Metric("sma_chats_active"); got != chats {
			t.Errorf("%v chats are active while %d work", got, chats)
		}
		close(release)
		<-time.After(time.Minute)
		w.Wait()
		if got := w.Metric("sma_chats_active"); got != ceiling {
			t.Errorf("%v chats are active after the work, want %d", got, ceiling)
		}
		for i := range chats {
			if got := w.Platform.Texts(crowdKey(i)); len(got) != 1 || got[0] != "done" {
				t.Fatalf("chat %d was answered %q", i, got)
			}
		}
	})
}

// By memory: chats that use much memory leave when they are unused, to make room for others.
func TestResidentCeilingByMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 1 << 20
		w := actortest.New(t, actortest.Options{Store: filestoretest.New(t), Model: slow{}, Idle: time.Hour, MaxBytes: most})
		for range 2 {
			<-time.After(20 * time.Second) // all that were used before hibernate
			for i := range 64 {
				w.Say(crowdKey(i), "alice", strings.Repeat(fmt.Sprint(i), 5_000))
				<-time.After(50 * time.Millisecond)
			}
		}
		<-time.After(2 * time.Second) // before any of them hibernates
		w.Wait()
		held, active := w.Metric("sma_chats_bytes_estimate"), w.Metric("sma_chats_active")
		if held > most || held == 0 || active < 4 || active > 32 {
			t.Errorf("%v chats hold about %v bytes, want at most %d", active, held, most)
		}
		if got := resident(w, 64); len(got) == 0 || got[len(got)-1] != 63 {
			t.Errorf("chats in memory: %v, want the ones used last", got)
		}
		w.Say(crowdKey(0), "alice", "are you there?")
		<-time.After(time.Minute)
		if got := w.Platform.Texts(crowdKey(0)); got[len(got)-1] != "are you there?" {
			t.Error("a chat that was away gives no answer")
		}
	})
}
