package main

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
)

// TestStartAmongManyChats: a start reads nothing of the chats that are at rest; a
// run that a SIGKILL ended goes on. Figures are measured with SOAK, which makes
// 100,000 chats; plain, only that it works is shown.
func TestStartAmongManyChats(t *testing.T) {
	chats, starts := few(50, 100_000), few(2, 9)
	m := &hanging{asked: make(chan time.Time, 100)}
	w := newTelegramWorld(t, 1, "direct", m)
	began := time.Now()
	furnish(t, filepath.Join(w.dir, ".ship"), chats)
	t.Logf("%d chats made in %v", chats, time.Since(began).Round(time.Second))
	v := newVictim(t, w.dir, killable(t))
	v.start(t)
	w.write(1, "m-1-0")
	m.await(t)
	var polls, resumes []time.Duration
	var resident int
	for range starts {
		v.kill()
		v.bury(t)
		known := len(w.api.Calls("getUpdates"))
		for len(m.asked) > 0 {
			<-m.asked
		}
		began := time.Now()
		v.start(t)
		poll := make(chan time.Duration, 1)
		go func() {
			w.api.Await(t, "the first poll", func() bool { return len(w.api.Calls("getUpdates")) > known })
			poll <- time.Since(began)
		}()
		resumes = append(resumes, m.await(t).Sub(began))
		polls = append(polls, <-poll)
		resident = max(resident, rss(t, v.cmd.Process.Pid))
		// A run that is interrupted three times is given up: this one ends, the next begins.
		m.answer()
		answered := fmt.Sprintf("m-1-%d", len(resumes)-1)
		w.api.Await(t, "the answer", func() bool { return w.copies(1)[answered] > 0 })
		w.write(1, fmt.Sprintf("m-1-%d", len(resumes)))
		m.await(t)
	}
	m.answer()
	w.api.Await(t, "the last answer", func() bool { return w.answered(1) == starts+1 })
	v.term(t)
	t.Logf("soak: test=START chats=%d first_poll_ms=%s resumed_ms=%s rss_mb=%d", chats, spread(polls), spread(resumes), resident>>10)
}

// spread is the median and the worst of some times, in milliseconds.
func spread(all []time.Duration) string {
	sorted := append([]time.Duration(nil), all...)
	for i := range sorted {
		for j := i; j > 0 && sorted[j] < sorted[j-1]; j-- {
			sorted[j], sorted[j-1] = sorted[j-1], sorted[j]
		}
	}
	return fmt.Sprintf("%.1f/%.1f", sorted[len(sorted)/2].Seconds()*1000, sorted[len(sorted)-1].Seconds()*1000)
}

// rss is what a process has resident, in KiB.
func rss(t *testing.T, pid int) (kib int) {
	t.Helper()
	text := stdtest.Read(t, fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			_, _ = fmt.Sscan(rest, &kib) // 0 is seen
		}
	}
	return kib
}

// furnish makes chats at rest, each with a question and its answer.
func furnish(t *testing.T, dir string, chats int) {
	t.Helper()
	store, err := filestore.Open(filestore.Options{Dir: dir, Logger: slog.New(slog.DiscardHandler)})
	stdtest.Must(t, err)
	next := make(chan int)
	var makers sync.WaitGroup
	for range 32 {
		makers.Go(func() {
			for n := range next {
				if err := furnishChat(t.Context(), store, n); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for n := range chats {
		next <- n
	}
	close(next)
	makers.Wait()
	stdtest.Must(t, store.Close())
}

func furnishChat(ctx context.Context, store *filestore.Store, n int) error {
	key := messages.NewChatKey("telegram", "", fmt.Sprint(1_000_000+n), 0)
	chat, err := store.OpenChat(ctx, key)
	if err != nil {
		return err
	}
	turn := func(id string, role uimessage.Role, text string, seq int64) uimessage.Message {
		meta := uimessage.Metadata{TS: time.Now().UnixMilli(), ChatKey: string(key), Kind: uimessage.KindNormal, Seq: seq}
		return uimessage.Message{ID: id, Role: role, Parts: []uimessage.Part{uimessage.Text{Text: text}}, Metadata: meta.Append(nil)}
	}
	text := strings.Repeat("some words of a chat ", 20)
	err = chat.AppendHistory(ctx, turn("u:"+string(key)+":1", uimessage.RoleUser, text, 1), turn("a:"+string(key)+":1", uimessage.RoleAssistant, text, 0))
	if err != nil {
		return err
	}
	return chat.Close()
}

// hanging is a model that says when it is asked and answers when it is told to.
type hanging struct {
	asked chan time.Time
	mu    sync.Mutex
	held  chan struct{}
}

func (m *hanging) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		m.mu.Lock()
		release := make(chan struct{})
		m.held = release
		m.mu.Unlock()
		m.asked <- time.Now()
		select {
		case <-release:
		case <-ctx.Done():
			yield(model.Event{}, context.Cause(ctx))
			return
		}
		for _, e := range acknowledge(req) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// answer lets the newest call be answered.
func (m *hanging) answer() {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.held)
}

// await waits until the model is asked.
func (m *hanging) await(t *testing.T) time.Time {
	t.Helper()
	select {
	case at := <-m.asked:
		return at
	case <-time.After(30 * time.Second):
		t.Fatal("the model is not asked")
		return time.Time{}
	}
}
