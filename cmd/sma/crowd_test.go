package main

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// held is what a process that rests holds.
type held struct {
	heap, goroutines, descriptors float64
	rss                           int // KiB
}

type crowds struct {
	*telegramWorld
	v        *victim
	metrics  string
	answered *atomic.Int64
	came     int
}

// A crowd of chats that came and went leaves nothing, once as many came before: the
// tables of the actor library have the room that they needed. It takes the minutes
// after which chats rest, and is for soaks.
func TestCL3CrowdsOfTheBinary(t *testing.T) {
	if !soaking() {
		t.Skip("SOAK is not set: chats rest after minutes")
	}
	const chats = 10_000
	w := newCrowds(t, 2*chats+10)
	w.come(t, 10)
	small := w.rest(t)
	w.come(t, chats)
	first := w.rest(t)
	w.come(t, chats)
	second := w.rest(t)
	if second.heap > 1.1*first.heap {
		t.Errorf("the heap grew from %.0f to %.0f bytes", first.heap, second.heap)
	}
	if second.goroutines > 1.01*first.goroutines || second.descriptors > 1.01*first.descriptors {
		t.Errorf("after the first %+v, after the second %+v", first, second)
	}
	w.v.stop(t)
	t.Logf("soak: test=CL3 chats=%d heap_kb=%.0f/%.0f/%.0f ratio=%.3f kept_bytes_per_chat=%.0f goroutines=%.0f/%.0f/%.0f descriptors=%.0f/%.0f/%.0f rss_mb=%d/%d/%d",
		chats, small.heap/1024, first.heap/1024, second.heap/1024, second.heap/first.heap, (first.heap-small.heap)/chats,
		small.goroutines, first.goroutines, second.goroutines, small.descriptors, first.descriptors, second.descriptors,
		small.rss>>10, first.rss>>10, second.rss>>10)
}

// newCrowds starts a host with metrics.
func newCrowds(t *testing.T, chats int) *crowds {
	t.Helper()
	w := &crowds{answered: &atomic.Int64{}}
	w.telegramWorld = newTelegramWorld(t, chats, "direct", modeltest.NewFunc(func(req model.Request) []model.Event {
		w.answered.Add(1)
		return acknowledge(req)
	}))
	path := filepath.Join(w.dir, "ship.json")
	raw := stdtest.Read(t, path)
	open := strings.Replace(string(raw), `"metrics":{"listen":"off"}`, `"metrics":{"listen":"127.0.0.1:0"}`, 1)
	stdtest.Must(t, os.WriteFile(path, []byte(open), 0o600))
	w.v = newVictim(t, w.dir, killable(t))
	w.v.start(t)
	w.v.ready(t)
	var status struct{ Metrics string }
	w.v.query(t, &status, "status", "--json")
	w.metrics = "http://" + status.Metrics + "/metrics"
	return w
}

// come lets new chats say something, a hundred at a time, and waits for the answers.
func (w *crowds) come(t *testing.T, chats int) {
	t.Helper()
	const atOnce = 100
	for range chats {
		w.came++
		w.write(int64(w.came), fmt.Sprintf("m-%d-0", w.came))
		for late := time.Now().Add(time.Minute); w.came-int(w.answered.Load()) >= atOnce; pause(5 * time.Millisecond) {
			if time.Now().After(late) {
				t.Fatalf("%d of %d chats were answered", w.answered.Load(), w.came)
			}
		}
	}
	w.api.Await(t, "the last answers", func() bool { return len(w.api.Calls("sendMessage")) == w.came })
}

// rest waits until no chat is active and connections that nobody uses are closed, and
// then for two collections.
func (w *crowds) rest(t *testing.T) held {
	t.Helper()
	await := func(what string, ok func(map[string]float64) bool) {
		t.Helper()
		for late := time.Now().Add(10 * time.Minute); !ok(w.scrape(t)); pause(2 * time.Second) {
			if time.Now().After(late) {
				t.Fatalf("waited ten minutes for %s", what)
			}
		}
	}
	await("the chats to rest", func(m map[string]float64) bool { return m["sma_chats_active"] == 0 })
	const collections = "go_gc_duration_seconds_count"
	m := w.scrape(t)
	enough, before := m[collections]+2, m[collections]
	await("collections", func(now map[string]float64) bool {
		fresh := now[collections] > before // what it says of the heap has little garbage in it: scrapes make some, too
		m, before = now, now[collections]
		return fresh && now[collections] >= enough
	})
	out := held{heap: m["go_memstats_heap_alloc_bytes"], goroutines: m["go_goroutines"], descriptors: m["process_open_fds"]}
	out.rss = rss(t, w.v.cmd.Process.Pid)
	return out
}

// scrape reads the metrics that have no labels.
func (w *crowds) scrape(t *testing.T) map[string]float64 {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.metrics, nil)
	stdtest.Must(t, err)
	resp, err := http.DefaultClient.Do(req)
	stdtest.Must(t, err)
	defer func() { _ = resp.Body.Close() }() // only read from
	out := map[string]float64{}
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), " "); ok {
			if v, err := strconv.ParseFloat(value, 64); err == nil {
				out[name] = v
			}
		}
	}
	return out
}
