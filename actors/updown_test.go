package actors_test

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	cmap "github.com/orcaman/concurrent-map"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

type footprint struct {
	goroutines, descriptors int
	heap                    uint64
}

func footprintNow(t *testing.T) footprint {
	t.Helper()
	runtime.GC()
	debug.FreeOSMemory() // the second collection frees what finalisers held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("descriptors are counted on Linux only")
	}
	return footprint{goroutines: runtime.NumGoroutine(), descriptors: len(fds), heap: m.HeapAlloc}
}

// Chats at rest hold no goroutine, no descriptor and no memory: after the first round, further rounds of as many chats
// leave the heap unchanged. The first round makes the actor library's tables of names and children grow, which is
// bounded for each chat. With SOAK there are 10,000 chats, on a disk, in a separate process, and the heap is compared
// too.
func TestCL3ChatsUpAndDown(t *testing.T) {
	const child = "CL3_CHILD"
	soak := os.Getenv("SOAK") != ""
	if soak && os.Getenv(child) == "" {
		path, err := os.Executable()
		stdtest.Must(t, err)
		cmd := exec.CommandContext(t.Context(), path, "-test.run=^TestCL3ChatsUpAndDown$", "-test.v")
		cmd.Env = append(os.Environ(), child+"=1")
		out, err := cmd.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Error(err)
		}
		return
	}
	const maxKept = 256 // bytes for each chat, of the first time
	chats, warm := 300, 30
	if soak {
		chats, warm = 10_000, 100
		cmap.SHARD_COUNT = 1 // the table of names as hosts have it
	}
	synctest.Test(t, func(t *testing.T) {
		w := actortest.New(t, actortest.Options{Store: newStore(t), Model: slow{}, Slots: 512})
		upAndDown(t, w, warm) // pools and codecs are made at their first use
		first := footprintNow(t)
		upAndDown(t, w, chats)
		before := footprintNow(t)
		up := upAndDown(t, w, chats)
		after := footprintNow(t)
		if got := w.Metric("sma_chats_active"); got != 0 {
			t.Errorf("%v chats are active after ten minutes of rest", got)
		}
		if after.goroutines > before.goroutines || after.descriptors > before.descriptors { // what other tests left may end
			t.Errorf("goroutines %d -> %d, descriptors %d -> %d; want no more than before", before.goroutines, after.goroutines, before.descriptors, after.descriptors)
		}
		ratio := float64(after.heap) / float64(before.heap)
		if soak && ratio > 1.1 {
			t.Errorf("heap %d -> %d bytes, %.2f times", before.heap, after.heap, ratio)
		}
		kept := (int64(before.heap) - int64(first.heap)) / int64(chats)
		if soak && kept > maxKept {
			t.Errorf("the first %d chats left %d bytes each, at most %d are the tables of the actor library", chats, kept, maxKept)
		}
		t.Logf("soak: test=CL3 chats=%d goroutines=%d/%d/%d descriptors=%d/%d/%d first_heap_kb=%d kept_bytes_per_chat=%d heap_kb=%d/%d/%d ratio=%.3f", chats,
			before.goroutines, up.goroutines, after.goroutines, before.descriptors, up.descriptors, after.descriptors,
			first.heap>>10, kept, before.heap>>10, up.heap>>10, after.heap>>10, ratio)
	})
}

// upAndDown makes many chats answer, and waits until they rest. It returns what they held in between.
func upAndDown(t *testing.T, w *actortest.World, chats int) footprint {
	t.Helper()
	for i := range chats {
		w.Say(crowdKey(i), "alice", strings.Repeat("some words ", 20))
		<-time.After(10 * time.Millisecond) // people do not come all at once, nor do they leave so
	}
	<-time.After(5 * time.Second)
	w.Wait()
	up := footprintNow(t)
	if got := w.Metric("sma_chats_active"); got != float64(chats) {
		t.Errorf("%v chats are active, want %d", got, chats)
	}
	if got := w.Platform.Forget(); got != chats {
		t.Errorf("%d answers to %d messages", got, chats)
	}
	<-time.After(10 * time.Minute)
	w.Wait()
	return up
}
